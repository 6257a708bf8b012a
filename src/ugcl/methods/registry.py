"""The registry: a method that stands here works in Python, on the command line and in tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ugcl.errors import UGCLError
from ugcl.graph import Graph
from ugcl.methods.model import Model
from ugcl.methods.presets import UGCL_PRESETS, Preset, resolve
from ugcl.methods.settings import Settings
from ugcl.methods.ugcl import UGCLModel, UGCLSettings
from ugcl.suggest import unknown


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
    kind: str
    needs: tuple[str, ...]
    scope: str
    inductive: bool
    paper: str
    settings: type[Settings]
    presets: Mapping[str, Preset]
    build: Callable[[int, Any, int], Model]

    def resolve(self, preset: str, graph: Graph, given: Mapping[str, Any]) -> Settings:
        """The settings of a preset for a graph, with the user's own values in their place."""
        return resolve(self.settings, self.presets, preset, graph, given)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="ugcl",
            kind="contrastive",
            needs=("X", "A"),
            scope="A^n, n free",
            inductive=True,
            paper=(
                "Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual "
                "Scopes, ICDM 2022"
            ),
            settings=UGCLSettings,
            presets=UGCL_PRESETS,
            build=UGCLModel,
        ),
    )
}


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    if name in METHODS:
        return METHODS[name]
    raise UGCLError(unknown("method", name, METHODS))
