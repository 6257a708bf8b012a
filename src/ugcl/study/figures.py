"""Figures of the studies: vector graphics and PNG that fit a column or a page of a paper."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from ugcl._utils.files import atomic, write_bytes
from ugcl.study.table import Entry, Table

if TYPE_CHECKING:
    from ugcl.study.scope_studies import ScopePanel

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that people with colour blindness can tell apart (Okabe and Ito, 2008)."""

MARKERS = "osv^DPX"
GREY = "#7f8c8d"
COLUMN, PAGE = 3.5, 7.2
"""Widths in inches: of a column, and of a page of two."""

DPI, SHADES = 220, 128

STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e9ec",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.0,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "mathtext.fontset": "dejavusans",
    "svg.hashsalt": "ugcl",
}


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG and as PNG with a palette, which keeps the file small."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    with rc_context(STYLE):
        vector, drawn = io.BytesIO(), io.BytesIO()
        figure.savefig(vector, format="svg", facecolor="white", metadata={"Date": None})
        figure.savefig(drawn, format="png", dpi=DPI, facecolor="white")
    write_bytes(paths[0], vector.getvalue())
    picture = Image.open(drawn).convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
    with atomic(paths[1]) as temporary:
        picture.save(temporary, format="PNG", optimize=True)
    return paths


def plot_scopes(panels: Sequence[ScopePanel]) -> Figure:
    """Draw accuracy against n above lower bound and homophily, a column for each data set."""
    with rc_context(STYLE):
        width = max(COLUMN, min(PAGE, 1.9 * len(panels)))
        figure = Figure(figsize=(width, 3.6), layout="constrained")
        grid = figure.subplots(2, len(panels), sharex=True, squeeze=False)
        for column, panel in enumerate(panels):
            top, bottom = grid[0][column], grid[1][column]
            _curve(top, count(1), panel.trained, 0, "trained at n")
            _curve(top, count(1), panel.readout, 1, "trained once, read out at n")
            published = [entry.published[0] for entry in panel.trained if entry.published]
            if published:
                n = range(1, len(published) + 1)
                top.plot(n, published, ":", color=GREY, label="published")
            _curve(bottom, count(1), panel.measured, 2, "measured homophily")
            _curve(bottom, count(1), panel.lower_bound, 3, "lower bound")
            chosen = panel.chosen.get("label-free")
            for axes, label in ((top, None), (bottom, "chosen without labels")):
                if chosen:
                    axes.axvline(chosen, color=GREY, lw=0.8, ls="--", label=label)
            top.set_title(panel.name)
            bottom.set(xlabel="scope n", ylim=(0, 1.02))
        grid[0][0].set_ylabel("accuracy, %")
        grid[1][0].set_ylabel("fraction of same class")
        _legend_below(figure, [grid[0][0], grid[1][0]], columns=3 if len(panels) > 2 else 2)
    return figure


def _curve(
    axes: Axes,
    places: Iterable[float],
    entries: Iterable[Entry | str],
    number: int,
    label: str,
) -> float | None:
    """Draw figures with their deviations, and return the last figure."""
    points = [
        (place, entry.mean, entry.deviation or 0.0)
        for place, entry in zip(places, entries, strict=False)
        if isinstance(entry, Entry) and entry.mean is not None
    ]
    if not points:
        return None
    x, y, error = zip(*points, strict=True)
    style: dict[str, Any] = {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
    }
    axes.errorbar(x, y, error, capsize=2, elinewidth=0.9, label=label, **style)
    return points[-1][1]


def _legend_below(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """Add a legend below the axes, in fewer columns where it would be wider than the figure."""
    handles = {
        label: handle
        for each in axes
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True)
    }
    while True:
        legend = figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=columns
        )
        figure.draw_without_rendering()
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
        columns -= 1


def plot_hidden(table: Table, sizes: Sequence[int]) -> Figure:
    """Draw accuracy against the hidden size, a line for each data set."""
    with rc_context(STYLE):
        figure = Figure(figsize=(COLUMN, 2.6), layout="constrained")
        axes = figure.subplots()
        for column, name in enumerate(table.columns):
            _curve(axes, sizes, [row[column] for _, row in table.rows], column, name)
        axes.set_xscale("log", base=2)
        axes.set(xlabel="hidden size D'", ylabel="accuracy, %")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    return figure


def plot_heat_maps(tables: Sequence[Table]) -> Figure:
    """Draw a heat map of accuracy for each table: rows against columns."""
    with rc_context({**STYLE, "axes.grid": False}):
        width = max(COLUMN, min(PAGE, 2.5 * len(tables)))
        figure = Figure(figsize=(width, 3.4), layout="constrained")
        for axes, table in zip(
            figure.subplots(1, len(tables), squeeze=False)[0], tables, strict=True
        ):
            values = [
                [
                    entry.mean
                    if isinstance(entry, Entry) and entry.mean is not None
                    else float("nan")
                    for entry in row
                ]
                for _, row in table.rows
            ]
            image = axes.imshow(values, cmap="cividis", aspect="auto", origin="lower")
            known = [value for row in values for value in row if value == value]
            middle = (min(known) + max(known)) / 2
            for y, row in enumerate(values):
                for x, value in enumerate(row):
                    if value == value:
                        colour = "black" if value > middle else "white"
                        axes.text(
                            x, y, f"{value:.1f}", ha="center", va="center", color=colour, size=5.5
                        )
            axes.set_xticks(range(len(table.columns)), [c.split()[-1] for c in table.columns])
            axes.set_yticks(range(len(table.rows)), [name.split()[-1] for name, _ in table.rows])
            axes.set(xlabel="sample size S", title=table.name.removeprefix("joint-"))
            figure.colorbar(image, ax=axes, shrink=0.8, label="accuracy, %")
        figure.axes[0].set_ylabel("scope n")
    return figure


def plot_decay(curves: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw the measured distance to the component subspace and its bound, for each graph."""
    with rc_context(STYLE):
        figure = Figure(figsize=(COLUMN, 3.1), layout="constrained")
        axes = figure.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            colour = COLOURS[number % len(COLOURS)]
            marker = MARKERS[number % len(MARKERS)]
            label = f"{name}, λ = {curve['lambda']:.4f}"
            axes.plot(
                curve["measured"], color=colour, marker=marker, ms=3, markevery=10, label=label
            )
            axes.plot(curve["bound"], "--", color=colour, lw=0.9)
        axes.plot([], [], color=GREY, label="measured")
        axes.plot([], [], "--", color=GREY, lw=0.9, label="bound λⁿ")
        axes.set(
            xlabel="power n",
            ylabel="d(AⁿH) / d(H)",
            yscale="log",
            xlim=(0, None),
        )
        _legend_below(figure, [axes], columns=2)
    return figure


def plot_subsampling(table: Table, fractions: Sequence[float]) -> Figure:
    """Draw sparsity and P_1 of samples against their size, with a line for each data set."""
    with rc_context(STYLE):
        figure = Figure(figsize=(PAGE, 2.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, (name, row) in enumerate(table.rows):
            axes = (left, right)[number % 2]
            whole = _curve(axes, fractions, row, number // 2, name.partition(":")[0])
            if whole is not None:
                axes.axhline(whole, color=COLOURS[number // 2 % len(COLOURS)], lw=0.7, ls=":")
        left.set(xlabel="sample size S / N", ylabel="sparsity, %", yscale="log")
        right.set(xlabel="sample size S / N", ylabel="P₁, edges within a class", ylim=(0, 1.02))
        _legend_below(figure, [left], columns=5)
    return figure


def plot_gains(
    gains: Mapping[str, Sequence[Mapping[str, Any] | None]], names: Sequence[str]
) -> Figure:
    """Draw the gain of each method over the best control with its interval, by data set."""
    found = [(i, name) for i, name in enumerate(names) if any(row[i] for row in gains.values())]
    methods = [method for method, row in gains.items() if any(row)]
    with rc_context(STYLE):
        per_row = min(4, len(found))
        rows = -(-len(found) // per_row)
        height = 0.5 + rows * (0.45 + 0.17 * len(methods))
        width = max(COLUMN, 1.8 * per_row)
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, per_row, sharey=True, squeeze=False).ravel()
        for axes, (i, name) in zip(grid, found, strict=False):
            for y, method in enumerate(methods):
                gain = gains[method][i]
                if gain is None:
                    continue
                low, high = gain["ci95"]
                colour = COLOURS[2] if low > 0 else COLOURS[1] if high < 0 else GREY
                axes.plot((low, high), (y, y), color=colour, lw=1.6)
                axes.plot(gain["mean"], y, "o", color=colour)
            axes.axvline(0, color="#2f3640", lw=0.8)
            axes.set(title=name, yticks=range(len(methods)), yticklabels=methods)
        for axes in grid[len(found) :]:
            axes.set_visible(False)
        grid[0].invert_yaxis()
        figure.supxlabel("gain over the best control, points of accuracy, 95 % interval", size=8)
    return figure
