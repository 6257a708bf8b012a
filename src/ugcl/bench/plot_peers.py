"""Plot of `ugcl bench peers`: accuracy against CPU seconds, one panel for each graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ugcl._utils.files import atomic
from ugcl.bench.front import Row
from ugcl.report import check_plotting

OURS, PEER, LINE = "#e07a5f", "#3e7cb1", "#9aa5b1"
MAX_COLUMNS = 3
SHORTEST = 1e-3
"""CPU seconds that a clock can tell from none."""

DEPTH = 20
"""Accuracies more than so many points below the best are at the lower edge, with their number."""

LETTER, LINE_HEIGHT, GAP = 0.013, 0.042, 0.012
"""Approximate width of a letter, height of a label and distance to its point, of a panel."""

Label = tuple[float, float, float]
"""Left, right and height of a label, as fractions of a panel."""


def plot_peers(summary: Sequence[Row], path: Path) -> None:
    """Plot the summary of `bench_peers`, at its smallest number of threads, into a file."""
    check_plotting(path)
    from matplotlib.figure import Figure

    threads = min(row["threads"] for row in summary)
    panels: dict[str, list[Row]] = {}
    for row in summary:
        if row["threads"] == threads and not row["reason"]:
            panels.setdefault(row["graph"], []).append(row)
    columns = min(len(panels), MAX_COLUMNS) or 1
    lines = math.ceil(len(panels) / columns) or 1
    figure = Figure(figsize=(6.5 * columns, 4.8 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    unit = "one thread" if threads == 1 else f"{threads} threads"
    for axis, (graph, rows) in zip(axes, panels.items(), strict=False):
        _panel(axis, rows)
        axis.set(title=graph, xlabel=f"CPU seconds, {unit}", ylabel="accuracy, %")
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _panel(axis: Any, rows: list[Row]) -> None:
    """Draw the points of a graph, the front through the best ones, and their names."""
    best = max(row["accuracy"][0] for row in rows)
    floor = max(min(row["accuracy"][0] for row in rows), best - DEPTH)
    margin = 0.12 * max(best - floor, 1)
    low, high = (end(_seconds(row) for row in rows) for end in (min, max))
    stretch = max(high / low, 10) ** 0.25
    axis.set(xscale="log", xlim=(low / stretch, high * stretch))
    axis.set_ylim(floor - margin, best + 2 * margin)
    points = [(_seconds(row), max(row["accuracy"][0], floor)) for row in rows]
    edge = [point for row, point in zip(rows, points, strict=True) if row["front"]]
    edge = [(edge[0][0], floor - margin), *edge, (high * stretch, edge[-1][1])]
    axis.plot(*zip(*edge, strict=True), drawstyle="steps-post", color=LINE, zorder=1)
    places = [_place(axis, point) for point in points]
    taken: list[Label] = [(x - 0.5 * GAP, x + 0.5 * GAP, y) for x, y in places]
    for row, point, place in zip(rows, points, places, strict=True):
        below = row["accuracy"][0] < floor
        size, marker = 30 if row["front"] else 14, "v" if below else "o"
        axis.scatter(*point, color=_colour(row), s=size, marker=marker, zorder=2)
        text = f"{row['method']} {row['accuracy'][0]:.0f}" if below else row["method"]
        _write(axis, text, place, row, taken)


def _place(axis: Any, point: tuple[float, float]) -> tuple[float, float]:
    """Return a point as fractions of its panel."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    x = math.log(point[0] / left) / math.log(right / left)
    return x, (point[1] - bottom) / (top - bottom)


def _write(axis: Any, text: str, place: tuple[float, float], row: Row, taken: list[Label]) -> None:
    """Write a name beside its point: left and up on the front, else right and down.

    It moves on in that direction while it would overlap a point or one of the names before.
    """
    (x, y), width = place, LETTER * len(text)
    step = LINE_HEIGHT if row["front"] else -LINE_HEIGHT
    start = max(x - GAP - width, GAP) if row["front"] else x + GAP
    y += 0.6 * step if row["front"] else 0
    while any(
        start < end and begin < start + width and abs(y - height) < 0.8 * LINE_HEIGHT
        for begin, end, height in taken
    ):
        y += 0.5 * step
    taken.append((start, start + width, y))
    axis.text(
        start + width if row["front"] else start,
        y,
        text,
        transform=axis.transAxes,
        ha="right" if row["front"] else "left",
        va="center",
        fontsize=8,
        color=_colour(row),
        weight="bold" if row["front"] else "normal",
    )


def _seconds(row: Row) -> float:
    return max(float(row["cpu_seconds"]), SHORTEST)


def _colour(row: Row) -> str:
    return OURS if row["package"] == "ugcl" else PEER
