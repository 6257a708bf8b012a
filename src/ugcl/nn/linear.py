"""A linear map of the features as an encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ugcl.nn.encoder import Encoder
from ugcl.views import View


class LinearEncoder(Encoder):
    """`H = X W`, which ignores the edges, so that its contexts are `A^n (X W) = (A^n X) W`.

    As a context encoder it gives the bilinear discriminator `h^T W^T (A^n X)_v` between a patch h
    and a context of raw features, without any dense matrix as wide as X. W is Xavier-uniform.

    Args:
        num_features: columns of X.
        hidden: columns of H.
        generator: random generator of W.
    """

    def __init__(self, num_features: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.width = hidden
        self.weight = nn.Parameter(torch.empty(num_features, hidden))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, view: View) -> Tensor:
        """Return X W."""
        return view.linear(self.weight)
