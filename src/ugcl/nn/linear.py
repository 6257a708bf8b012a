"""An encoder that does not see the graph: raw features, brought to the width of the others."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ugcl.nn.encoder import Encoder
from ugcl.views import View


class Linear(Encoder):
    """`H = X W`, so that contexts are `A^n (X W) = (A^n X) W`.

    Compared with patches h by an inner product, `h . (A^n X W)_v`, that is the bilinear
    discriminator `h^T W^T (A^n X)_v` of a patch and a context of raw features, in an order of
    products in which nothing as wide as X is dense. W is Xavier-uniform.
    """

    def __init__(self, num_features: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.width = hidden
        self.weight = nn.Parameter(torch.empty(num_features, hidden))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, view: View) -> Tensor:
        """X W."""
        return view.linear(self.weight)
