"""Checkpoints: one safetensors file with weights, optimiser and the state of the loop."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import Module
from torch.optim import Optimizer

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic


@dataclass
class LoopState:
    """Where the training loop stands after an epoch.

    Attributes:
        epoch: epochs done.
        loss: the loss of the last of them.
        validation: the loss on validation nodes after it, where the method has them.
        best: the lowest loss so far, on validation nodes where there is one.
        stale: epochs since then.
        seconds: time spent in epochs so far.
    """

    epoch: int = 0
    loss: float | None = None
    validation: float | None = None
    best: float = float("inf")
    stale: int = 0
    seconds: float = 0.0


class Checkpoint:
    """A file that is written now and then, at a cost of at most a twentieth of the time.

    Args:
        path: the file.
        every: least number of seconds between two writes.
    """

    def __init__(self, path: Path, every: float = 2.0) -> None:
        self.path, self.every = path, every
        self.last, self.cost = time.monotonic(), 0.0

    def maybe_save(self, model: Module, optimizer: Optimizer | None, state: LoopState) -> None:
        """Save if it is time to."""
        if time.monotonic() - self.last >= max(self.every, 20 * self.cost):
            self.save(model, optimizer, state)

    def save(self, model: Module, optimizer: Optimizer | None, state: LoopState) -> None:
        """Save now."""
        start = time.monotonic()
        tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
        moments = {} if optimizer is None else optimizer.state_dict()["state"]
        for number, values in moments.items():
            tensors |= {f"optimiser.{number}.{name}": value for name, value in values.items()}
        tensors = {name: value.contiguous() for name, value in tensors.items()}
        with atomic(self.path) as temporary:
            save_file(tensors, temporary, metadata={"state": json.dumps(asdict(state))})
        self.last = time.monotonic()
        self.cost = self.last - start

    def load(self, model: Module, optimizer: Optimizer | None) -> LoopState:
        """Bring model and optimiser to where they were; a new state where there is no file."""
        if not self.path.is_file():
            return LoopState()
        try:
            return self._load(model, optimizer)
        except (KeyError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
            raise UGCLError(
                f"the checkpoint {self.path} cannot be read ({error}): delete it, and --resume "
                "starts from the beginning"
            ) from error

    def _load(self, model: Module, optimizer: Optimizer | None) -> LoopState:
        weights: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Any]] = {}
        with safe_open(self.path, framework="pt") as file:
            for key in file.keys():  # noqa: SIM118 (not a dictionary)
                owner, _, name = key.partition(".")
                if owner == "model":
                    weights[name] = file.get_tensor(key)
                else:
                    number, _, name = name.partition(".")
                    moments.setdefault(int(number), {})[name] = file.get_tensor(key)
            state = LoopState(**json.loads(file.metadata()["state"]))
        model.load_state_dict(weights)
        if optimizer is not None:
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments, "param_groups": groups})
        return state

    def remove(self) -> None:
        """Delete the file: the run is complete."""
        self.path.unlink(missing_ok=True)
