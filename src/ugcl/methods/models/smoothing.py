"""Features as embeddings, without training."""

from __future__ import annotations

from ugcl.graph import Graph
from ugcl.methods.models.model import ScaledModel
from ugcl.scope import normalised_adjacency
from ugcl.typing import Device, Embeddings, FeatureScaling
from ugcl.views import fast_smooth_features


class SmoothedFeatures(ScaledModel):
    """`A^n X`, sparse where few of its entries are not zero; n = 0 gives X itself.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
        power: n.
        self_loops: weight of the self-loops in the normalised adjacency.
    """

    def __init__(
        self, num_features: int, scaling: FeatureScaling, power: int = 0, self_loops: float = 1.0
    ) -> None:
        super().__init__(num_features, scaling)
        self.power, self.self_loops = power, self_loops

    def embed(self, graph: Graph, device: Device) -> Embeddings:
        """Return `A^n X`, computed on the CPU."""
        features = self.scaled(graph)
        if self.power == 0:
            return features
        adjacency = normalised_adjacency(graph.adjacency, self.self_loops)
        ((_, embeddings),) = fast_smooth_features(adjacency, features, [self.power])
        return embeddings
