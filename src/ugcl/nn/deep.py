"""Several graph convolutions, as most of the other methods have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from ugcl.nn.encoder import Encoder
from ugcl.views import View

Activation = Literal["relu", "prelu"]

BATCH_MOMENTUM = 0.1
"""Weight of the newest batch in the statistics that embedding normalises by."""


class DeepGCN(Encoder):
    """Graph convolutions one after the other: `H <- act(A H W + b)`, from H = X on.

    Weights are Xavier-uniform, biases zero, slopes of PReLU 0.25: one for each layer. Where columns
    are normalised there is no b, which the normalisation would take away again.

    Args:
        num_features: columns of X.
        widths: columns of H after each convolution.
        activation: after each of them.
        last: whether after the last of them, too.
        batch_norm: instead of adding b, normalise columns: in training to mean 0 and variance 1
            over the nodes of the view, in embedding by the moving averages of these.
        generator: the source of randomness.
    """

    def __init__(
        self,
        num_features: int,
        widths: Sequence[int],
        *,
        activation: Activation,
        last: bool = True,
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
            nn.PReLU() if activation == "prelu" else nn.ReLU() for _ in widths
        )
        if not last:
            self.activations[-1] = nn.Identity()
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width, momentum=BATCH_MOMENTUM) for width in widths if batch_norm
        )

    def forward(self, view: View) -> Tensor:
        """H of the last layer."""
        first, *others = self.weights
        hidden = self._activated(0, view.convolve(first))
        for layer, weight in enumerate(others, start=1):
            hidden = self._activated(layer, view.adjacency @ (hidden @ weight))
        return hidden

    def _activated(self, layer: int, linear: Tensor) -> Tensor:
        shifted = linear + self.biases[layer] if self.biases else self.norms[layer](linear)
        activated: Tensor = self.activations[layer](shifted)
        return activated
