"""A helpful word to someone who has misspelt a name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(what: str, name: str, known: Iterable[str], most: int | None = None) -> str:
    """A sentence: there is no such thing; did you mean, or these are the ones there are.

    Args:
        what: what kind of thing.
        name: what was asked for.
        known: those that there are.
        most: how many of them are named at most; by default all.
    """
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=1)
    listed = ", ".join(names[:most]) + (", ..." if most is not None and len(names) > most else "")
    hint = f"did you mean '{close[0]}'?" if close else f"there are: {listed}"
    return f"there is no {what} called '{name}'; {hint}"
