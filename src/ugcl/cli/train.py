"""`ugcl train`: from a graph to a run folder."""

from __future__ import annotations

import logging
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugcl import check as checks
from ugcl import methods, runs
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, command, integer, number, option
from ugcl.cli.options import (
    GraphArgument,
    data_root,
    device,
    graph_options,
    method_option,
    split_options,
    threads,
    timeout,
)
from ugcl.cli.output import Clock, option_name, resumable, say, with_options
from ugcl.cli.settings import MethodCommand, given

if TYPE_CHECKING:
    from ugcl.graph import Graph
    from ugcl.methods import Method
    from ugcl.runs import Prepared, Run, RunConfig


@command(
    "train",
    cls=MethodCommand,
    examples=(
        "ugcl train citeseer --out runs/citeseer --scope 3",
        "ugcl train --edges edges.csv --features features.csv --out runs/mine",
        "ugcl train --method grace --help      the settings of GRACE",
    ),
)
@graph_options
@option("--out", required=True, metavar="RUN", help="the run folder to write")
@method_option
@option(
    "--preset",
    metavar="NAME",
    help="named values of the settings, listed by ugcl methods (default: fast)",
)
@option("--seed", type=integer(0), help="training seed (default: 0)")
@option("--resume", is_flag=True, help="resume RUN where it exists, else start it")
@option("--config", metavar="FILE", advanced=True, help="repeat the run that wrote this file")
@option(
    "--hold-out-edges",
    type=number(above=0, below=1),
    metavar="R",
    advanced=True,
    help="hold out this fraction of the edges, for ugcl evaluate --task links",
)
@split_options("for a supervised method: ", "seed of a random split and of the held-out edges")
@data_root
@device
@threads
@timeout
def train(
    graph: GraphArgument, out: str, resume: bool, timeout: float, **options: Any
) -> Result | int:
    """Learn embeddings of a graph into a run folder."""
    from ugcl.engine.ranks import joined

    with joined(timeout) as ranks:
        if ranks.rank:
            logging.getLogger("ugcl").setLevel(logging.WARNING)
            runs.follow_run(_prepare(graph, out, resume, **options))
            return 0
        return _train(graph, out, resume, **options)


def _train(graph: GraphArgument, out: str, resume: bool, **options: Any) -> Result:
    """Train on the process that writes, rank 0."""
    from ugcl.cli.callbacks import Progress

    if not resume:
        runs.check_new(Path(out))
    prepared = _prepare(graph, out, resume, **options)
    run = runs.open_run(Path(out), prepared, resume=resume)
    _announce(run.config, prepared.graph)
    with resumable(f"resume: {shlex.join(['ugcl', 'train', '--out', str(run.path)])} --resume"):
        progress = Progress(f"{run.config.method} on {prepared.graph.name or 'graph'}")
        fitted = runs.train_run(run, prepared, [progress], progress=Clock(say))
    metrics = run.metrics()
    _warn_of_collapse(metrics["collapse"], run.config.load_method())

    def show() -> None:
        if fitted is None:
            print(f"{run.path} was finished before: nothing to do")
        else:
            _print_training(run, metrics)
        _print_next(run, prepared.graph)

    following = [line for line, _ in _next(run, prepared.graph)]
    return Result({"run": str(run.path), **metrics, "next": following}, show)


def _prepare(
    graph: GraphArgument,
    out: str,
    resume: bool,
    *,
    method: str | None,
    preset: str | None,
    config: str | None,
    hold_out_edges: float | None,
    split: Any,
    split_seed: int | None,
    seed: int | None,
    data_root: str | None,
    device: str | None,
    threads: int | None,
    **params: Any,
) -> Prepared:
    """Return the run that the arguments ask for, with its graph."""
    common: dict[str, Any] = {
        "split": split,
        "split_seed": split_seed,
        "data_root": data_root,
        "threads": threads,
    }
    source = config
    if source is None and resume and (Path(out) / "config.toml").is_file():
        source = str(Path(out) / "config.toml")
    if source is None:
        return runs.prepare(
            graph.require("ugcl train citeseer"),
            method=method or methods.DEFAULT_METHOD,
            preset=preset or methods.DEFAULT_PRESET,
            params=given(params),
            seed=seed or 0,
            device=device or "auto",
            hold_out_edges=hold_out_edges or 0.0,
            **common,
        )
    stored = runs.RunConfig.read(Path(source))
    if preset not in (None, stored.preset):
        raise _contradiction("--preset", preset, f"'{stored.preset}'")
    if method is not None and not stored.has_method(method):
        changed = methods.get_method(method).name == stored.method
        stored_as = f"another version of '{stored.method}'" if changed else f"'{stored.method}'"
        raise _contradiction("--method", method, stored_as)
    return runs.prepare_again(
        stored,
        given(params),
        graph=graph.resolve(stored.graph_files),
        seed=seed,
        device=device,
        hold_out_edges=hold_out_edges,
        **common,
    )


def _contradiction(name: str, value: str | None, stored: str) -> UGCLError:
    return UGCLError(
        f"{name} {value} contradicts the stored configuration, which has {stored}: leave it out, "
        "or start a new run without --config and --resume"
    )


def _announce(config: RunConfig, graph: Graph) -> None:
    from ugcl.engine.requirements import available_memory, required_bytes, size_text

    say(f"{graph.name or config.graph}: {graph.summary}")
    for note in graph.notes:
        say(f"  {note}")
    if warning := checks.too_many_classes(graph):
        say(f"warning: {with_options(warning)}", always=True)
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
    if graph.weighted and not config.load_method().uses_edge_weights:
        say(f"note: {config.method} ignores edge weights")
    method, settings = config.load_method(), config.settings
    if isinstance(settings, methods.TrainingSettings):
        needed, free = required_bytes(graph, method, settings), available_memory()
        of = "" if free is None else f" of the {size_text(free)} that are free"
        say(f"memory: about {size_text(needed)}{of}")
    if config.scope_choice:
        chosen = config.scope_choice
        names = " and ".join(name.replace("_", " ") for name in chosen["settings"])
        say(f"{names} by {chosen['rule']}: {chosen['why']}")


def _print_training(run: Run, metrics: dict[str, Any]) -> None:
    if metrics["epochs"]:
        early = ", stopped early" if metrics["ended"] == "patience" else ""
        print(
            f"trained {metrics['epochs']} epochs in {metrics['training_seconds']:.1f} s, "
            f"loss {metrics['loss']:.4f}{early}"
        )
    else:
        print("not trained: 0 epochs")
    if run.config.hold_out_edges:
        print(f"held-out edges: {run.path / 'held_out_edges.npy'}")
    if run.config.supervised:
        print(f"predictions: {run.path / 'predictions.npy'}")


def _print_next(run: Run, graph: Graph) -> None:
    print(f"embeddings: {run.embeddings_file}")
    for line, about in _next(run, graph):
        print(f"next: {line}" + (f"  ({about})" if about else ""))


def _next(run: Run, graph: Graph) -> list[tuple[str, str]]:
    """Return the commands that make sense after training, and what they are for."""
    path, config = str(run.path), run.config
    found: list[tuple[list[str], str]] = []
    if graph.num_classes:
        found.append((["evaluate", path], ""))
    if config.hold_out_edges:
        found.append((["evaluate", path, "--task", "links"], ""))
    if graph.ids is not None:
        about = "with ids; or .csv, ..."
        found.append((["embed", path, "--out", "embeddings.parquet"], about))
        first = str(graph.ids[0])
        node = ["--", first] if first.startswith("-") else [first]
        found.append((["neighbors", path, *node], "nearest to a node"))
    if not graph.num_classes:
        found.append((["cluster", path, "--out", "clusters.parquet"], "without labels"))
    found.append((["report", path, "--out", "report.html"], "a page for the browser"))
    if chosen := config.scope_choice:
        again = ["train", "--config", str(run.path / "config.toml")]
        for name in chosen["settings"]:
            again += [option_name(name), str(chosen["n"])]
        again += ["--seed", str(config.seed + 1), "--out", f"{path}-seed{config.seed + 1}"]
        found.append((again, f"another seed with the chosen n = {chosen['n']}"))
    return [(shlex.join(["ugcl", *words]), about) for words, about in found]


def _warn_of_collapse(collapse: dict[str, Any], method: Method) -> None:
    if not collapse["collapsed"]:
        return
    advice = ""
    if method.trained:
        scoped = "scope" in method.params
        last = ", a smaller --lr or a smaller --scope" if scoped else " or a smaller --lr"
        advice = f"; try features of one scale (ugcl check), fewer epochs{last}"
    say(
        "warning: the embedding has collapsed (effective rank "
        f"{collapse['effective_rank']}, uniformity {collapse['uniformity']}): nodes can hardly "
        f"be told apart{advice}",
        always=True,
    )
