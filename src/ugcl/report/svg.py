"""Line charts as SVG, styled by the CSS of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 626, 14, 254
"""Edges of the plot area."""
DASHES = ("", "6 4", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Line:
    """A line of a chart; None leaves a gap.

    Attributes:
        name: its name in the legend.
        x: x of the points.
        y: y of the points.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]


def line_chart(
    title: str, x_label: str, y_label: str, lines: Sequence[Line], mark: float | None = None
) -> str:
    """Return a line chart with a legend below it; lines differ in colour and dashes.

    Args:
        title: text for screen readers.
        x_label: label of the x axis, with its unit.
        y_label: label of the y axis.
        lines: the lines.
        mark: an x to mark with a vertical line.
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
        return LEFT + across * (RIGHT - LEFT), BOTTOM - up * (BOTTOM - TOP)

    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [f'<svg class="chart" {box} role="img" aria-label="{escape(title)}">']
    middle = 'text-anchor="middle"'
    for value in y_axis:
        _, y = place(x_axis[0], value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in x_axis:
        x, _ = place(value, y_axis[0])
        parts.append(f'<text x="{x:.1f}" y="{BOTTOM + 18}" {middle}>{value:g}</text>')
    if mark is not None and x_axis[0] <= mark <= x_axis[-1]:
        x, _ = place(mark, y_axis[0])
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BOTTOM}"/>')
    x, y = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    parts.append(f'<text x="{x}" y="{HEIGHT - 8}" {middle}>{escape(x_label)}</text>')
    turn = f'transform="translate(14 {y}) rotate(-90)"'
    parts.append(f"<text {turn} {middle}>{escape(y_label)}</text>")
    for number, line in enumerate(lines):
        parts += _draw_line(line, number, place)
    parts.append("</svg>")
    return "".join(parts) + _legend(lines)


def _draw_line(
    line: Line, number: int, place: Callable[[float, float], tuple[float, float]]
) -> list[str]:
    """Return the polylines between gaps, and dots if there are few points."""
    segments: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(line.x, line.y, strict=True):
        if y is None:
            segments.append([])
        else:
            segments[-1].append(place(x, y))
    series, dash = f"series-{number % 8}", DASHES[number % len(DASHES)]
    parts = []
    for segment in segments:
        if len(segment) > 1:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in segment)
            style = f'class="line {series}" stroke-dasharray="{dash}"'
            parts.append(f'<polyline {style} points="{points}"/>')
    dots = [point for segment in segments for point in segment]
    if len(dots) <= 40:
        parts += [
            f'<circle class="dot {series}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in dots
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
    """Return four to eight round ticks that enclose all values."""
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(abs(high), 1):
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * number, 12) for number in range(first, last + 1)]
