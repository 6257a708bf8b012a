"""GMI's loss: mutual information with the neighbours' features and with the edges.

    L = J(h, c) + gamma B(h)
    J = 1/S sum_v ( sp(-d(h_v, c_v)) + 1/K sum_k sp(d(h_v, c_k)) ),    d(h, c) = sigmoid(h . c)
    B = ( w sum_edges sp(-h_v . h_k) + sum_non-edges sp(h_v . h_k) ) / (S^2 - E),  w = (S^2 - E) / E

with h the patch view, c the contextual view of raw features, K other nodes k for each v, and
`sp(x) = log(1 + e^x)`; E is half the number of ones in `A + I`, and pairs are ordered. Peng et al.,
"Graph Representation Learning via Graphical Mutual Information Maximization", 2020; J is the
feature term, B the edge term, with the weights of the authors' code.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from ugcl.losses.loss import Batch, Edges, Loss, Pair
from ugcl.losses.pairs import all_pairs, bounded_curve, scores, softplus_curve

Count = int | Literal["all"]


class GMILoss(Loss):
    """Jensen-Shannon estimates of the mutual information of H with features and with edges.

    Args:
        edge_weight: gamma.
        negatives: K, how many other nodes' features each node is compared with, or "all".
        non_edges: random other nodes that each node is compared with in B, or "all". Edges among
            these pairs are subtracted again, so the estimate of B is unbiased.
    """

    def __init__(self, *, edge_weight: float, negatives: Count, non_edges: Count) -> None:
        super().__init__()
        self.edge_weight, self.negatives, self.non_edges = edge_weight, negatives, non_edges

    def forward(self, batch: Batch) -> Tensor:
        """Return the feature term and the weighted edge term."""
        feature_term = super().forward(batch)
        if not self.edge_weight:
            return feature_term
        assert batch.edges is not None
        terms = [self._edge_term(patch, batch.edges, batch.rng) for patch in batch.patches]
        return feature_term + self.edge_weight * torch.stack(terms).mean()

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the feature term J."""
        patch, context, size = pair.patch, pair.context, pair.patch.shape[0]
        positive = torch.sigmoid(torch.linalg.vecdot(patch, context))
        if self.negatives == "all" or self.negatives >= size - 1:
            negative = all_pairs(patch, context, bounded_curve) / (size * max(size - 1, 1))
        else:
            nodes, others = _sample_others(size, self.negatives, patch.device, batch.rng)
            negative = bounded_curve(scores(patch, context, nodes, others))[0].mean()
        return softplus(-positive).mean() + negative

    def _edge_term(self, patch: Tensor, edges: Edges, rng: np.random.Generator) -> Tensor:
        size, edge_scores = patch.shape[0], scores(patch, patch, *edges)
        half = edge_scores.numel() + size / 2
        self_scores = torch.linalg.vecdot(patch, patch)
        positive = 2 * softplus(-edge_scores).sum() + softplus(-self_scores).sum()
        if self.non_edges == "all" or self.non_edges >= size - 1:
            negative = all_pairs(patch, patch, softplus_curve)
        else:
            sampled = _sample_others(size, self.non_edges, patch.device, rng)
            sampled_scores = scores(patch, patch, *sampled)
            negative = softplus(sampled_scores).sum() * ((size - 1) / self.non_edges)
        negative = negative - 2 * softplus(edge_scores).sum()
        return positive / half + negative / (size**2 - half)


def _sample_others(
    size: int, count: int, device: torch.device, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Return each node `count` times, and as many random other nodes."""
    nodes = np.arange(size)[:, None]
    others = np.sort((nodes + rng.integers(1, size, (size, count))) % size, axis=1).ravel()
    repeated = np.repeat(np.arange(size), count)
    return torch.from_numpy(repeated).to(device), torch.from_numpy(others).to(device)
