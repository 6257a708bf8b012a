"""The whole graph as the only view, with its edges."""

from __future__ import annotations

import numpy as np
import torch

from ugcl.scope import normalised_adjacency
from ugcl.typing import CSRMatrix, Device, Features
from ugcl.views.augmentation import undirected_edges
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.view import View


class FullGraph(ViewSampler):
    """One view, the same in every step: the graph with its features and its edges.

    Args:
        self_loops: weight of the self-loops in the normalisation.
    """

    def __init__(self, self_loops: float) -> None:
        self.self_loops = self_loops

    def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
        """Build the view and list the edges."""
        normalised = normalised_adjacency(adjacency, self.self_loops)
        view = View.of(normalised, features, device, keep_features=True)
        source, target = (torch.from_numpy(ends).to(device) for ends in undirected_edges(adjacency))
        self._sample = Sample((view,), edges=(source, target))

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return the graph; nothing is random."""
        return self._sample
