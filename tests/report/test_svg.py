from __future__ import annotations

from ugcl.report.svg import Line, line_chart


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
