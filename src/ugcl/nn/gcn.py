"""The paper's encoder: one graph convolution."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from ugcl._utils.kernels import plain
from ugcl.nn.blocked import encode, encoded_blocks
from ugcl.nn.encoder import Encoder
from ugcl.scope import Power, Scope
from ugcl.views import View


class GCN(Encoder):
    """One graph convolution, `H = PReLU(A X W + b)`, the encoder of Section III-A.

    PReLU has one slope for all columns, 0.25 at the start; W is Xavier-uniform, b zero.
    """

    def __init__(self, num_features: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.width = hidden
        self.weight = nn.Parameter(torch.empty(num_features, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.slope = nn.Parameter(torch.full((1,), 0.25))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, view: View) -> Tensor:
        """H."""
        return self.context(view, Power(0))

    def context(self, view: View, scope: Scope) -> Tensor:
        """The contexts of H; `A^n H` in one pass with H itself."""
        if _plain(view):
            return view.contexts(scope)(self._hidden(view))
        n = scope.n if isinstance(scope, Power) else 0
        encoded = encode(view, view.masked(self.weight), self.bias, self.slope, n)
        return encoded if isinstance(scope, Power) else view.contexts(scope)(encoded)

    def blocks(self, view: View, scope: Scope) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Which columns, these of H and of its contexts: a few at a time, good until the next."""
        if _plain(view):
            yield from super().blocks(view, scope)
        else:
            weight = view.masked(self.weight)
            yield from encoded_blocks(view, weight, self.bias, self.slope, scope)

    def _hidden(self, view: View) -> Tensor:
        """H, by the plain formula."""
        return nn.functional.prelu(view.convolve(self.weight) + self.bias, self.slope)


def _plain(view: View) -> bool:
    """Whether the plain formula is wanted, or the only one: for dense X that is used once."""
    return plain() or (isinstance(view.features, Tensor) and view.aggregated is None)
