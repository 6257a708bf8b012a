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
LABEL_HEIGHT = 0.035
"""Height of a label as a fraction of its panel."""


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
    figure = Figure(figsize=(6 * columns, 4.6 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, (graph, rows) in zip(axes, panels.items(), strict=False):
        _panel(axis, rows)
        unit = "one thread" if threads == 1 else f"{threads} threads"
        axis.set(title=graph, xlabel=f"CPU seconds, {unit}", ylabel="accuracy, %")
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _panel(axis: Any, rows: list[Row]) -> None:
    """Draw the points of a graph, the front through the best ones, and their names."""
    seconds = [_position(row) for row in rows]
    accuracies = [row["accuracy"][0] for row in rows]
    low, high = min(accuracies), max(accuracies)
    margin = 0.08 * ((high - low) or 1)
    axis.set(xscale="log", ylim=(low - margin, high + margin))
    axis.set_xlim(min(seconds) / 1.5, max(seconds) * (max(seconds) / min(seconds)) ** 0.25 * 3)
    best = [(_position(row), row["accuracy"][0]) for row in rows if row["front"]]
    edge = [*best, (axis.get_xlim()[1], best[-1][1])]
    axis.plot(*zip(*edge, strict=True), drawstyle="steps-post", color=LINE, zorder=1)
    for row, x, y in zip(rows, seconds, accuracies, strict=True):
        axis.scatter(x, y, color=_colour(row), s=30 if row["front"] else 14, zorder=2)
    for row, height in zip(rows, _label_heights(axis, seconds, accuracies), strict=True):
        axis.annotate(
            row["method"],
            (_position(row), height),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=_colour(row),
            weight="bold" if row["front"] else "normal",
        )


def _position(row: Row) -> float:
    """Return the CPU seconds, at least those that a clock can tell from none."""
    return max(row["cpu_seconds"], SHORTEST)


def _colour(row: Row) -> str:
    return OURS if row["package"] == "ugcl" else PEER


def _label_heights(axis: Any, seconds: list[float], accuracies: list[float]) -> list[float]:
    """Return the height of each label: that of its point, moved down where labels would overlap."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    width, step = math.log(right / left) * 0.3, LABEL_HEIGHT * (top - bottom)
    placed: list[tuple[float, float]] = []
    heights = dict.fromkeys(range(len(seconds)), 0.0)
    for i in sorted(heights, key=lambda i: -accuracies[i]):
        x, height = math.log(seconds[i]), accuracies[i]
        for other, taken in sorted(placed, key=lambda label: -label[1]):
            if abs(other - x) < width and abs(taken - height) < step:
                height = taken - step
        placed.append((x, height))
        heights[i] = height
    return list(heights.values())
