"""The tables of docs/does-training-pay.md and of the README: gains over the best control.

    python tools/gain_tables.py docs/does-training-pay.png

draws the figure of the page; `make_tables.py` prints the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from cells import (
    Rows,
    best,
    best_control,
    gain_over_control,
    load,
    mean_of,
    mean_of_control,
    mean_std,
    summary,
)
from collect import Record, find_record
from ugcl.data import DATASETS, FAMILIES
from ugcl.evaluation import CONTROLS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {"multiscope": "#3e7cb1", "ugcl": "#e07a5f"}
"""The methods of the page and their colours in the figure."""

SHOWN = (-3.0, 3.2)
"""Gains that the figure shows; smaller ones are numbers at its edge."""


def gain(graph: str, method: str) -> Record:
    """Return the summary of a study over random splits."""
    study = find_record(load("gains"), graph=graph, method=method)
    assert study is not None, (graph, method)
    return summary(study, "fast", "honest")


def graphs() -> list[str]:
    """Return the data sets and the synthetic graphs that were studied."""
    studied = {record["graph"] for record in load("gains")}
    return [name for name in (*DATASETS, *FAMILIES) if name in studied]


def overview() -> Rows:
    """Accuracy of the default and of UGCL on each data set, and the gain of the default."""
    yield (
        *("data set", "end-to-end time", "`multiscope`", "`ugcl`", "best control"),
        "gain of `multiscope` over it, 95 % CI",
    )
    record = find_record(load("bench"), name="cold_start")
    assert record is not None
    for graph in DATASETS:
        if graph in graphs():
            row = gain(graph, "multiscope")
            yield (
                graph,
                f"{record['seconds'][graph]['cold_start']:.0f} s",
                mean_std(row["accuracy_mean"]),
                mean_std(gain(graph, "ugcl")["accuracy_mean"]),
                best_control(row),
                gain_over_control(row),
            )


def gains() -> Rows:
    """Accuracy of both methods and of all controls, and the gain over the best control."""
    yield "graph", "splits", "method", "accuracy", *CONTROLS, "gain over the best control"
    for graph in graphs():
        for method in METHODS:
            row = gain(graph, method)
            yield (
                graph if method == "multiscope" else "",
                str(row["splits"]) if method == "multiscope" else "",
                f"`{method}`",
                mean_std(row["accuracy_mean"]),
                *(mean_of_control(row["controls_mean"], control) for control in CONTROLS),
                gain_over_control(row),
            )


def full_width() -> Rows:
    """Accuracy of two controls with at most 1,024 columns and with all columns of each block."""
    yield "data set", "splits", "`sign`", "full width", "`structure`", "full width"
    for graph in DATASETS:
        record = find_record(load("full_width"), name=graph)
        if record is not None:
            narrow, wide = gain(graph, "multiscope")["controls_mean"], record["controls_mean"]
            pairs = ((narrow[name][0], wide[name]) for name in ("sign", "structure"))
            cells = (f"{mean:.1f}" for pair in pairs for mean in pair)
            yield graph, str(record["splits"]), *cells


def task_gains() -> Rows:
    """Link prediction and clustering of both methods and of the best control of each score."""
    yield "data set", "method", "AUC", "AP", "NMI"
    for graph in DATASETS:
        by_method = {
            method: [
                record
                for record in load("gain_tasks")
                if (record["graph"], record["method"]) == (graph, method)
            ]
            for method in METHODS
        }
        if not by_method["multiscope"]:
            continue
        for method, records in by_method.items():
            links = [record["links"] for record in records]
            yield (
                graph if method == "multiscope" else "",
                f"`{method}`",
                *(mean_of([row[key] for row in links]) for key in ("auc", "average_precision")),
                mean_of([record["clusters"]["nmi"][0] for record in records]),
            )
        yield "", "best control", *_best_of_controls(by_method["multiscope"])


def _best_of_controls(records: list[Record]) -> Iterator[str]:
    """Format the highest mean of any control for each score, with its name."""
    for task, key in (("links", "auc"), ("links", "average_precision"), ("clusters", "nmi")):
        means: dict[str, float] = {}
        for control in CONTROLS:
            rows = [record[task]["controls"].get(control) for record in records]
            values = [row[key] for row in rows if row is not None]
            if values:
                means[control] = fmean(v[0] if isinstance(v, list) else v for v in values)
        name = max(means, key=means.__getitem__)
        yield f"{means[name]:.1f} ({name})"


def _ingredients(readouts: tuple[str, ...], **fields: str) -> Iterator[str]:
    """Format the mean accuracy of parts of the embedding over seeds and splits."""
    records = [
        record
        for record in load("ingredients")
        if all(record[name] == value for name, value in fields.items())
    ]
    for readout in readouts:
        yield mean_of([fmean(record["accuracy"][readout]) for record in records])


def ingredients() -> Rows:
    """Accuracy of encoder, loss and readout on three graphs."""
    readouts = tuple(load("ingredients")[0]["accuracy"])
    yield (
        "graph",
        "encoder",
        "loss",
        *(f"{'... ' * (i > 0) * (i < 4)}{r}" for i, r in enumerate(readouts)),
    )
    for graph in ("cora", "pubmed", "amazon-photo"):
        for encoder in ("mlp", "linear", "gcn"):
            for loss in ("infonce", "jsd"):
                first = encoder == "mlp" and loss == "infonce"
                yield (
                    graph if first else "",
                    f"`{encoder}`" if loss == "infonce" else "",
                    f"`{loss}`",
                    *_ingredients(readouts, graph=graph, encoder=encoder, loss=loss),
                )


def embedding_parts() -> Rows:
    """Accuracy of parts of the embedding on every data set."""
    readouts = tuple(load("ingredients")[0]["accuracy"])
    yield "data set", *readouts
    for graph in DATASETS:
        if find_record(load("ingredients"), graph=graph):
            yield graph, *_ingredients(readouts, graph=graph, encoder="mlp", loss="infonce")


def stopping() -> Rows:
    """Where training stops, the best epoch and the regret."""
    epochs = (60, 100, 200, 400, 600)
    header = (f"{epoch} epochs" for epoch in epochs)
    yield "data set", "seeds", "stops after", "accuracy there", *header, "regret"
    for graph in DATASETS:
        records = [record for record in load("stopping") if record["graph"] == graph]
        if not records:
            continue
        by_epoch = {
            epoch: fmean(fmean(record["accuracy"][str(epoch)]) for record in records)
            for epoch in epochs
        }
        there = fmean(fmean(record["accuracy"][str(record["stop"])]) for record in records)
        yield (
            graph,
            str(len(records)),
            ", ".join(str(record["stop"]) for record in records),
            f"{there:.1f}",
            *(f"{mean:.1f}" for mean in by_epoch.values()),
            f"{fmean(record['regret'] for record in records):.1f}",
        )


def draw() -> Figure:
    """Draw the gain over the best control of each graph with its interval."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.4), layout="constrained")
    axes = figure.subplots()
    names = graphs()
    for offset, (method, colour) in zip((-0.14, 0.14), METHODS.items(), strict=True):
        for place, graph in enumerate(names):
            row = gain(graph, method)
            difference = row["differences"][best(row)]
            y, mean = place + offset, difference["mean"]
            label = method if place == 0 else None
            if mean < SHOWN[0]:  # beyond the edge: an arrow and the number
                axes.plot(SHOWN[0] + 0.08, y, "<", color=colour, ms=6)
                axes.text(SHOWN[0] + 0.2, y, f"{mean:+.1f}", color=colour, va="center", size=9)
                continue
            axes.plot(difference["ci95"], [y] * 2, color=colour, lw=2.2)
            axes.plot(mean, y, "o", color=colour, ms=6, label=label)
    axes.axvline(0, color="#2f3640", lw=1)
    count = sum(name in DATASETS for name in names)
    if count < len(names):
        axes.axhline(count - 0.5, color="#9aa5b1", lw=0.8, ls="--")
    axes.set(
        xlabel="gain over the best of six controls, points of accuracy, 95 % interval",
        xlim=SHOWN,
        yticks=range(len(names)),
        yticklabels=names,
        title="Does training pay?",
    )
    axes.invert_yaxis()
    axes.grid(axis="x", color="#e6e9ec", lw=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="lower right")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the picture to write")
    draw().savefig(parser.parse_args().out, dpi=150)
