"""The graph, and corrupted copies whose nodes have the features of other nodes (DGI)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from ugcl._utils.memo import cached_on
from ugcl._utils.workspace import Workspace
from ugcl.scope import (
    diffusion,
    heat_coefficients,
    normalised_adjacency,
    pagerank_coefficients,
    with_self_loops,
)
from ugcl.typing import CSRMatrix, Device, Diffusion, Features
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.scaling import ScaledRows
from ugcl.views.view import View, views_of


class Corruption(ViewSampler):
    """The graph as the view, and the graph with shuffled rows of X as its corrupted version.

    Args:
        self_loops: weight of the self-loops in the normalisation.
        mask_features: probability that a column of X is masked, the same mask for both.
    """

    def __init__(self, *, self_loops: float, mask_features: float = 0.0) -> None:
        self.self_loops, self.mask_features = self_loops, mask_features

    def matrices(self, adjacency: CSRMatrix) -> Sequence[CSRMatrix]:
        """Return the matrix of each view; contexts are powers of the first."""
        return [normalised_adjacency(adjacency, self.self_loops)]

    def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
        """Build the views; X is stored once."""
        self.device = device
        self.views = views_of(self.matrices(adjacency), features, device, keep_features=True)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Shuffle the rows of X, and sample the feature mask. Cost: O(N + E)."""
        num_nodes, num_features = self.views[0].adjacency.shape[0], self.views[0].num_features
        order = torch.from_numpy(rng.permutation(num_nodes))
        mask = None
        if self.mask_features:
            kept = rng.random(num_features) >= self.mask_features
            mask = torch.from_numpy(kept.astype(np.float32)).to(self.device)
        views = tuple(replace(view, feature_mask=mask) for view in self.views)
        return Sample(views, corrupted=tuple(shuffle_features(view, order) for view in views))


class DiffusionViews(Corruption):
    """Two views, the normalised adjacency and its diffusion, each with its corrupted version.

    MVGRL's views. The diffusion is sparse: it keeps the entries that are among the `neighbours`
    largest of either of their two nodes.

    Args:
        kind: personalised PageRank or heat.
        teleport: restart probability of PageRank.
        heat_time: diffusion time of heat.
        neighbours: entries kept for each node.
        self_loops: weight of the self-loops in the normalisation.
    """

    def __init__(
        self,
        *,
        kind: Diffusion,
        teleport: float,
        heat_time: float,
        neighbours: int,
        self_loops: float,
    ) -> None:
        super().__init__(self_loops=self_loops)
        self.kind, self.teleport = kind, teleport
        self.heat_time, self.neighbours = heat_time, neighbours

    def matrices(self, adjacency: CSRMatrix) -> Sequence[CSRMatrix]:
        """Return the normalised adjacency and its diffusion, which is cached with the graph."""
        key = (
            *("diffusion", self.kind, self.teleport, self.heat_time),
            *(self.neighbours, self.self_loops),
        )

        def compute() -> CSRMatrix:
            pagerank = self.kind == "pagerank"
            coefficients = (
                pagerank_coefficients(self.teleport)
                if pagerank
                else heat_coefficients(self.heat_time)
            )
            looped = with_self_loops(adjacency, self.self_loops)
            return diffusion(looped, coefficients, self.neighbours)

        return [*super().matrices(adjacency), cached_on(adjacency, key, compute)]

    def inference_views(
        self,
        adjacency: CSRMatrix,
        features: Features | ScaledRows,
        device: Device,
        work: Workspace | None = None,
    ) -> tuple[View, ...]:
        """Return both views; their representations are added."""
        return views_of(self.matrices(adjacency), features, device)


def shuffle_features(view: View, order: Tensor) -> View:
    """Return the view in which node v has the features of node `order[v]`."""
    return replace(view, adjacency=view.adjacency.permute_columns(order), aggregated=None)
