"""GMI's objective: representations tell their neighbourhood's features, and which nodes are joined.

    L = J(h, c) + gamma B(h)
    J = 1/S sum_v ( sp(-d(h_v, c_v)) + 1/K sum_k sp(d(h_v, c_k)) ),    d(h, c) = sigmoid(h . c)
    B = ( w sum_joined sp(-h_v . h_k) + sum_others sp(h_v . h_k) ) / (S^2 - E),    w = (S^2 - E) / E

with h the patch view, c the contextual view of raw features, K other nodes k for each v, and
`sp(x) = log(1 + e^x)`; E is half the number of ones in `A + I`, and pairs are ordered. Peng et al.,
"Graph Representation Learning via Graphical Mutual Information Maximization", 2020; J is the
feature term, B the edge term, with the weights of the authors' code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from ugcl.losses.loss import Edges, Loss
from ugcl.losses.pairs import all_pairs, bounded_curve, scores, softplus_curve

Count = int | Literal["all"]


class GMILoss(Loss):
    """The Jensen-Shannon estimates of what H knows of features and of edges.

    Args:
        edge_weight: gamma.
        negatives: K, how many other nodes' features each node is compared with, or "all".
        non_edges: how many other nodes each node's edges are compared with, or "all". The pairs
            that are joined among them are taken off again, so that B is estimated without bias.
    """

    def __init__(self, *, edge_weight: float, negatives: Count, non_edges: Count) -> None:
        super().__init__()
        self.edge_weight, self.negatives, self.non_edges = edge_weight, negatives, non_edges

    def forward(
        self,
        pairs: Sequence[tuple[Tensor, Tensor]],
        corrupted: Sequence[Tensor],
        rng: np.random.Generator,
        edges: Edges | None = None,
    ) -> Tensor:
        """The feature term of all pairs and the edge term of all patches."""
        features = super().forward(pairs, corrupted, rng)
        if not self.edge_weight:
            return features
        assert edges is not None
        of_edges = [self._edge_term(patch, edges, rng) for patch, _ in pairs]
        return features + self.edge_weight * torch.stack(of_edges).mean()

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The feature term."""
        del corrupted
        own = torch.sigmoid(torch.linalg.vecdot(patch, context))
        size = patch.shape[0]
        if self.negatives == "all" or self.negatives >= size - 1:
            others = all_pairs(patch, context, bounded_curve) / (size * max(size - 1, 1))
        else:
            nodes, drawn = _drawn(size, self.negatives, patch.device, rng)
            others = bounded_curve(scores(patch, context, nodes, drawn))[0].mean()
        return softplus(-own).mean() + others

    def _edge_term(self, patch: Tensor, edges: Edges, rng: np.random.Generator) -> Tensor:
        size, joined = patch.shape[0], scores(patch, patch, *edges)
        half = joined.numel() + size / 2
        own = torch.linalg.vecdot(patch, patch)
        together = 2 * softplus(-joined).sum() + softplus(-own).sum()
        if self.non_edges == "all" or self.non_edges >= size - 1:
            apart = all_pairs(patch, patch, softplus_curve)
        else:
            found = scores(patch, patch, *_drawn(size, self.non_edges, patch.device, rng))
            apart = softplus(found).sum() * ((size - 1) / self.non_edges)
        apart = apart - 2 * softplus(joined).sum()
        return together / half + apart / (size**2 - half)


def _drawn(
    size: int, count: int, device: torch.device, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Each node as often as asked, and as many random others."""
    nodes = np.arange(size)[:, None]
    others = np.sort((nodes + rng.integers(1, size, (size, count))) % size, axis=1).ravel()
    repeated = np.repeat(np.arange(size), count)
    return torch.from_numpy(repeated).to(device), torch.from_numpy(others).to(device)
