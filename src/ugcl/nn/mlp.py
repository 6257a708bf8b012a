"""Encoders of a node's own features, which use no edges."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ugcl.nn.activation import prelu
from ugcl.nn.encoder import Encoder
from ugcl.views import View


class MLP(Encoder):
    """`H = PReLU(X W + b)`, or more such layers with layer normalisation between them.

    Each node is encoded alone, so nodes that arrive later need no edges. PReLU has one slope for
    all columns, initially 0.25; weights are Xavier-uniform, biases zero.

    Args:
        num_features: columns of X.
        widths: columns of each layer; the last is that of H.
        generator: random generator of the weights.
        activation: whether layers end in a PReLU; without, one layer is a linear map.
    """

    def __init__(
        self,
        num_features: int,
        widths: Sequence[int],
        generator: torch.Generator,
        *,
        activation: bool = True,
    ) -> None:
        super().__init__()
        self.width = widths[-1]
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in zip([num_features, *widths[:-1]], widths, strict=True):
            weight = torch.empty(before, after)
            nn.init.xavier_uniform_(weight, generator=generator)
            self.weights.append(weight)
            self.biases.append(torch.zeros(after))
        self.slopes = nn.ParameterList([torch.full((1,), 0.25) for _ in widths if activation])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for width in widths[:-1]])

    def forward(self, view: View) -> Tensor:
        """Return H."""
        hidden = view.linear(self.weights[0]) + self.biases[0]
        for index, norm in enumerate(self.norms):
            hidden = self._activate(norm(hidden), index) @ self.weights[index + 1]
            hidden = hidden + self.biases[index + 1]
        return self._activate(hidden, len(self.norms))

    def _activate(self, hidden: Tensor, layer: int) -> Tensor:
        return prelu(hidden, self.slopes[layer]) if len(self.slopes) else hidden
