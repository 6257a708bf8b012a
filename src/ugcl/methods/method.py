"""A method: how to build it, its settings, and what a user wants to know before choosing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from ugcl.graph import Graph
from ugcl.methods.model import Model
from ugcl.methods.presets import Preset, preset_named, resolve
from ugcl.methods.recipe import Recipe, RecipeModel, RecipeSettings
from ugcl.methods.settings import Settings

Kind = Literal["contrastive", "unsupervised", "supervised", "control"]

S = TypeVar("S", bound=RecipeSettings)


@dataclass(frozen=True)
class Method:
    """A method and what a user wants to know before choosing it.

    Attributes:
        name: what the command line and the registry call it.
        kind: contrastive, unsupervised, supervised or control.
        needs: the data it trains on: X (features), A (adjacency), Y (labels).
        scope: its contextual scope.
        inductive: whether it can embed nodes that it was not trained on.
        paper: where it was published.
        settings: the class of its settings.
        presets: named settings.
        build: the untrained model from the number of features, the settings and the seed.
    """

    name: str
    kind: Kind
    needs: tuple[str, ...]
    scope: str
    inductive: bool
    paper: str
    settings: type[Settings]
    presets: Mapping[str, Preset]
    build: Callable[[int, Any, int], Model]

    @classmethod
    def of(
        cls,
        recipe: Recipe[S],
        settings: type[S],
        presets: Mapping[str, Preset],
        *,
        name: str,
        scope: str,
        paper: str,
    ) -> Method:
        """The contrastive method of a recipe: it needs X and A, and embeds any graph."""
        return cls(
            name=name,
            kind="contrastive",
            needs=("X", "A"),
            scope=scope,
            inductive=True,
            paper=paper,
            settings=settings,
            presets=presets,
            build=partial(RecipeModel, recipe),
        )

    def readout_follows(self, preset: str) -> bool:
        """Whether the scope of the readout is that of training unless the user names it."""
        return "readout_scope" not in preset_named(self.presets, preset).base

    def resolve(self, preset: str, graph: Graph, given: Mapping[str, Any]) -> Settings:
        """The settings of a preset for a graph, with the user's own values in their place."""
        return resolve(self.settings, self.presets, preset, graph, given)
