"""A GCN of several layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ugcl.nn.encoder import Encoder
from ugcl.typing import Activation
from ugcl.views import View

BATCH_MOMENTUM = 0.1
"""Weight of the newest batch in the running statistics."""


class DeepGCN(Encoder):
    """GCN of several layers, `H <- act(A H W + b)` starting from H = X.

    Weights are Xavier-uniform, biases zero, slopes of PReLU 0.25, one for each layer.

    Args:
        num_features: columns of X.
        widths: columns of H after each layer.
        activation: after each layer.
        last_activation: also after the last layer.
        batch_norm: batch normalisation in place of the bias.
        generator: random generator of the weights.
    """

    def __init__(
        self,
        num_features: int,
        widths: Sequence[int],
        *,
        activation: Activation,
        last_activation: bool = True,
        batch_norm: bool = False,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.width = widths[-1]
        sizes = zip((num_features, *widths[:-1]), widths, strict=True)
        self.weights = nn.ParameterList([torch.empty(size) for size in sizes])
        self.biases = nn.ParameterList([] if batch_norm else [torch.zeros(w) for w in widths])
        for weight in self.weights:
            nn.init.xavier_uniform_(weight, generator=generator)
        self.activations = nn.ModuleList(
            nn.PReLU() if activation == "prelu" else nn.ReLU(inplace=True) for _ in widths
        )
        if not last_activation:
            self.activations[-1] = nn.Identity()
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width, momentum=BATCH_MOMENTUM) for width in widths if batch_norm
        )

    def forward(self, view: View) -> Tensor:
        """Return H of the last layer."""
        first, *others = self.weights
        hidden = self._activate(0, view.convolve(first))
        for layer, weight in enumerate(others, start=1):
            hidden = self._activate(layer, view.adjacency @ (hidden @ weight))
        return hidden

    def _activate(self, layer: int, linear: Tensor) -> Tensor:
        """Return the activation; bias and ReLU overwrite `A H W`, which no gradient needs."""
        shifted = linear.add_(self.biases[layer]) if self.biases else self.norms[layer](linear)
        activated: Tensor = self.activations[layer](shifted)
        return activated
