"""The paper's encoder: one graph convolution."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from ugcl.encoders.blocked import encode, encoded_blocks
from ugcl.kernels import plain
from ugcl.scope import power
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

    def forward(self, view: View, n: int = 0) -> Tensor:
        """`A^n H`: hidden representations, or their context n steps on."""
        if plain():
            return power(view.steps, self._hidden(view), n)
        return encode(view, self.weight, self.bias, self.slope, n)

    def blocks(self, view: View, n: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Which columns, H and `A^n H`: a few columns at a time, each good until the next."""
        if plain():
            hidden = self._hidden(view)
            yield slice(None), hidden, power(view.steps, hidden, n)
        else:
            yield from encoded_blocks(view, self.weight, self.bias, self.slope, n)

    def _hidden(self, view: View) -> Tensor:
        """H, by the plain formula."""
        return nn.functional.prelu(view.convolve(self.weight) + self.bias, self.slope)
