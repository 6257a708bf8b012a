"""GGD's loss: classify each node as belonging to the graph or to a corrupted graph.

    L = -1/2S sum_v ( log sigmoid(1^T p(c_v)) + log(1 - sigmoid(1^T p(c'_v))) ),    p(c) = W c + b

with c the contextual view, which at the scope 0 is H, and c' that of the corrupted graph. Zheng et
al., "Rethinking and Scaling Up Graph Contrastive Learning: An Extremely Efficient Approach with
Group Discrimination", 2022, Equation 5.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ugcl.losses.loss import Batch, Loss, Pair


class GroupDiscrimination(Loss):
    """Binary cross entropy of the summed entries of a linear projection.

    `1^T (W c + b)` is computed as `(W^T 1) . c + 1^T b`, which costs O(S D') instead of O(S D'^2).

    Args:
        width: columns of H, and of the projection.
        generator: random generator of W and b.
    """

    contextual_negatives = True

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.empty(width))
        bound = 1 / math.sqrt(width)
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of one view."""
        assert pair.negative is not None
        direction, offset = self.weight.sum(dim=0), self.bias.sum()
        real, fake = (rows @ direction + offset for rows in (pair.context, pair.negative))
        return (softplus(-real).mean() + softplus(fake).mean()) / 2
