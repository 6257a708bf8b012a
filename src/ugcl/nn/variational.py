"""The encoder of the variational graph autoencoder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ugcl.nn.deep import DeepGCN
from ugcl.nn.encoder import Encoder
from ugcl.views import View


class VariationalGCN(Encoder):
    """GCN whose last layer returns means and log standard deviations.

    In training H holds both, concatenated; in evaluation mode the means alone.

    Args:
        num_features: columns of X.
        widths: columns of each layer, the last those of the means.
        generator: random generator of the weights.
    """

    def __init__(
        self, num_features: int, widths: Sequence[int], generator: torch.Generator
    ) -> None:
        super().__init__()
        self.width = widths[-1]
        both = [*widths[:-1], 2 * self.width]
        self.layers = DeepGCN(
            num_features, both, activation="relu", last_activation=False, generator=generator
        )
        with torch.no_grad():
            for half in self.layers.weights[-1].chunk(2, dim=1):
                nn.init.xavier_uniform_(half, generator=generator)

    def forward(self, view: View) -> Tensor:
        """Return means and log standard deviations; in evaluation mode the means."""
        rows: Tensor = self.layers(view)
        return rows if self.training else rows[:, : self.width]
