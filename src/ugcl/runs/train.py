"""Training into a run folder."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import cannot_write, remove_temporaries, write_npy, write_text
from ugcl._utils.locks import LOCK, locked
from ugcl._utils.provenance import source_commit
from ugcl._utils.workspace import Progress
from ugcl.engine import Callback, Checkpoint, Fitted, TrainingState, diagnose_collapse, fit
from ugcl.engine.ranks import current
from ugcl.engine.streaming import streamed
from ugcl.methods import package_of
from ugcl.runs.log import LOG, read_log
from ugcl.runs.manifest import MANIFEST
from ugcl.runs.preparation import Prepared
from ugcl.runs.run import CONFIG, HELD_OUT, TRAINING, Run
from ugcl.runs.save import save_results

CHECKPOINT = "checkpoint.safetensors"

PARTIAL = "embeddings.partial"
"""The folder of embeddings that are being computed and do not fit into memory."""


def open_run(
    out: str | Path, prepared: Prepared, *, resume: bool = False, wait: bool = False
) -> Run:
    """Create the run folder, or open the existing one.

    Args:
        out: the folder.
        prepared: the run.
        resume: open the folder where it exists; it must be of the same run.
        wait: wait for another process that creates it, instead of raising an error.
    """
    config, size = prepared.config, current().size
    config.load_method().check(prepared.training_graph)
    folder = Path(out)
    run = Run.open(folder) if resume and (folder / CONFIG).is_file() else None
    finished = run is not None and run.finished
    if config.world_size != size and not finished:
        raise UGCLError(
            f"the run is one of {config.world_size} ranks, not of {size}: start it by torchrun "
            f"--nproc-per-node={config.world_size}, or train another run"
        )
    if run is None:
        return Run.create(folder, config, wait=wait)
    if finished:
        config = replace(config, device=run.config.device, threads=run.config.threads)
    if difference := run.config.difference(config):
        raise UGCLError(
            f"{out} was created with different settings and cannot be resumed with {difference}: "
            "leave that out, or choose another `out`"
        )
    return run


def train_run(
    run: Run,
    prepared: Prepared,
    callbacks: Sequence[Callback] = (),
    *,
    wait: bool = False,
    progress: Progress | None = None,
) -> Fitted | None:
    """Train a run to its end, from its checkpoint where it has one.

    No other process may train into the folder meanwhile.

    Of several ranks, rank 0 calls this and the others call `follow_run`.

    Args:
        run: the run.
        prepared: what `open_run` took.
        callbacks: called during training.
        wait: wait for another process that trains into the folder, instead of raising an error.
        progress: called while embeddings that do not fit into memory are computed.

    Returns:
        The result of the fit; None for a run that was finished before. A run that was stopped has
        a checkpoint and no results.
    """
    if not run.finished or (run.path / LOCK).is_file():  # or killed at its very end
        with locked(run.path, TRAINING, wait=wait):
            if not run.finished:
                return _train(run, prepared, callbacks, progress)
    current().share(False)
    if (checkpoint := run.path / CHECKPOINT).is_file():
        checkpoint.unlink()
    shutil.rmtree(run.path / PARTIAL, ignore_errors=True)
    remove_temporaries(run.path)
    run.check_files()
    return None


def follow_run(prepared: Prepared) -> None:
    """Train a run with rank 0, which calls `train_run`, and write nothing."""
    config = prepared.config
    if current().share(False):
        torch.set_num_threads(config.threads)
        fit(
            config.load_method(),
            prepared.training_graph,
            settings=config.settings,
            seed=config.seed,
            device=config.device,
        )


def _train(
    run: Run, prepared: Prepared, callbacks: Sequence[Callback], progress: Progress | None
) -> Fitted:
    remove_temporaries(run.path)
    (run.path / MANIFEST).unlink(missing_ok=True)
    run.copy_method()
    config, graph = run.config, prepared.training_graph
    torch.set_num_threads(config.threads)
    if prepared.held_out.size:
        write_npy(run.path / HELD_OUT, prepared.held_out)
    checkpoint = Checkpoint(run.path / CHECKPOINT)
    commit = source_commit()
    started = time.perf_counter()
    current().share(True)
    fitted = fit(
        config.load_method(),
        graph,
        settings=config.settings,
        seed=config.seed,
        device=config.device,
        callbacks=[checkpoint, JSONLog(run.path / LOG), *callbacks],
    )
    if fitted.ended == "stopped":
        return fitted
    with streamed(
        fitted.model,
        graph,
        fitted.settings,
        device=fitted.device,
        folder=run.path / PARTIAL,
        progress=progress,
    ) as embeddings:
        metrics = {
            **_metrics(run, prepared, fitted),
            "session_seconds": round(time.perf_counter() - started, 3),
            "commit": commit,
            "collapse": asdict(diagnose_collapse(embeddings, graph.adjacency)),
        }
        predictions = None
        if fitted.method.supervised:
            predictions = fitted.predict_proba(graph).argmax(axis=1)
        save_results(run, graph, fitted.model, embeddings, metrics, predictions)
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
        lines = []
        if state.epoch:
            try:
                lines = read_log(self.path, state.epoch)
            except (OSError, ValueError) as error:
                raise UGCLError(
                    f"{self.path} is not the log of the {state.epoch} epochs of the checkpoint "
                    f"({error}): delete checkpoint.safetensors beside it to train from the "
                    "beginning"
                ) from error
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self.stream = self.path.open("a", encoding="utf-8")

    def on_epoch_end(self, state: TrainingState) -> None:
        """Write the line of the epoch."""
        line = {"epoch": state.epoch, "loss": state.loss, "seconds": round(state.seconds, 4)}
        if state.validation_loss is not None:
            line["validation"] = state.validation_loss
        try:
            self.stream.write(json.dumps(line) + "\n")
            self.stream.flush()
        except OSError as error:
            raise UGCLError(cannot_write(self.path, error)) from error

    def on_fit_end(self, state: TrainingState) -> None:
        """Close the file."""
        try:
            self.stream.close()
        except OSError as error:  # once more, of the line that could not be written
            raise UGCLError(cannot_write(self.path, error)) from error
