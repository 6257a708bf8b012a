"""Training: the loop, early stopping, checkpoints."""

from ugcl.training.checkpoint import Checkpoint, LoopState
from ugcl.training.device import resolve_device
from ugcl.training.loop import Outcome, check_trainable, train

__all__ = ["Checkpoint", "LoopState", "Outcome", "check_trainable", "resolve_device", "train"]
