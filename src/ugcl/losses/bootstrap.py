"""BGRL's loss: predict the representations of the target encoder, without negatives.

    L = 2 - 2/S sum_v cos(q(h_v), c_v)

with h the patch view, c the contextual view, q a predictor. Thakoor et al., "Large-Scale
Representation Learning on Graphs via Bootstrapping", 2022, Equation 3.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ugcl.losses.loss import Batch, Loss, Pair
from ugcl.nn.head import ProjectionHead
from ugcl.nn.rows import unit_rows


class BootstrapLoss(Loss):
    """Cosine distance between the prediction and the target.

    Args:
        width: columns of H.
        predictor: hidden columns of the predictor, which has a PReLU.
        generator: random generator of the predictor.
    """

    def __init__(self, width: int, *, predictor: int, generator: torch.Generator) -> None:
        super().__init__()
        self.predictor = ProjectionHead(width, predictor, width, nn.PReLU(), generator)

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of one direction."""
        target = unit_rows(pair.context.detach())
        cosine = (unit_rows(self.predictor(pair.patch)) * target).sum(dim=1)
        return 2 - 2 * cosine.mean()
