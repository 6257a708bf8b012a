"""Checkpoints: one safetensors file with weights, optimizer and progress."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_safetensors
from ugcl._utils.formats import FormatError, check_format, from_json, is_finite
from ugcl.engine.callbacks import PROGRESS, Callback, TrainingState
from ugcl.engine.weights import check_tensor, digest, load_weights

FORMAT = 1
"""Version of the file's format; files without one are of development versions, without checksum."""


class Checkpoint(Callback):
    """Saves the state regularly and when training is stopped; the same fit resumes from the file.

    The file belongs to one method, settings, seed and graph. Saving takes at most a twentieth of
    the time.

    Args:
        path: the file.
        every: minimum number of seconds between two saves.
    """

    def __init__(self, path: Path, every: float = 2.0) -> None:
        self.path, self.every = path, every
        self.last_save, self.cost = time.monotonic(), 0.0

    def on_fit_start(self, state: TrainingState) -> None:
        """Load the file where it exists."""
        if self.path.is_file():
            self.load(state)

    def on_epoch_end(self, state: TrainingState) -> None:
        """Save regularly."""
        if time.monotonic() - self.last_save >= max(self.every, 20 * self.cost):
            self.save(state)

    def on_fit_end(self, state: TrainingState) -> None:
        """Save a run that was stopped on request."""
        if state.ended == "stopped":
            self.save(state)

    def save(self, state: TrainingState) -> None:
        """Save the state."""
        start = time.monotonic()
        tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
        moments = {} if state.optimizer is None else state.optimizer.state_dict()["state"]
        for index, values in moments.items():
            tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items()}
        metadata = {"progress": json.dumps(state.progress()), "fit": describe(state)}
        metadata |= {"sha256": digest(tensors, *metadata.values()), "format": str(FORMAT)}
        write_safetensors(self.path, tensors, metadata)
        self.last_save = time.monotonic()
        self.cost = self.last_save - start

    def load(self, state: TrainingState) -> None:
        """Load the file into the state."""
        try:
            self._load(state)
        except FormatError:
            raise
        except (KeyError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
            raise UGCLError(
                f"the checkpoint {self.path} cannot be read ({error}): delete it to start from the "
                "beginning"
            ) from error

    def _load(self, state: TrainingState) -> None:
        with safe_open(self.path, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if "format" in metadata:
            check_format(self.path, int(metadata["format"]), FORMAT)
            texts = metadata["progress"], metadata["fit"]
            if metadata["sha256"] != digest(tensors, *texts):
                raise ValueError("its contents have another checksum than it says")
        if metadata["fit"] != describe(state):
            raise ValueError("it is of another method, settings, seed or graph")
        progress = from_json(metadata["progress"])
        _check_progress(progress, state)
        weights: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Any]] = {}
        for key, value in tensors.items():
            owner, _, name = key.partition(".")
            if owner == "model":
                weights[name] = value
            else:
                index, _, name = name.partition(".")
                moments.setdefault(int(index), {})[name] = value
        if "format" not in metadata:
            _check_moments(moments, state, progress["epoch"])
        load_weights(state.model, weights)
        if state.optimizer is not None:
            groups = state.optimizer.state_dict()["param_groups"]
            state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        for name, value in progress.items():
            setattr(state, name, value)

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)


def describe(state: TrainingState) -> str:
    """Return the method, settings, seed and graph of a fit as text."""
    fit = {
        "method": state.method,
        "settings": state.settings.values(),
        "seed": state.seed,
        "graph": state.graph.fingerprint,
    }
    return json.dumps(fit, sort_keys=True)


def _check_progress(progress: Any, state: TrainingState) -> None:
    """Raise a `ValueError` unless the numbers are those of a training of so many epochs."""
    if not isinstance(progress, dict) or set(progress) != set(PROGRESS):
        raise ValueError("its progress is incomplete")
    for name, limit in (("epoch", state.epochs), ("stale", progress["epoch"])):
        value = progress[name]
        if type(value) is not int or not 0 <= value <= limit:
            raise ValueError(f"its {name} must be an integer from 0 to {limit}, not {value!r}")
    started = progress["epoch"] > 0
    for name in ("loss", "best", "validation_loss", "seconds"):
        value = progress[name]
        unknown = value is None and (name == "validation_loss" or (name == "loss" and not started))
        first = name == "best" and value == math.inf  # no loss was finite and lower yet
        if not (unknown or first or is_finite(value)):
            raise ValueError(f"its {name.replace('_', ' ')} must be a number, not {value!r}")


def _check_moments(moments: dict[int, dict[str, Any]], state: TrainingState, epoch: int) -> None:
    """Raise a `ValueError` unless these are Adam's moments of the model's weights."""
    groups = [] if state.optimizer is None else state.optimizer.param_groups
    parameters = [value for group in groups for value in group["params"]]
    if not set(moments) <= set(range(len(parameters))) or bool(moments) > bool(parameters):
        raise ValueError("its optimizer has other parameters")
    if epoch and parameters and not moments:
        raise ValueError("it has no state of the optimizer")
    names = [set(values) for values in moments.values()]
    if any(each != names[0] for each in names):
        raise ValueError("its state of the optimizer is incomplete")
    for index, values in moments.items():
        for name, value in values.items():
            expected = parameters[index] if value.ndim else value
            check_tensor(f"optimizer.{index}.{name}", value, expected)
