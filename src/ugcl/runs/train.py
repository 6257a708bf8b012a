"""Training into a run folder: from a configuration to embeddings on disk."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_npy, write_text
from ugcl._utils.provenance import source_commit
from ugcl.engine import Checkpoint, LoopState, Outcome, diagnose_collapse, train
from ugcl.graph import Graph
from ugcl.methods import Predictor, Shape, method_named
from ugcl.runs.config import RunConfig
from ugcl.runs.folder import HELD_OUT, Run, all_finite


class Reporter:
    """Who is told how training goes; this one tells nobody."""

    def start(self, state: LoopState, epochs: int) -> None:
        """Training starts from this state and goes on to that many epochs."""

    def epoch(self, state: LoopState) -> None:
        """An epoch is done."""

    def end(self) -> None:
        """Training has ended, well or not."""


def open_run(out: str | Path, config: RunConfig, graph: Graph, *, resume: bool) -> Run:
    """The run folder to train `graph` into: new, or with `resume` the one that is there.

    A run that is there must have been configured to do the same.
    """
    method_named(config.method).check(config.seen(graph)[0])
    folder = Path(out)
    if not resume or not (folder / "config.toml").is_file():
        return Run.create(folder, config)
    run = Run.open(folder)
    if run.finished:
        config = replace(config, device=run.config.device, threads=run.config.threads)
    if difference := run.config.difference(config):
        raise UGCLError(
            f"{out} was started otherwise and cannot go on with {difference}: "
            "leave that out, or choose another --out"
        )
    return run


def train_run(
    run: Run,
    graph: Graph,
    *,
    reporter: Reporter | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Outcome | None:
    """Train a run to its end, from its checkpoint if it has one.

    Returns:
        How it ended, or None if it was finished before. A run that was stopped has a checkpoint
        and no results.
    """
    if run.finished:
        return None
    reporter = reporter or Reporter()
    config = run.config
    torch.set_num_threads(config.threads)
    graph, held_out = config.seen(graph)
    if held_out.size:
        write_npy(run.path / HELD_OUT, held_out)
    model = config.untrained_model(Shape.of(graph))
    checkpoint = Checkpoint(run.path / "checkpoint.safetensors")
    log = Log(run.path / "log.jsonl")

    def on_start(state: LoopState) -> None:
        log.open(state.epoch)
        reporter.start(state, getattr(config.settings, "epochs", 0))

    def on_epoch(state: LoopState) -> None:
        log.write(state)
        reporter.epoch(state)

    commit = source_commit()
    started = time.perf_counter()
    try:
        outcome = train(
            model,
            graph,
            config.settings,
            device=config.device,
            checkpoint=checkpoint,
            on_start=on_start,
            on_epoch=on_epoch,
            should_stop=should_stop,
        )
    finally:
        log.close()
        reporter.end()
    if outcome.ended != "stopped":
        embeddings = model.embed(graph, config.device)
        if not all_finite(embeddings):
            raise UGCLError(
                "training ended with embeddings that are not finite: use a smaller --lr"
            )
        metrics = {
            **_metrics(run, graph, outcome),
            "session_seconds": round(time.perf_counter() - started, 3),
            "commit": commit,
            "collapse": asdict(diagnose_collapse(embeddings, graph.adjacency)),
        }
        predictions = None
        if isinstance(model, Predictor):
            predictions = model.predict(graph, config.device).argmax(axis=1)
        run.save_results(graph, model, embeddings, metrics, predictions)
        checkpoint.remove()
    return outcome


def _metrics(run: Run, graph: Graph, outcome: Outcome) -> dict[str, Any]:
    config = run.config
    return {
        "method": config.method,
        "graph": config.graph,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "seed": config.seed,
        "scope": config.settings.values().get("scope"),
        "readout_scope": config.settings.values().get("readout_scope"),
        "scope_choice": config.scope_choice or None,
        "epochs": outcome.epochs,
        "ended": outcome.ended,
        "loss": outcome.loss,
        "hold_out_edges": config.hold_out_edges,
        "split": config.split or None,
        "split_seed": config.split_seed,
        "training_seconds": round(outcome.seconds, 3),
        "peak_memory_bytes": _peak_memory(),
        "notes": list(graph.notes),
        "device": config.device,
        "threads": config.threads,
        "versions": {
            "ugcl": version("ugcl"),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }


def _peak_memory() -> int | None:
    """The most memory that this process has held; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


class Log:
    """`log.jsonl`: one line for each epoch, written as it goes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, epochs_done: int) -> None:
        """Open for writing after the epochs that the checkpoint knows; later lines are dropped."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.is_file() else []
        write_text(self.path, "".join(line + "\n" for line in lines[:epochs_done]))
        self.stream = self.path.open("a", encoding="utf-8")

    def write(self, state: LoopState) -> None:
        """Write the line of an epoch."""
        line = {"epoch": state.epoch, "loss": state.loss, "seconds": round(state.seconds, 4)}
        if state.validation is not None:
            line["validation"] = state.validation
        self.stream.write(json.dumps(line) + "\n")
        self.stream.flush()

    def close(self) -> None:
        """Close the file, if it was opened."""
        if hasattr(self, "stream"):
            self.stream.close()
