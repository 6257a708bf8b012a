"""BGRL's objective: predict the target's representations, without negatives.

    L = 2 - 2/S sum_v cos(q(h_v), c_v)

with h the patch view, c the contextual view, q a predictor. Thakoor et al., "Large-Scale
Representation Learning on Graphs via Bootstrapping", 2022, Equation 3.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ugcl.losses.cosine import unit_rows
from ugcl.losses.loss import Loss
from ugcl.nn.head import ProjectionHead


class BootstrapLoss(Loss):
    """The cosine of a prediction with its target.

    Args:
        width: columns of H.
        predictor: columns between the predictor's two layers, with a PReLU there.
        generator: the source of randomness of the predictor.
    """

    def __init__(self, width: int, *, predictor: int, generator: torch.Generator) -> None:
        super().__init__()
        self.predictor = ProjectionHead(width, predictor, width, nn.PReLU(), generator)

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss of one direction."""
        del corrupted, rng
        cosine = (unit_rows(self.predictor(patch)) * unit_rows(context.detach())).sum(dim=1)
        return 2 - 2 * cosine.mean()
