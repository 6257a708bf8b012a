"""`ugcl train`: from a graph to a run folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.cli.common import (
    INTERRUPTED,
    StopOnSignal,
    add_command,
    add_compute_options,
    add_data_root,
    add_settings,
    add_split,
    fraction,
    integer,
    params_of,
    print_json,
    say,
)
from ugcl.cli.graphs import add_graph, graph_of
from ugcl.cli.progress import Progress
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, METHODS, get_method
from ugcl.runs import Prepared, RunConfig, open_run, prepare, prepare_again, train_run


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "train",
        run,
        "learn embeddings of a graph into a run folder",
        "ugcl train citeseer --out runs/citeseer --scope 3\n"
        "  ugcl train --edges edges.csv --features features.csv --out runs/mine",
    )
    add_graph(parser)
    parser.add_argument("--out", required=True, metavar="RUN", help="the run folder to write")
    parser.add_argument("--method", help=f"one of: {', '.join(METHODS)} (default: ugcl)")
    parser.add_argument(
        "--preset",
        help=f"preset of the settings: fast, paper or, for ugcl, authors ({DEFAULT_PRESET})",
    )
    parser.add_argument(
        "--hold-out-edges",
        type=fraction,
        metavar="R",
        help="hold out this fraction of the edges, for ugcl evaluate --task links",
    )
    add_split(
        parser,
        "for a supervised method: ",
        "seed of a random split and of the held-out edges",
    )
    parser.add_argument("--config", metavar="FILE", help="repeat the run that wrote this file")
    parser.add_argument("--seed", type=integer(0), help="training seed (default: 0)")
    parser.add_argument(
        "--resume", action="store_true", help="resume RUN where it exists, else start it"
    )
    add_data_root(parser)
    add_compute_options(parser)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Train."""
    prepared = _prepared(arguments)
    folder = open_run(Path(arguments.out), prepared, resume=arguments.resume)
    if not arguments.json:
        _announce(folder.config, prepared.graph)
    with StopOnSignal() as stop:
        progress = Progress(f"{prepared.config.method} on {prepared.graph.name or 'graph'}")
        fitted = train_run(folder, prepared, [progress, stop])
    if fitted is not None and fitted.ended == "stopped":
        say(f"stopped after epoch {fitted.epochs}; resume: ugcl train --out {folder.path} --resume")
        return INTERRUPTED
    metrics = folder.metrics()
    if arguments.json:
        print_json({"run": str(folder.path), **metrics})
        return 0
    if fitted is None:
        print(f"{folder.path} was finished before: nothing to do")
    else:
        print(
            f"trained {metrics['epochs']} epochs in {metrics['training_seconds']:.1f} s, "
            f"loss {metrics['loss']:.4f}" + ", stopped early" * (metrics["ended"] == "patience")
            if metrics["epochs"]
            else "not trained: 0 epochs"
        )
        if folder.config.hold_out_edges:
            print(f"held-out edges: {folder.path / 'held_out_edges.npy'}")
        if get_method(folder.config.method).supervised:
            print(f"predictions: {folder.path / 'predictions.npy'}")
    _warn_of_collapse(metrics["collapse"], folder.config.method)
    print(f"embeddings: {folder.embeddings_file}")
    if prepared.graph.num_classes:
        print(f"next: ugcl evaluate {folder.path}")
    if prepared.graph.ids is not None:
        print(f"next: ugcl embed {folder.path} --out embeddings.parquet  (with ids; or .csv, ...)")
    if folder.config.hold_out_edges:
        print(f"next: ugcl evaluate {folder.path} --task links")
    return 0


def _prepared(arguments: argparse.Namespace) -> Prepared:
    """Return the run that the arguments ask for, with its graph."""
    source = arguments.config
    if source is None and arguments.resume and (Path(arguments.out) / "config.toml").is_file():
        source = Path(arguments.out) / "config.toml"
    if source is None:
        graph = graph_of(arguments)
        if graph is None:
            raise UGCLError(
                "no graph given: name a data set or a file, as in ugcl train citeseer, or your own "
                "files, as in ugcl train --edges edges.csv"
            )
        method = arguments.method or "ugcl"
        return prepare(
            graph,
            method=method,
            preset=arguments.preset or DEFAULT_PRESET,
            params=params_of(arguments, method),
            seed=arguments.seed or 0,
            device=arguments.device or "auto",
            threads=arguments.threads,
            data_root=arguments.data_root,
            hold_out_edges=arguments.hold_out_edges or 0.0,
            split=arguments.split,
            split_seed=arguments.split_seed,
        )
    return _from_config(RunConfig.read(Path(source)), arguments)


def _from_config(config: RunConfig, arguments: argparse.Namespace) -> Prepared:
    """Return the run of a stored configuration, changed by the arguments."""
    for name, value, stored in (
        ("--preset", arguments.preset, config.preset),
        ("--method", arguments.method, config.method),
    ):
        if value not in (None, stored):
            raise UGCLError(
                f"{name} {value} contradicts the stored configuration, which has '{stored}': "
                "leave it out, or start a new run without --config and --resume"
            )
    return prepare_again(
        config,
        params_of(arguments, config.method),
        graph=graph_of(arguments, config.graph_files),
        data_root=arguments.data_root,
        seed=arguments.seed,
        device=arguments.device,
        threads=arguments.threads,
        hold_out_edges=arguments.hold_out_edges,
        split=arguments.split,
        split_seed=arguments.split_seed,
    )


def _announce(config: RunConfig, graph: Graph) -> None:
    say(f"{graph.name or config.graph}: {graph.summary}")
    for note in graph.notes:
        say(f"  {note}")
    shown = ", ".join(f"{name} {value}" for name, value in config.settings.values().items())
    say(f"{config.method}, preset '{config.preset}', seed {config.seed}: {shown}")
    if config.split:
        parts = config.split_of(graph)
        sizes = ", ".join(f"{parts[part].size:,} {part}" for part in parts)
        say(f"learns from labels: split '{config.split_name}' ({sizes} nodes)")
    if config.hold_out_edges:
        say(
            f"holds out {round(config.hold_out_edges * graph.num_edges):,} of "
            f"{graph.num_edges:,} edges, split seed {config.split_seed}"
        )
    if graph.weighted and not get_method(config.method).uses_edge_weights:
        say(f"note: {config.method} ignores edge weights")
    if config.scope_choice:
        chosen = config.scope_choice
        names = " and ".join(name.replace("_", " ") for name in chosen["settings"])
        say(f"{names} by {chosen['rule']}: {chosen['why']}")


def _warn_of_collapse(collapse: dict[str, Any], method: str) -> None:
    if collapse["collapsed"]:
        advice = ""
        if get_method(method).trained:
            scoped = "scope" in get_method(method).params
            last = ", a smaller --lr or a smaller --scope" if scoped else " or a smaller --lr"
            advice = f"; try features of one scale (ugcl check), fewer epochs{last}"
        say(
            "warning: the embedding has collapsed (effective rank "
            f"{collapse['effective_rank']}, uniformity {collapse['uniformity']}): nodes can hardly "
            f"be told apart{advice}"
        )
