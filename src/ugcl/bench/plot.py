"""Plot of the benchmark suite: parts of the step as stacked bars, and growth curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ugcl._utils.files import atomic
from ugcl.bench.step import PARTS
from ugcl.report import check_plotting

BELOW: dict[str, Any] = {
    "frameon": False,
    "fontsize": "small",
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.13),
}
"""A legend below the axes."""

COLOURS = ("#9aa5b1", "#3e7cb1", "#81c3d7", "#e07a5f", "#8a5a83", "#c9b458")


def plot_suite(result: dict[str, Any], path: Path) -> None:
    """Plot the results of `bench_suite` into a file."""
    check_plotting(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    bars, times, memory = figure.subplots(1, 3, width_ratios=(1.5, 1, 1))
    if result["steps"]:
        _parts(bars, result["steps"])
    growths = {name: growth for name, growth in result["scaling"].items() if name != "base"}
    growths["edges, embed"] = result["embed"]
    for axis, values, exponent, unit, title in (
        (times, "seconds", "seconds_exponent", 1, "seconds of a step, or of embed"),
        (memory, "peak_bytes", "bytes_exponent", 2**20, "peak memory, MiB"),
    ):
        for name, growth in growths.items():
            if growth[exponent] is None:
                continue
            factors = [size / growth["sizes"][0] for size in growth["sizes"]]
            heights = [value / unit for value in growth[values]]
            axis.plot(
                factors, heights, marker="o", label=f"{name}: exponent {growth[exponent]:.2f}"
            )
        axis.set(xscale="log", yscale="log", title=title, xlabel="times the smallest size")
        axis.legend(**BELOW, ncols=2)
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=110)


def plot_scale(result: dict[str, Any], path: Path) -> None:
    """Plot the results of `bench_scale` into a file: seconds and gigabytes against nodes."""
    check_plotting(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    times, memory = figure.subplots(1, 2)
    rows = result["rows"]
    sizes = [row["nodes"] for row in rows]
    styles = zip(("convert", "train", "embed"), COLOURS[1::2], "os^", strict=True)
    for stage, colour, marker in styles:
        line = {"color": colour, "marker": marker}
        grown = result["exponents"].get(stage)
        label = stage if grown is None else f"{stage}: exponent {grown:.2f}"
        times.plot(sizes, [row[stage]["seconds"] for row in rows], label=label, **line)
        for field, dashes in (("anonymous_bytes", "-"), ("resident_bytes", ":")):
            heights = [(row[stage][field] or 0) / 2**30 for row in rows]
            name = stage if dashes == "-" else f"{stage}, with mapped pages"
            memory.plot(sizes, heights, linestyle=dashes, label=name, **line)
    steps = [row["train"]["step_seconds"] for row in rows]
    times.plot(sizes, steps, label="one training step", color=COLOURS[0], marker="d")
    times.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds")
    memory.set(xscale="log", yscale="log", xlabel="nodes", ylabel="peak memory, GiB")
    for axis in (times, memory):
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small", frameon=False)
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _parts(axis: Any, steps: list[dict[str, Any]]) -> None:
    names = [f"{row['graph']}\n{row['preset']}" for row in steps]
    bottom = [0.0] * len(steps)
    for part, colour in zip(PARTS, COLOURS, strict=True):
        heights = [row["parts_mm"][part] * row["mm_seconds"] / _step(row) for row in steps]
        axis.bar(names, heights, bottom=bottom, label=part, color=colour)
        bottom = [below + height for below, height in zip(bottom, heights, strict=True)]
    for place, row in enumerate(steps):
        text = f"{1000 * _step(row):.0f} ms"
        axis.text(place, bottom[place] + 0.01, text, ha="center", fontsize=8)
    axis.set(title="parts of the step", ylabel="fraction of the step", ylim=(0, max(bottom) * 1.1))
    axis.tick_params(axis="x", labelsize=8)
    axis.legend(**BELOW, ncols=3)


def _step(row: dict[str, Any]) -> float:
    seconds: float = row["step_mm"] * row["mm_seconds"]
    return seconds
