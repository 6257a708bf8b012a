"""The view of training that is the graph itself, with its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ugcl.scope import normalised_adjacency
from ugcl.views.augment import edge_ends
from ugcl.views.view import Sample, View, ViewSampler


class WithEdges(ViewSampler):
    """One view, the same in every epoch: the graph with its raw features and its edges.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR.
        self_loops: weight of the self-loops in the normalisation.
        seed: the training seed.
        device: where the view is used.
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
        self.seed = seed
        self.view = View.of(normalised_adjacency(adjacency, self_loops), features, device, raw=True)
        first, second = (torch.from_numpy(ends).to(device) for ends in edge_ends(adjacency))
        self.edges = first, second

    def draw(self, rng: np.random.Generator) -> Sample:
        """The graph."""
        return Sample((self.view,), rng, edges=self.edges)
