"""A choice of n and why it was made."""

from __future__ import annotations

from dataclasses import dataclass

MAX_N = 20
"""The largest n that is looked at."""


@dataclass(frozen=True)
class Choice:
    """What a rule says.

    Attributes:
        rule: the rule's name.
        n: the scope it chooses; None where it has nothing to go by.
        why: one sentence.
        scores: what it gives n = 0, ..., where it scores them.
        settings: which settings of a run it was made for.
    """

    rule: str
    n: int | None
    why: str
    scores: tuple[float, ...] | None = None
    settings: tuple[str, ...] = ()
