"""Methods: each a choice of views, encoder, scope, loss and readout. Torch is not imported."""

from ugcl.methods.from_file import MethodFile, method_file
from ugcl.methods.from_package import package_of
from ugcl.methods.method import Method, Shape
from ugcl.methods.preset import DEFAULT_PRESET, Preset
from ugcl.methods.registry import METHODS, all_methods, get_method, method_reference, register
from ugcl.methods.settings import Settings, SSLSettings, TrainingSettings

__all__ = [
    "DEFAULT_PRESET",
    "METHODS",
    "Method",
    "MethodFile",
    "Preset",
    "SSLSettings",
    "Settings",
    "Shape",
    "TrainingSettings",
    "all_methods",
    "get_method",
    "method_file",
    "method_reference",
    "package_of",
    "register",
]
