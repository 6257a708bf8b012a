"""A method: how to build it, its settings, and what a user wants to know before choosing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl.graph import Graph
from ugcl.methods.model import Model, Shape
from ugcl.methods.options import Option, flag, option_of
from ugcl.methods.presets import Preset, preset_named, resolve
from ugcl.methods.recipe import Recipe, RecipeModel, RecipeSettings
from ugcl.methods.settings import Settings, TrainedSettings

Kind = Literal["contrastive", "unsupervised", "supervised", "control"]

S = TypeVar("S", bound=RecipeSettings)


@dataclass(frozen=True)
class Method:
    """A method and what a user wants to know before choosing it.

    Attributes:
        name: what the command line and the registry call it.
        kind: contrastive, unsupervised, supervised or control.
        needs: the data it goes by: X (features), A (adjacency), Y (labels).
        scope: its contextual scope.
        inductive: whether it can embed nodes that it was not trained on.
        paper: where it was published.
        settings: the class of its settings.
        presets: named settings.
        build: the untrained model from the graph's shape, the settings and the seed.
        weighs_edges: whether edge weights count.
        library: what it is built on and the package does without; "" for nothing.
    """

    name: str
    kind: Kind
    needs: tuple[str, ...]
    scope: str
    inductive: bool
    paper: str
    settings: type[Settings]
    presets: Mapping[str, Preset]
    build: Callable[[Shape, Any, int], Model]
    weighs_edges: bool = True
    library: str = ""

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
        kind: Kind = "contrastive",
        library: str = "",
    ) -> Method:
        """The method of a recipe: it needs X and A, and embeds any graph."""
        return cls(
            name=name,
            kind=kind,
            needs=("X", "A"),
            scope=scope,
            inductive=True,
            paper=paper,
            settings=settings,
            presets=presets,
            build=lambda shape, chosen, seed: RecipeModel(recipe, shape.features, chosen, seed),
            library=library,
        )

    @property
    def trained(self) -> bool:
        """Whether it takes training steps."""
        return self.kind != "control"

    @property
    def supervised(self) -> bool:
        """Whether it learns from labels."""
        return "Y" in self.needs

    def options(self, given: Mapping[str, Any] | None = None) -> dict[str, Option]:
        """The settings that a user may give, where these are given."""
        del given
        return {field.name: option_of(field) for field in fields(self.settings)}

    def readout_follows(self, preset: str, stored: Mapping[str, Any] | None = None) -> bool:
        """Whether the scope of the readout is that of training unless the user names it.

        Args:
            preset: the preset.
            stored: the settings of a run, where it is about one.
        """
        del stored
        return "readout_scope" not in preset_named(self.presets, preset).base

    def resolve(self, preset: str, graph: Graph, given: Mapping[str, Any]) -> Settings:
        """The settings of a preset for a graph, with the user's own values in their place."""
        self.refuse_training(given)
        return resolve(self.settings, self.presets, preset, graph, given)

    def refuse_training(self, given: Mapping[str, Any]) -> None:
        """Tell a user who wants to train what is not trained."""
        training = [field.name for field in fields(TrainedSettings) if field.name in given]
        if training and not self.trained:
            raise UGCLError(
                f"{self.name} is a control and takes no training steps: leave out "
                f"{flag(training[0])}"
            )

    def check(self, graph: Graph) -> None:
        """Refuse a graph that has nothing to learn from, and a library that is missing."""
        if self.library:
            required(self.library, self.name)
        if "A" in self.needs:
            _check_edges(graph)
        if self.supervised:
            self.check_labels(graph)
            _check_split(graph, self.name)

    def check_labels(self, graph: Graph) -> None:
        """Refuse a graph that has no labels to learn from."""
        if graph.num_classes < 2:
            found = "are all of one class" if graph.num_classes else "are missing"
            raise UGCLError(
                f"{self.name} learns from labels and those of this graph {found}: give the same "
                "graph with labels, or use a method that needs none (ugcl methods)"
            )


def _check_edges(graph: Graph) -> None:
    if graph.num_nodes < 2:
        raise UGCLError(
            "the graph has one node, and there is nothing to tell it from: give a graph with at "
            "least 2 nodes"
        )
    if graph.num_edges == 0:
        raise UGCLError(
            "the graph has no edges, so a node has no surroundings and there is nothing to learn "
            "from: check the edges, or use the features as they are (--method raw)"
        )


def _check_split(graph: Graph, name: str) -> None:
    for part, use in (("train", "to learn from"), ("val", "to stop by")):
        if part not in graph.splits or graph.splits[part].size == 0:
            raise UGCLError(
                f"{name} needs labelled nodes {use}, but the graph's split has no '{part}' nodes: "
                "give it some, or take a random split (--split-seed)"
            )
