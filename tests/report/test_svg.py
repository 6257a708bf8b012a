from __future__ import annotations

import pytest

from ugcl.report.svg import Interval, Line, interval_chart, line_chart
from ugcl.report.text import typographic


def test_charts_have_labelled_axes_and_gaps() -> None:
    chart = line_chart(
        "T<>", "epoch", "loss & more", [Line("<a>", [1, 2, 3, 4], [1.0, None, 3, 4])]
    )
    assert "loss &amp; more" in chart
    assert 'aria-label="T&lt;&gt;"' in chart
    assert chart.count("<svg") == 2  # for wide screens and for phones
    assert chart.count("<polyline") == 2
    two = line_chart(
        "T", "x", "y", [Line("<a>", [1, 2], [1, 1]), Line("b", [1, 2], [1, 2])], mark=2
    )
    assert "&lt;a&gt;" in two
    assert 'class="mark"' in two
    assert "nothing to draw" in line_chart("T", "x", "y", [])


def test_intervals_have_names_dots_and_notes() -> None:
    rows = [
        Interval("<run>", 71.5, 70, 73, "own series-0"),
        Interval("raw", 60, 58, 62, "control", "+11.5 [+9.0, +14.0]", "good"),
    ]
    chart = interval_chart("T<>", "accuracy, %", rows, 60, "gain")
    assert chart.count("&lt;run&gt;</text>") == 2
    assert chart.count("<circle") == 4
    assert chart.count('class="mark"') == 2
    assert ">+11.5 [+9.0, +14.0]</text>" in chart  # on a wide screen
    assert ">+11.5</text>" in chart  # on a phone


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("several A^k X, A^10 H, A^n H", "several Aᵏ X, A¹⁰ H, Aⁿ H"),
        ("-0.3 [-1.0, +2.0]", "\u22120.3 [\u22121.0, +2.0]"),
        ("run-1, 2026-01-02, masked-features", "run-1, 2026-01-02, masked-features"),
        ("95 % of", "95\u00a0% of"),
    ],
)
def test_minus_signs_and_powers_are_typographic(text: str, shown: str) -> None:
    assert typographic(text) == shown
