"""The views of training: the graph, and a corrupted one whose nodes have each other's features."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views.features import dense_if_crowded
from ugcl.views.view import Drawn, View, Views, features_on


class Corrupter(Views):
    """The graph itself, and the graph with the rows of X in random order.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR.
        self_loops: weight of the self-loops in the normalisation.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        adjacency: Any,
        features: Any,
        *,
        self_loops: float,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.seed, self.device = seed, device
        self.features = dense_if_crowded(features)
        normalised = normalised_adjacency(adjacency, self_loops)
        self.view = View.of(normalised, self.features, device)

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Shuffle the rows of X. Cost: O(entries of X)."""
        shuffled = features_on(self.features[rng.permutation(self.features.shape[0])], self.device)
        held: SparseMatrix = self.view.adjacency
        return Drawn((self.view,), rng, corrupted=View(held, shuffled, None, held))
