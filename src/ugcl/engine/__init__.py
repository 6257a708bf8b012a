"""Training: the loop, early stopping, checkpoints."""

from ugcl.engine.checkpoint import Checkpoint, LoopState
from ugcl.engine.collapse import Collapse, diagnose_collapse
from ugcl.engine.device import resolve_device
from ugcl.engine.loop import Outcome, new_optimizer, step, train
from ugcl.engine.memory import kept_memory

__all__ = [
    "Checkpoint",
    "Collapse",
    "LoopState",
    "Outcome",
    "diagnose_collapse",
    "kept_memory",
    "new_optimizer",
    "resolve_device",
    "step",
    "train",
]
