"""The control `untrained`: any recipe after no step of training.

The encoder has its random weights, the readout is that of the recipe. What it scores beside a
trained run tells how much of the score the architecture gives, and how much the training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.suggest import unknown
from ugcl.graph import Graph
from ugcl.methods.known import METHODS, method_named
from ugcl.methods.method import Method
from ugcl.methods.model import Model, Shape
from ugcl.methods.options import Option
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import RecipeSettings
from ugcl.methods.settings import Settings, TrainedSettings

DEFAULT_RECIPE = "ugcl"

NO_TRAINING = {"epochs": 0, "lr": 1.0, "patience": 0}
"""What stands in a recipe's settings for those of training."""


def recipes() -> list[str]:
    """The methods that can be left untrained."""
    return [name for name, method in METHODS.items() if issubclass(method.settings, RecipeSettings)]


def _recipe(name: Any) -> str:
    if name not in recipes():
        raise UGCLError(unknown("recipe", str(name), recipes()))
    return str(name)


RECIPE = Option("the method that is left untrained", "a method", _recipe, "METHOD")


@dataclass(frozen=True)
class UntrainedSettings(Settings):
    """A recipe and its own settings, without those of training."""

    recipe: str
    of: RecipeSettings

    def __post_init__(self) -> None:
        """Both have been checked."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Settings from names and values: `recipe`, and all that the recipe has but training."""
        others = dict(values)
        recipe = _recipe(others.pop("recipe", DEFAULT_RECIPE))
        settings = method_named(recipe).settings.from_values(others | NO_TRAINING)
        assert isinstance(settings, RecipeSettings)
        return cls(recipe, settings)

    def values(self) -> dict[str, Any]:
        """All settings by name."""
        own = {k: value for k, value in self.of.values().items() if k not in NO_TRAINING}
        return {"recipe": self.recipe, **own}

    def replace(self, **changes: Any) -> Self:
        """The same settings but for these changes."""
        return type(self).from_values(self.values() | changes)

    def fitted(self, graph: Graph, given: frozenset[str]) -> Self:
        """As the recipe's are fitted."""
        return type(self)(self.recipe, self.of.fitted(graph, given))


class Untrained(Method):
    """A method whose settings are those of another, which one of them names."""

    def options(self, given: Mapping[str, Any] | None = None) -> dict[str, Option]:
        """The recipe, and what it can be given but for training."""
        recipe = _recipe((given or {}).get("recipe") or DEFAULT_RECIPE)
        own = method_named(recipe).options()
        training = {field.name for field in fields(TrainedSettings)}
        return {"recipe": RECIPE} | {k: o for k, o in own.items() if k not in training}

    def readout_follows(self, preset: str, stored: Mapping[str, Any] | None = None) -> bool:
        """As for the recipe."""
        return method_named((stored or {}).get("recipe", DEFAULT_RECIPE)).readout_follows(preset)

    def resolve(self, preset: str, graph: Graph, given: Mapping[str, Any]) -> Settings:
        """The recipe's settings of a preset for a graph."""
        self.refuse_training(given)
        others = dict(given)
        recipe = _recipe(others.pop("recipe", DEFAULT_RECIPE))
        if library := method_named(recipe).library:
            required(library, recipe)
        settings = method_named(recipe).resolve(preset, graph, others | {"epochs": 0})
        assert isinstance(settings, RecipeSettings)
        return UntrainedSettings(recipe, settings.replace(**NO_TRAINING))


def _build(shape: Shape, settings: UntrainedSettings, seed: int) -> Model:
    return method_named(settings.recipe).build(shape, settings.of, seed)


UNTRAINED = Untrained(
    name="untrained",
    kind="control",
    needs=("X", "A"),
    scope="that of the recipe",
    inductive=True,
    paper="none: the recipe's encoder with random weights",
    settings=UntrainedSettings,
    presets={
        name: Preset(about=f"those of the recipe's '{name}'", base={"recipe": DEFAULT_RECIPE})
        for name in ("fast", "paper", "authors")
    },
    build=_build,
)
