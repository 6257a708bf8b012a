"""The one-layer GCN encoder of the paper."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ugcl._utils.workspace import Workspace
from ugcl.nn.blocked import encode
from ugcl.nn.columns import HiddenColumns, LayerColumns
from ugcl.nn.encoder import Encoder
from ugcl.nn.kernels import plain
from ugcl.scope import Power, Scope
from ugcl.views import View


class GCN(Encoder):
    """One-layer GCN, `H = PReLU(A X W + b)`, Section III-A of the paper.

    PReLU has one slope for all columns, initially 0.25; W is Xavier-uniform, b zero.

    Args:
        num_features: columns of X.
        hidden: columns of H.
        generator: random generator of the weights.
    """

    def __init__(self, num_features: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.width = hidden
        self.weight = nn.Parameter(torch.empty(num_features, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.slope = nn.Parameter(torch.full((1,), 0.25))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, view: View) -> Tensor:
        """Return H."""
        return self.context(view, Power(0))

    def context(self, view: View, scope: Scope) -> Tensor:
        """Return the contexts of H; for a power, `A^n H` is computed in one pass with H."""
        if plain():
            return view.contexts(scope)(self._hidden(view))
        n = scope.n if isinstance(scope, Power) else 0
        encoded = encode(view, view.mask_weight(self.weight), self.bias, self.slope, n)
        return encoded if isinstance(scope, Power) else view.contexts(scope)(encoded)

    def columns(self, view: View, work: Workspace, name: str = "hidden") -> HiddenColumns:
        """Return columns of H; see `Encoder.columns`."""
        if plain():
            return super().columns(view, work, name)
        weight, slope = view.mask_weight(self.weight), self.slope.item()

        def activate(linear: Tensor, columns: slice) -> Tensor:
            return nn.functional.leaky_relu_(linear.add_(self.bias[columns]), slope)

        if view.aggregated is not None:
            return LayerColumns(None, view.aggregated, weight, activate)
        assert view.features is not None
        return LayerColumns(view.adjacency.matrix, view.features, weight, activate)

    def _hidden(self, view: View) -> Tensor:
        """Return H by the plain formula."""
        return nn.functional.prelu(view.convolve(self.weight) + self.bias, self.slope)
