"""Checkpoints: one safetensors file with weights, optimizer and progress."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic
from ugcl.engine.callbacks import PROGRESS, Callback, TrainingState


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
        tensors = {name: value.contiguous() for name, value in tensors.items()}
        with atomic(self.path) as temporary:
            metadata = {"progress": json.dumps(state.progress()), "fit": _describe(state)}
            save_file(tensors, temporary, metadata=metadata)
        self.last_save = time.monotonic()
        self.cost = self.last_save - start

    def load(self, state: TrainingState) -> None:
        """Load the file into the state."""
        try:
            self._load(state)
        except (KeyError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
            raise UGCLError(
                f"the checkpoint {self.path} cannot be read ({error}): delete it to start from the "
                "beginning"
            ) from error

    def _load(self, state: TrainingState) -> None:
        weights: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Any]] = {}
        with safe_open(self.path, framework="pt") as file:
            for key in file.keys():  # noqa: SIM118 (not a dictionary)
                owner, _, name = key.partition(".")
                if owner == "model":
                    weights[name] = file.get_tensor(key)
                else:
                    index, _, name = name.partition(".")
                    moments.setdefault(int(index), {})[name] = file.get_tensor(key)
            metadata = file.metadata()
            progress = json.loads(metadata["progress"])
        if metadata["fit"] != _describe(state):
            raise ValueError("it is of another method, settings, seed or graph")
        if set(progress) != set(PROGRESS):
            raise ValueError("its progress is incomplete")
        state.model.load_state_dict(weights)
        if state.optimizer is not None:
            groups = state.optimizer.state_dict()["param_groups"]
            state.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        for name, value in progress.items():
            setattr(state, name, value)

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)


def _describe(state: TrainingState) -> str:
    """Return the method, settings, seed and graph of a fit as text."""
    fit = {
        "method": state.method,
        "settings": state.settings.values(),
        "seed": state.seed,
        "graph": state.graph.fingerprint,
    }
    return json.dumps(fit, sort_keys=True)
