"""Models that see features, scaled."""

from __future__ import annotations

from abc import ABC
from typing import Any, get_args

import torch
from torch import Tensor

from ugcl.graph import Graph
from ugcl.methods.model import Model
from ugcl.methods.options import choice
from ugcl.views import FeatureScaling, inverse_frequency, scale_features


def feature_scaling() -> Any:
    """The setting of that name."""
    return choice(
        "features as they are, rows of L1 length 1, rows of L2 length 1, TF-IDF",
        get_args(FeatureScaling),
    )


class ScaledModel(Model, ABC):
    """A model that scales X, and remembers the TF-IDF weights of the graph that it is trained on.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
    """

    def __init__(self, num_features: int, scaling: FeatureScaling) -> None:
        super().__init__()
        self.scaling = scaling
        self.column_weights: Tensor | None
        weights = torch.zeros(num_features) if scaling == "tfidf" else None
        self.register_buffer("column_weights", weights)

    def prepare(self, graph: Graph) -> None:
        """Take on the graph's TF-IDF weights."""
        if self.column_weights is not None:
            self.column_weights.copy_(torch.from_numpy(inverse_frequency(graph.features)))

    def raw(self, graph: Graph) -> Any:
        """X, scaled as this model sees it: TF-IDF by the graph it was trained on."""
        held = self.column_weights
        weights = held.cpu().numpy() if held is not None and held.any() else None
        return scale_features(graph.features, self.scaling, weights)
