"""Methods: each a choice of views, encoder, scope, loss and readout. Torch is not imported."""

from ugcl.methods.method import Method, Shape
from ugcl.methods.preset import DEFAULT_PRESET, Preset
from ugcl.methods.registry import METHODS, get_method, register
from ugcl.methods.settings import Settings, SSLSettings, TrainingSettings

__all__ = [
    "DEFAULT_PRESET",
    "METHODS",
    "Method",
    "Preset",
    "SSLSettings",
    "Settings",
    "Shape",
    "TrainingSettings",
    "get_method",
    "register",
]
