"""Training: the loop, early stopping, checkpoints."""

from ugcl.training.checkpoint import Checkpoint, LoopState
from ugcl.training.device import resolve_device
from ugcl.training.loop import Outcome, new_optimiser, step, train
from ugcl.training.memory import kept_memory

__all__ = [
    "Checkpoint",
    "LoopState",
    "Outcome",
    "kept_memory",
    "new_optimiser",
    "resolve_device",
    "step",
    "train",
]
