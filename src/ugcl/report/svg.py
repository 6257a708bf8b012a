"""Charts as SVG, styled by the CSS of the page, in two shapes: for wide screens and for phones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ugcl.report.text import number

DASHES = ("", "6 4", "2 3", "8 3 2 3")
MAX_DOTS = 40
"""Points of a line that are drawn as dots."""

MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'


@dataclass(frozen=True)
class Line:
    """A line of a chart; None leaves a gap.

    Attributes:
        name: its name in the legend.
        x: x of the points.
        y: y of the points.
        series: the number of its colour; by default its place among the lines.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    series: int | None = None


@dataclass(frozen=True)
class Interval:
    """A row of a chart of intervals.

    Attributes:
        name: its name.
        mean: the dot.
        low: lower end of the interval.
        high: upper end.
        style: class of dot and interval.
        note: text at the end of the row.
        note_style: its class.
    """

    name: str
    mean: float
    low: float
    high: float
    style: str
    note: str = ""
    note_style: str = ""


@dataclass(frozen=True)
class Shape:
    """The size of a chart, and the edges of its plot area in it."""

    name: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def svg(self, title: str, parts: Sequence[str]) -> str:
        """Return the chart with a title for screen readers."""
        box = f'viewBox="0 0 {self.width} {self.height}"'
        text = f'role="img" aria-label="{escape(title)}"'
        return f'<svg class="chart {self.name}" {box} {text}>{"".join(parts)}</svg>'

    def axes(
        self, x_axis: Sequence[float], y_axis: Sequence[float], labels: tuple[str, str]
    ) -> list[str]:
        """Return grid lines, ticks and the labels of the axes; those of x are integers."""
        parts = []
        decimals = max(len(f"{value:g}".partition(".")[2]) for value in y_axis)
        for value in y_axis:
            y = _scaled(value, y_axis, self.bottom, self.top)
            line = f'x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"'
            parts.append(f'<line class="grid" {line}/>')
            place = f'x="{self.left - 8}" y="{y + 4:.1f}" {END}'
            parts.append(f"<text {place}>{number(value, decimals)}</text>")
        for value in x_axis:
            if not float(value).is_integer():
                continue  # epochs and steps
            x = _scaled(value, x_axis, self.left, self.right)
            place = f'x="{x:.1f}" y="{self.bottom + 20}" {MIDDLE}'
            parts.append(f"<text {place}>{number(value)}</text>")
        place = f'x="{(self.left + self.right) / 2}" y="{self.height - 6}" {MIDDLE}'
        parts.append(f'<text class="axis" {place}>{escape(labels[0])}</text>')
        place = f'x="{self.left - 8}" y="{self.top - 14}"'
        parts.append(f'<text class="axis start" {place}>{escape(labels[1])}</text>')
        return parts


WIDE = Shape("wide", 1160, 340, 72, 1150, 34, 286)
NARROW = Shape("narrow", 360, 270, 50, 350, 34, 216)


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    lines: Sequence[Line],
    mark: float | None = None,
    mark_name: str = "",
) -> str:
    """Return a line chart below its legend; lines differ in colour and dashes.

    Args:
        title: text for screen readers.
        x_label: label of the x axis, with its unit.
        y_label: label of the y axis.
        lines: the lines.
        mark: an x to mark with a vertical line.
        mark_name: text beside that line.
    """
    points = [
        (x, y) for line in lines for x, y in zip(line.x, line.y, strict=True) if y is not None
    ]
    if not points:
        return '<p class="empty">There is nothing to draw.</p>'
    y_axis = ticks([y for _, y in points])
    charts = [_legend(lines)]
    for shape in (WIDE, NARROW):
        x_axis = ticks([x for x, _ in points], 10 if shape is WIDE else 5)
        parts = shape.axes(x_axis, y_axis, (x_label, y_label))
        if mark is not None and x_axis[0] <= mark <= x_axis[-1]:
            x = _scaled(mark, x_axis, shape.left, shape.right)
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{shape.top}" y2="{shape.bottom}"'
            parts.append(f'<line class="mark" {ends}/>')
            text = mark_name if shape is WIDE else mark_name.partition(",")[0]
            after = x < (shape.left + shape.right) / 2
            place = f'x="{x + (6 if after else -6):.1f}" y="{shape.top + 12}"'
            anchor = "" if after else END
            parts.append(f'<text class="marked" {place} {anchor}>{escape(text)}</text>')
        for index, line in enumerate(lines):
            parts += _draw_line(line, index, shape, x_axis, y_axis)
        charts.append(shape.svg(title, parts))
    return "".join(charts)


def _draw_line(
    line: Line, index: int, shape: Shape, x_axis: Sequence[float], y_axis: Sequence[float]
) -> list[str]:
    """Return the polylines between gaps, and dots with their values if there are few points."""
    segments: list[list[str]] = [[]]
    dots = []
    style = f"series-{_series(line, index)}"
    few = len(line.x) <= MAX_DOTS
    for x, y in zip(line.x, line.y, strict=True):
        if y is None:
            segments.append([])
            continue
        px = _scaled(x, x_axis, shape.left, shape.right)
        py = _scaled(y, y_axis, shape.bottom, shape.top)
        segments[-1].append(f"{px:.1f},{py:.1f}")
        if few:
            value = f"<title>{escape(line.name)}: {number(x)}, {number(round(y, 4))}</title>"
            dots.append(f'<circle class="dot {style}" cx="{px:.1f}" cy="{py:.1f}" r="3.5">')
            dots[-1] += f"{value}</circle>"
    drawn = f'class="line {style}" stroke-dasharray="{DASHES[index % len(DASHES)]}"'
    lines = [
        f'<polyline {drawn} points="{" ".join(segment)}"/>'
        for segment in segments
        if len(segment) > 1
    ]
    return lines + dots


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    entries = "".join(
        f'<li><svg viewBox="0 0 28 8" aria-hidden="true"><line class="line '
        f'series-{_series(line, i)}" x1="0" x2="28" y1="4" y2="4" '
        f'stroke-dasharray="{DASHES[i % len(DASHES)]}"/></svg>{escape(line.name)}</li>'
        for i, line in enumerate(lines)
    )
    return f'<ul class="legend">{entries}</ul>'


def _series(line: Line, index: int) -> int:
    return (index if line.series is None else line.series) % 8


def interval_chart(
    title: str,
    x_label: str,
    rows: Sequence[Interval],
    reference: float | None = None,
    note_label: str = "",
) -> str:
    """Return a chart with a dot and an interval for each row.

    Args:
        title: text for screen readers.
        x_label: label of the x axis, with its unit.
        rows: the rows, from top to bottom.
        reference: an x to mark with a vertical line.
        note_label: what the notes are.
    """
    values = [value for row in rows for value in (row.low, row.mean, row.high)]
    charts = []
    for wide in (True, False):
        step, top = (31, 24) if wide else (48, 10)
        bottom = top + step * len(rows)
        left, right = (256, 630) if wide else (10, 350)
        name = "wide" if wide else "narrow"
        shape = Shape(name, 800 if wide else 360, bottom + 42, left, right, top, bottom)
        x_axis = ticks(values, 6 if wide else 4)
        parts = []
        for value in x_axis:
            x = _scaled(value, x_axis, left, right)
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{shape.top}" y2="{bottom}"'
            parts.append(f'<line class="grid" {ends}/>')
            place = f'x="{x:.1f}" y="{bottom + 18}" {MIDDLE}'
            parts.append(f"<text {place}>{number(value)}</text>")
        place = f'x="{(left + right) / 2}" y="{bottom + 37}" {MIDDLE}'
        parts.append(f'<text class="axis" {place}>{escape(x_label)}</text>')
        if wide:
            place = f'x="{shape.width - 6}" y="{top - 10}" {END}'
            parts.append(f'<text class="axis" {place}>{escape(note_label)}</text>')
        if reference is not None:
            x = _scaled(reference, x_axis, left, right)
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{shape.top}" y2="{bottom}"'
            parts.append(f'<line class="mark" {ends}/>')
        for index, row in enumerate(rows):
            y = shape.top + step * index + (step / 2 if wide else 32)
            parts += _draw_interval(row, y, shape, x_axis, wide)
        charts.append(shape.svg(title, parts))
    return "".join(charts)


def _draw_interval(
    row: Interval, y: float, shape: Shape, x_axis: Sequence[float], wide: bool
) -> list[str]:
    low, mean, high = (
        _scaled(value, x_axis, shape.left, shape.right) for value in (row.low, row.mean, row.high)
    )
    y_text = y + 4 if wide else y - 13
    name = f'class="row {row.style}" x="{shape.left - 16 if wide else shape.left}"'
    end = END if wide else ""
    note = f'class="note-text {row.note_style}" x="{shape.width - 6}" {END}'
    short = row.note if wide else row.note.partition(" [")[0]
    value = f"{escape(row.name)}: {row.mean:.1f} % [{row.low:.1f}, {row.high:.1f}]"
    return [
        f'<text {name} y="{y_text}" {end}>{escape(row.name)}</text>',
        f'<line class="whisker {row.style}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>',
        f'<circle class="mean {row.style}" cx="{mean:.1f}" cy="{y}" r="6">',
        f"<title>{value}</title></circle>",
        f'<text {note} y="{y_text}">{escape(short)}</text>',
    ]


def _scaled(value: float, axis: Sequence[float], first: float, last: float) -> float:
    return first + (value - axis[0]) / (axis[-1] - axis[0]) * (last - first)


def ticks(values: Sequence[float], wanted: int = 5) -> list[float]:
    """Return about `wanted` round ticks that enclose all values."""
    low, high = min(values), max(values)
    if high - low < 1e-12 * max(abs(high), 1):
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / wanted
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * count, 12) for count in range(first, last + 1)]
