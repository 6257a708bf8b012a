"""A two-layer head on top of representations: projector or predictor."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class ProjectionHead(nn.Module):
    """Two linear layers, `act(H V + b) U + c`.

    Weights and biases are uniform within one over the square root of the layer's inputs, as in
    PyTorch's linear layers.

    Args:
        width: columns of H.
        hidden: columns of the hidden layer.
        out: columns of the output.
        activation: between the layers.
        generator: random generator of the weights.
    """

    def __init__(
        self, width: int, hidden: int, out: int, activation: nn.Module, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.activation = activation
        self.weights = nn.ParameterList([torch.empty(hidden, width), torch.empty(out, hidden)])
        self.biases = nn.ParameterList([torch.empty(hidden), torch.empty(out)])
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = 1 / math.sqrt(weight.shape[1])
            nn.init.uniform_(weight, -bound, bound, generator=generator)
            nn.init.uniform_(bias, -bound, bound, generator=generator)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the projection of each row."""
        first, second = self.weights
        hidden = self.activation(nn.functional.linear(rows, first, self.biases[0]))
        return nn.functional.linear(hidden, second, self.biases[1])
