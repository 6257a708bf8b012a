"""The views of training: the graph, and a corrupted one whose nodes have each other's features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ugcl.views.view import Sample, View, ViewSampler, side_by_side


class Corrupter(ViewSampler):
    """The graph itself, and the graph with the rows of X in random order.

    With several adjacencies there are as many views, each with its corrupted one; contexts in all
    of them are powers of the first.

    Args:
        adjacencies: the normalised adjacency, and perhaps other matrices of the same nodes.
        features: X, scaled, dense or CSR; it is held once, and rows move by the adjacency's
            columns.
        mask_features: the probability that a column of X is masked, in all views alike.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        adjacencies: Sequence[Any],
        features: Any,
        *,
        mask_features: float = 0.0,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.seed, self.device, self.mask_features = seed, device, mask_features
        self.views = side_by_side(adjacencies, features, device, raw=True)

    def draw(self, rng: np.random.Generator) -> Sample:
        """Shuffle the rows of X. Cost: O(N + E)."""
        nodes, columns = self.views[0].adjacency.shape[0], self.views[0].num_features
        order = torch.from_numpy(rng.permutation(nodes))
        mask = None
        if self.mask_features:
            kept = rng.random(columns) >= self.mask_features
            mask = torch.from_numpy(kept.astype(np.float32)).to(self.device)
        views = tuple(replace(view, mask=mask) for view in self.views)
        return Sample(views, rng, corrupted=tuple(shuffled(view, order) for view in views))


def shuffled(view: View, order: Tensor) -> View:
    """The view in which node v has the features of node `order[v]`."""
    return replace(view, adjacency=view.adjacency.of_others(order), aggregated=None)
