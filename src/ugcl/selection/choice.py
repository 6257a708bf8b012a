"""The result of a selection rule."""

from __future__ import annotations

from dataclasses import dataclass

MAX_N = 20
"""The largest n that is scored by default."""


@dataclass(frozen=True)
class Choice:
    """The n that a rule selects.

    Attributes:
        rule: name of the rule.
        n: the selected scope; None if the rule does not apply to the graph.
        why: the reason, one sentence.
        scores: mean score of n = 0, 1, ..., for rules that score n; a rule that stops early has
            no scores of larger n.
        settings: names of the settings that were "auto" and are set to n.
    """

    rule: str
    n: int | None
    why: str
    scores: tuple[float, ...] | None = None
    settings: tuple[str, ...] = ()
