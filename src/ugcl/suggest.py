"""A helpful word to someone who has misspelt a name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence: there is no such thing; did you mean, or these are the ones there are."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"there are: {', '.join(names)}"
    return f"there is no {what} called '{name}'; {hint}"
