"""Encoders: from a view to hidden representations H."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ugcl.views import View


class GCN(nn.Module):
    """One graph convolution, `H = PReLU(A X W + b)`, the encoder of Section III-A.

    PReLU has one slope for all columns, 0.25 at the start; W is Xavier-uniform, b zero.
    """

    def __init__(self, num_features: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_features, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.slope = nn.Parameter(torch.full((1,), 0.25))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, view: View, columns: slice = slice(None)) -> Tensor:
        """H, or only some of its columns: they do not depend on one another."""
        linear = view.convolve(self.weight[:, columns]) + self.bias[columns]
        return nn.functional.prelu(linear, self.slope)
