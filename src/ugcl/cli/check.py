"""`ugcl check`: a look at a graph before training."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.check.diagnosis import Cost, Diagnosis, diagnose
from ugcl.cli.common import add_command, add_data_root, integer, print_json, say, use_threads
from ugcl.cli.graphs import add_graph, as_options, graph_of
from ugcl.data import GraphFiles, load_graph


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "check",
        run,
        "look at a graph before training: what was read, what it will take, what looks wrong",
        "ugcl check --edges edges.csv --features features.csv",
    )
    add_graph(parser)
    parser.add_argument(
        "--save",
        metavar="FILE",
        help="also write the graph into one .npz file, which all commands take",
    )
    parser.add_argument("--threads", type=integer(1), help="threads (default: PyTorch's)")
    add_data_root(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at the graph."""
    use_threads(arguments.threads)
    given = graph_of(arguments)
    if given is None:
        raise UGCLError("no graph given: name your files, as in ugcl check --edges edges.csv")
    save = None if arguments.save is None else Path(arguments.save)
    if save is not None:
        if save.suffix != ".npz":
            raise UGCLError(f"--save {save} must end in .npz, the format of Graph.save")
        check_writable(save)
    graph = load_graph(given, arguments.data_root)
    if save is not None:
        graph.save(save)
    found = diagnose(graph, say)
    if arguments.json:
        print_json(found.to_json())
    else:
        _print(found, given, arguments)
    return 0


def _print(found: Diagnosis, given: str | GraphFiles, arguments: argparse.Namespace) -> None:
    graph = found.graph
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
    if found.components > 1:
        shape = f"{found.components:,} components, the largest of {found.largest:,} nodes"
    alone = f", {found.isolated:,} nodes without edges" if found.isolated else ""
    print(f"components: {shape}{alone}")
    degrees = found.degrees
    print(
        f"neighbours: {degrees['mean']:.1f} on average, median {degrees['median']:.0f}, 99 % have "
        f"at most {degrees['p99']:.0f}, the most is {degrees['largest']:,.0f}"
    )
    scope = "" if found.scope is None else f", scope {found.scope}"
    print(f"suggested: {found.method}{scope} ({found.why})")
    if found.cost is not None:
        _print_cost(found.cost, found.settings.values()["epochs"])
    if found.graph_warnings:
        print("looks wrong:")
        for oddity in found.graph_warnings:
            print(f"  - {oddity}")
    else:
        print("looks wrong: nothing")
    if arguments.save is not None:
        print(f"saved: {arguments.save}")
    print(f"next: {_command(found, given, arguments)}")


def _print_cost(cost: Cost, epochs: int) -> None:
    memory = _size(cost.memory_bytes)
    if cost.available_bytes is not None:
        memory += f" of the {_size(cost.available_bytes)} that are free"
    print(f"memory: about {memory}{'' if cost.fits else ', which is not enough'}")
    if cost.seconds is None:
        print("time: not tried for want of memory; a smaller --hidden needs less")
    else:
        print(
            f"time: about {_time(cost.seconds)} for {epochs} epochs and the embeddings, going by "
            "steps tried here"
        )


def _command(found: Diagnosis, graph: str | GraphFiles, arguments: argparse.Namespace) -> str:
    """The command that trains as suggested."""
    words = ["ugcl", "train", *as_options(graph if arguments.save is None else arguments.save)]
    if found.method != "ugcl":
        words += ["--method", found.method]
    return shlex.join([*words, "--out", "runs/mine"])


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{max(count / 2**20, 1):.0f} MB"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
