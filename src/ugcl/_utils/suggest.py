"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(what: str, name: str, choices: Iterable[str], max_listed: int | None = None) -> str:
    """Return the message for an unknown name: the closest choice, or the choices.

    Args:
        what: kind of thing, for example "preset".
        name: the unknown name.
        choices: the valid names.
        max_listed: how many choices to list at most; by default all.
    """
    names = list(choices)
    close = difflib.get_close_matches(name.lower(), names, n=1)
    listed = ", ".join(names[:max_listed]) + ", ..." * (len(names[:max_listed]) < len(names))
    hint = f"did you mean '{close[0]}'?" if close else f"there are: {listed}"
    return f"there is no {what} called '{name}'; {hint}"
