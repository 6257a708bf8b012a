"""GGD's objective: tell the nodes of the graph from those of a corrupted one, each by itself.

    L = -1/2S sum_v ( log sigmoid(1^T p(c_v)) + log(1 - sigmoid(1^T p(c'_v))) ),    p(c) = W c + b

with c the contextual view, which at the scope 0 is H, and c' that of the corrupted graph. Zheng et
al., "Rethinking and Scaling Up Graph Contrastive Learning: An Extremely Efficient Approach with
Group Discrimination", 2022, Equation 5.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ugcl.losses.loss import Loss


class GroupDiscrimination(Loss):
    """Binary cross entropy of the sum of a linear projection.

    The sum of the projection's entries is the product with the sum of its rows: `1^T (W c + b)` is
    `(W^T 1) . c + 1^T b`, which costs O(S D') instead of O(S D'^2).

    Args:
        width: columns of H, and of the projection.
        generator: the source of randomness of W and b.
    """

    of_contexts = True

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.empty(width))
        bound = 1 / math.sqrt(width)
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss."""
        del patch, rng
        assert corrupted is not None
        direction, offset = self.weight.sum(dim=0), self.bias.sum()
        real, fake = (rows @ direction + offset for rows in (context, corrupted))
        return (softplus(-real).mean() + softplus(fake).mean()) / 2
