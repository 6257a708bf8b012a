"""Line charts as SVG: text in the page's own colours, axes that say what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 14, 46
DASHES = ("", "6 4", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Line:
    """A line of a chart; None leaves a gap.

    Attributes:
        name: what the legend calls it.
        x: where its points are.
        y: what they are.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]


def line_chart(
    title: str, x_label: str, y_label: str, lines: Sequence[Line], mark: float | None = None
) -> str:
    """A chart of lines, each with its colour and dashes, and a legend below it.

    Args:
        title: read to people who do not see it.
        x_label: of the horizontal axis, with its unit.
        y_label: of the vertical one.
        lines: what is drawn.
        mark: an x that is marked by an upright line.
    """
    points = [
        (x, y) for line in lines for x, y in zip(line.x, line.y, strict=True) if y is not None
    ]
    if not points:
        return '<p class="empty">There is nothing to draw.</p>'
    x_axis = _axis([x for x, _ in points])
    y_axis = _axis([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_axis[0]) / (x_axis[-1] - x_axis[0])
        up = (y - y_axis[0]) / (y_axis[-1] - y_axis[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (
            HEIGHT - TOP - BOTTOM
        )

    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [f'<svg class="chart" {box} role="img" aria-label="{escape(title)}">']
    for value in y_axis:
        _, y = place(x_axis[0], value)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in x_axis:
        x, _ = place(value, y_axis[0])
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g}</text>'
        )
    if mark is not None and x_axis[0] <= mark <= x_axis[-1]:
        x, _ = place(mark, y_axis[0])
        parts.append(
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(x_label)}</text>"
    )
    parts.append(
        f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_label)}</text>'
    )
    for number, line in enumerate(lines):
        parts += _drawn(line, number, place)
    parts.append("</svg>")
    return "".join(parts) + _legend(lines)


def _drawn(
    line: Line, number: int, place: Callable[[float, float], tuple[float, float]]
) -> list[str]:
    runs: list[list[str]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if y is None:
            runs.append([])
        else:
            across, up = place(x, y)
            runs[-1].append(f"{across:.1f},{up:.1f}")
    style = f'class="line series-{number % 8}" stroke-dasharray="{DASHES[number % len(DASHES)]}"'
    parts = [f'<polyline {style} points="{" ".join(run)}"/>' for run in runs if len(run) > 1]
    if sum(len(run) for run in runs) <= 40:
        dots = (point.split(",") for run in runs for point in run)
        parts += [
            f'<circle class="dot series-{number % 8}" cx="{x}" cy="{y}" r="3"/>' for x, y in dots
        ]
    return parts


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    entries = "".join(
        f'<li><svg viewBox="0 0 28 8" aria-hidden="true"><line class="line series-{i % 8}" x1="0" '
        f'x2="28" y1="4" y2="4" stroke-dasharray="{DASHES[i % len(DASHES)]}"/></svg>'
        f"{escape(line.name)}</li>"
        for i, line in enumerate(lines)
    )
    return f'<ul class="legend">{entries}</ul>'


def _axis(values: Sequence[float]) -> list[float]:
    """Round numbers, four to eight of them, around all values."""
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(abs(high), 1):
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]
