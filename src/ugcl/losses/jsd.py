"""DGI's objective: tell nodes of the graph from corrupted ones by a bilinear discriminator.

    L = -1/2S sum_v ( log d(h_v, s_v) + log(1 - d(h'_v, s_v)) ),
    d(h, s) = sigmoid(h^T W s),    s_v = sigmoid(c_v)

with h the patch view, c the contextual view, h' the corrupted view. Velickovic et al., "Deep Graph
Infomax", 2019, Equations 1 to 5, where all c_v are the mean of H.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ugcl.losses.loss import Loss


class BilinearJSD(Loss):
    """The Jensen-Shannon estimator of mutual information with a bilinear discriminator.

    At the start W is uniform within `sqrt(6 / (D'^2 + D'))`, and the bias, which the public code
    adds to `h^T W s`, is zero.

    Args:
        width: columns of H.
        generator: the source of randomness of W.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.zeros(1))
        bound = math.sqrt(6 / (width**2 + width))
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss."""
        del rng
        assert corrupted is not None
        if context.stride(0) == 0:  # all rows are one row in memory
            context = context[:1]
        wanted = torch.sigmoid(context) @ self.weight.T
        real, fake = ((rows * wanted).sum(dim=1) + self.bias for rows in (patch, corrupted))
        return (softplus(-real).mean() + softplus(fake).mean()) / 2
