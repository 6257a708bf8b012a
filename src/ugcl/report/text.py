"""Typography of the page: minus signs, powers, intervals, sentences."""

from __future__ import annotations

import re

from ugcl.evaluation import Estimate

SUPERSCRIPTS = str.maketrans("0123456789nk", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿᵏ")


def typographic(text: str) -> str:
    """Return text with minus signs, powers of A in superscript, and percent signs kept in line."""
    text = re.sub(r"\bA\^(\d+|[nk])\b", lambda match: "A" + match[1].translate(SUPERSCRIPTS), text)
    text = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    return re.sub(r"(?<![\w.\-])-(?=\d)", "\N{MINUS SIGN}", text)


def number(value: float, decimals: int | None = None) -> str:
    """Return a number for an axis; with as few decimals as it needs by default."""
    text = f"{value:g}" if decimals is None else f"{value:,.{decimals}f}"
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    return typographic(text)


def interval(estimate: Estimate, sign: str = "") -> str:
    """Return a mean and its 95 % interval."""
    low, high = estimate.low, estimate.high
    return typographic(f"{estimate.mean:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]")


def accuracy(estimate: Estimate) -> str:
    """Return an accuracy and its interval, which ends at 0 and 100 %."""
    low, high = max(estimate.low, 0.0), min(estimate.high, 100.0)
    return f"{estimate.mean:.1f} [{low:.1f}, {high:.1f}]"


def sentence(text: str) -> str:
    """Return a message as a sentence; parameters lose their backticks."""
    text = re.sub(r"`(\w+)`", r"\1", text.strip())
    return text if not text or text.endswith((".", "?")) else f"{text}."
