"""Training into a run folder."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_npy, write_text
from ugcl._utils.provenance import source_commit
from ugcl.engine import Callback, Checkpoint, Fitted, TrainingState, diagnose_collapse, fit
from ugcl.methods import package_of
from ugcl.runs.preparation import Prepared
from ugcl.runs.run import HELD_OUT, Run


def open_run(out: str | Path, prepared: Prepared, *, resume: bool = False) -> Run:
    """Create the run folder, or with `resume` open the existing one, which must be the same run."""
    config = prepared.config
    config.load_method().check(prepared.training_graph)
    folder = Path(out)
    if not resume or not (folder / "config.toml").is_file():
        return Run.create(folder, config)
    run = Run.open(folder)
    if run.finished:
        config = replace(config, device=run.config.device, threads=run.config.threads)
    if difference := run.config.difference(config):
        raise UGCLError(
            f"{out} was created with different settings and cannot be resumed with {difference}: "
            "leave that out, or choose another `out`"
        )
    return run


def train_run(run: Run, prepared: Prepared, callbacks: Sequence[Callback] = ()) -> Fitted | None:
    """Train a run to its end, from its checkpoint where it has one.

    Returns:
        The result of the fit; None for a run that was finished before. A run that was stopped has
        a checkpoint and no results.
    """
    if run.finished:
        return None
    config, graph = run.config, prepared.training_graph
    torch.set_num_threads(config.threads)
    if prepared.held_out.size:
        write_npy(run.path / HELD_OUT, prepared.held_out)
    checkpoint = Checkpoint(run.path / "checkpoint.safetensors")
    commit = source_commit()
    started = time.perf_counter()
    fitted = fit(
        config.load_method(),
        graph,
        settings=config.settings,
        seed=config.seed,
        device=config.device,
        callbacks=[checkpoint, JSONLog(run.path / "log.jsonl"), *callbacks],
    )
    if fitted.ended == "stopped":
        return fitted
    embeddings = fitted.embed(graph)
    metrics = {
        **_metrics(run, prepared, fitted),
        "session_seconds": round(time.perf_counter() - started, 3),
        "commit": commit,
        "collapse": asdict(diagnose_collapse(embeddings, graph.adjacency)),
    }
    predictions = None
    if fitted.method.supervised:
        predictions = fitted.predict_proba(graph).argmax(axis=1)
    run.save_results(graph, fitted.model, embeddings, metrics, predictions)
    checkpoint.remove()
    return fitted


def _metrics(run: Run, prepared: Prepared, fitted: Fitted) -> dict[str, Any]:
    config, graph = run.config, prepared.training_graph
    settings = config.settings.values()
    package = package_of(fitted.method)
    return {
        "method": config.method,
        "graph": config.graph,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "seed": config.seed,
        "scope": settings.get("scope"),
        "readout_scope": settings.get("readout_scope"),
        "scope_choice": config.scope_choice or None,
        "epochs": fitted.epochs,
        "ended": fitted.ended,
        "loss": fitted.loss,
        "hold_out_edges": config.hold_out_edges,
        "split": config.split or None,
        "split_seed": config.split_seed,
        "training_seconds": round(fitted.seconds, 3),
        "peak_memory_bytes": _peak_memory(),
        "notes": list(graph.notes),
        "device": config.device,
        "threads": config.threads,
        "versions": {
            "ugcl": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
            **({} if package is None else {package.name: package.version}),
        },
    }


def _peak_memory() -> int | None:
    """Return the peak memory of this process; None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


class JSONLog(Callback):
    """Writes `log.jsonl`, one line for each epoch.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_fit_start(self, state: TrainingState) -> None:
        """Open the file after the epochs of the checkpoint; later lines are dropped."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.is_file() else []
        write_text(self.path, "".join(line + "\n" for line in lines[: state.epoch]))
        self.stream = self.path.open("a", encoding="utf-8")

    def on_epoch_end(self, state: TrainingState) -> None:
        """Write the line of the epoch."""
        line = {"epoch": state.epoch, "loss": state.loss, "seconds": round(state.seconds, 4)}
        if state.validation_loss is not None:
            line["validation"] = state.validation_loss
        self.stream.write(json.dumps(line) + "\n")
        self.stream.flush()

    def on_fit_end(self, state: TrainingState) -> None:
        """Close the file."""
        self.stream.close()
