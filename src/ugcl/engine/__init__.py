"""Training: `fit`, callbacks, checkpoints, devices."""

from ugcl.engine.callbacks import Callback, EarlyStopping, History, TrainingState
from ugcl.engine.checkpoint import Checkpoint
from ugcl.engine.collapse import Collapse, diagnose_collapse
from ugcl.engine.device import resolve_device
from ugcl.engine.fit import Trainer, fit
from ugcl.engine.fitted import Fitted
from ugcl.engine.memory import keep_memory
from ugcl.engine.resolve import resolve_settings
from ugcl.engine.storage import load_fitted, save_fitted

__all__ = [
    "Callback",
    "Checkpoint",
    "Collapse",
    "EarlyStopping",
    "Fitted",
    "History",
    "Trainer",
    "TrainingState",
    "diagnose_collapse",
    "fit",
    "keep_memory",
    "load_fitted",
    "resolve_device",
    "resolve_settings",
    "save_fitted",
]
