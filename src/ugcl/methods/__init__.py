"""Methods: each a choice of views, encoder, scope, objective and readout, found by its name."""

from ugcl.methods.method import Method
from ugcl.methods.model import Model, Predictor, Shape
from ugcl.methods.presets import DEFAULT_PRESET, Preset
from ugcl.methods.recipe import Recipe, RecipeModel, RecipeSettings
from ugcl.methods.registry import METHODS, method_named, register
from ugcl.methods.settings import Settings, TrainedSettings

__all__ = [
    "DEFAULT_PRESET",
    "METHODS",
    "Method",
    "Model",
    "Predictor",
    "Preset",
    "Recipe",
    "RecipeModel",
    "RecipeSettings",
    "Settings",
    "Shape",
    "TrainedSettings",
    "method_named",
    "register",
]
