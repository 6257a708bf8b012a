"""`ugcl check`: statistics, warnings and cost of a graph before training."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugcl import check as checks
from ugcl import data, methods
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, command, option
from ugcl.cli.options import (
    GraphArgument,
    as_options,
    data_root,
    graph_options,
    method_option,
    threads,
    use_threads,
)
from ugcl.cli.output import with_options

if TYPE_CHECKING:
    from ugcl.check import Cost, Diagnosis
    from ugcl.data import GraphFiles


@command("check", examples=("ugcl check --edges edges.csv --features features.csv",))
@graph_options
@option(
    "--save",
    metavar="FILE",
    help="also write the graph into one .npz file, which all commands take",
)
@method_option
@threads
@data_root
def check(
    graph: GraphArgument,
    save: str | None,
    method: str | None,
    threads: int | None,
    data_root: str | None,
) -> Result:
    """Check a graph before training: what was read, what training costs, what looks wrong."""
    from ugcl._utils.files import check_writable

    source = graph.require("ugcl check citeseer")
    if save is not None:
        if Path(save).suffix != ".npz":
            raise UGCLError(f"--save {save} must end in .npz, the format of Graph.save")
        check_writable(Path(save))
    use_threads(threads)
    loaded = data.load_graph(source, data_root)
    if save is not None:
        loaded.save(Path(save))
    diagnosis = checks.diagnose(loaded, method)
    return Result(diagnosis.to_json(), lambda: _print(diagnosis, source, save))


def _print(diagnosis: Diagnosis, source: str | GraphFiles, save: str | None) -> None:
    graph = diagnosis.graph
    print(f"read: {graph.summary}{', weighted' if graph.weighted else ''}")
    for note in graph.notes:
        print(f"  {note}")
    if graph.labels is not None:
        first = ", ".join((graph.class_names or ())[:8]) + ", ..." * (graph.num_classes > 8)
        names = "" if graph.class_names is None else f" ({first})"
        labelled = int((graph.labels >= 0).sum())
        print(f"labels: {labelled:,} nodes in {graph.num_classes} classes{names}")
    if graph.splits:
        sizes = ", ".join(f"{nodes.size:,} {part}" for part, nodes in graph.splits.items())
        print(f"split: {sizes}")
    shape = "connected"
    if diagnosis.components > 1:
        shape = f"{diagnosis.components:,} components, the largest of {diagnosis.largest:,} nodes"
    alone = f", {diagnosis.isolated:,} nodes without edges" if diagnosis.isolated else ""
    print(f"components: {shape}{alone}")
    degrees = diagnosis.degrees
    print(
        f"neighbours: {degrees['mean']:.1f} on average, median {degrees['median']:.0f}, 99 % have "
        f"at most {degrees['p99']:.0f}, the most is {degrees['largest']:,.0f}"
    )
    scope = "" if diagnosis.scope is None else f", scope {diagnosis.scope}"
    print(f"suggested: {diagnosis.method}{scope} ({diagnosis.why})")
    if diagnosis.cost is not None:
        _print_cost(diagnosis.cost, diagnosis.settings.values())
    if diagnosis.graph_warnings:
        print("looks wrong:")
        for warning in diagnosis.graph_warnings:
            print(f"  - {with_options(warning)}")
    else:
        print("looks wrong: nothing")
    if save is not None:
        print(f"saved: {save}")
    print(f"next: {_command(diagnosis, source if save is None else save)}")


def _print_cost(cost: Cost, settings: Mapping[str, Any]) -> None:
    from ugcl.engine.requirements import size_text

    memory = size_text(cost.memory_bytes)
    if cost.available_bytes is not None:
        memory += f" of the {size_text(cost.available_bytes)} that are free"
    print(f"memory: about {memory}{'' if cost.fits else ', which is not enough'}")
    if cost.seconds is None:
        print("time: not measured, because memory is short; a smaller --hidden needs less")
    else:
        print(
            f"time: {'at most' if settings.get('tolerance') else 'about'} {_time(cost.seconds)} "
            f"for {settings['epochs']} epochs and the embeddings (from measured steps)"
        )


def _command(diagnosis: Diagnosis, graph: str | GraphFiles) -> str:
    """Return the command that trains as suggested."""
    words = ["ugcl", "train", *as_options(graph)]
    if diagnosis.method != methods.DEFAULT_METHOD:
        words += ["--method", diagnosis.method]
    for name, value in diagnosis.chosen.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--out", "runs/mine"])


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
