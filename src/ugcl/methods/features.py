"""The controls `raw` and `smooth`: features as embeddings, without training.

What they score is what features and edges give for nothing, and what a method must beat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.graph import Graph
from ugcl.methods.method import Method
from ugcl.methods.model import Shape
from ugcl.methods.options import Auto, number, steps_or_auto
from ugcl.methods.presets import Preset
from ugcl.methods.scaled import ScaledModel, feature_scaling
from ugcl.methods.settings import Settings
from ugcl.scope import normalised_adjacency
from ugcl.views import FeatureScaling, smoothed


@dataclass(frozen=True)
class RawSettings(Settings):
    """How features are scaled."""

    feature_scaling: FeatureScaling = feature_scaling()


@dataclass(frozen=True)
class SmoothSettings(RawSettings):
    """How far they are smoothed."""

    scope: int | Auto = steps_or_auto("the power n of A^n X; auto: n chosen without labels")
    self_loops: float = number("weight of each node's edge to itself", minimum=0)


class Raw(ScaledModel):
    """X, scaled; sparse where X is."""

    def __init__(self, shape: Shape, settings: RawSettings, seed: int) -> None:
        super().__init__(shape.features, settings.feature_scaling)
        del seed  # there is nothing random in it
        self.settings = settings

    def embed(self, graph: Graph, device: torch.device | str) -> Any:
        """X."""
        del device
        return self.raw(graph)


class Smooth(Raw):
    """`A^n X`; sparse where few of its entries are not zero."""

    settings: SmoothSettings

    def embed(self, graph: Graph, device: torch.device | str) -> Any:
        """`A^n X`."""
        del device
        assert isinstance(self.settings.scope, int)
        adjacency = normalised_adjacency(graph.adjacency, self.settings.self_loops)
        ((_, embeddings),) = smoothed(adjacency, self.raw(graph), [self.settings.scope])
        return embeddings


_CO_AUTHORS = ("coauthor-cs", "coauthor-physics")

_RAW = {"feature_scaling": "none"}

RAW = Method(
    name="raw",
    kind="control",
    needs=("X",),
    scope="the node itself: the features as they are",
    inductive=True,
    paper="none: what the features give without a method",
    settings=RawSettings,
    presets={
        "fast": Preset(
            about="ours: chosen on validation nodes",
            base=_RAW,
            graphs={graph: {"feature_scaling": "tfidf"} for graph in _CO_AUTHORS},
            ours=frozenset(_RAW),
        )
    },
    build=Raw,
)

_SMOOTH = {"feature_scaling": "none", "scope": 2, "self_loops": 2.0}

SMOOTH = Method(
    name="smooth",
    kind="control",
    needs=("X", "A"),
    scope="A^n X",
    inductive=True,
    paper="none: what features and edges give without a method; SGC learns from the same",
    settings=SmoothSettings,
    presets={
        "fast": Preset(
            about="ours: chosen on validation nodes",
            base=_SMOOTH,
            graphs={
                "cora": {"feature_scaling": "tfidf", "scope": 5},
                "citeseer": {"scope": 5},
                "pubmed": {"scope": 5},
                "coauthor-cs": {"feature_scaling": "l2", "scope": 1},
                "coauthor-physics": {"feature_scaling": "tfidf", "scope": 1},
            },
            ours=frozenset(_SMOOTH),
        )
    },
    build=Smooth,
)
