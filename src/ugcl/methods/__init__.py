"""Methods: each a choice of views, encoder, scope, objective and readout, found by its name."""

from ugcl.methods.model import Model
from ugcl.methods.presets import DEFAULT_PRESET, Preset
from ugcl.methods.registry import METHODS, Method, method_named
from ugcl.methods.settings import Settings

__all__ = [
    "DEFAULT_PRESET",
    "METHODS",
    "Method",
    "Model",
    "Preset",
    "Settings",
    "method_named",
]
