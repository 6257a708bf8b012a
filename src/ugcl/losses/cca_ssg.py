"""CCA-SSG's loss: invariance between views and decorrelation of columns.

    L = -tr(U^T C) / S + lambda ( ||I - U^T U / S||_F^2 + ||I - C^T C / S||_F^2 )

with u and c the patch and the contextual view, columns standardised to mean 0 and deviation 1.
Zhang et al., "From Canonical Correlation Analysis to Self-supervised Graph Neural Networks", 2021,
Equation 4, in the scale of the authors' code: their printed lambda is twice this one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ugcl.losses.loss import Batch, Loss, Pair

MIN_RELATIVE_STD = 1e-5
"""A column with a smaller standard deviation, relative to its size, counts as constant and becomes
zero: float32 does not resolve the mean of a column better."""


class CCASSGLoss(Loss):
    """Invariance across views and decorrelation within each view, without negatives.

    Cost: O(S D'^2), and no S x S matrix.

    Args:
        decorrelation: lambda.
    """

    def __init__(self, decorrelation: float) -> None:
        super().__init__()
        self.decorrelation = decorrelation

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss of a batch; the decorrelation of a view is computed once."""
        columns = batch.map(self.project)
        redundancy = columns.map(_redundancy)
        losses = [
            self.pair_loss(pair, batch) + self.decorrelation * (terms.patch + terms.context)
            for pair, terms in zip(columns.pairs(), redundancy.pairs(), strict=True)
        ]
        return torch.stack(losses).mean()

    def project(self, rows: Tensor) -> Tensor:
        """Standardise the columns, with the sample standard deviation (S - 1)."""
        centred = rows - rows.mean(dim=0)
        variance = centred.square().sum(dim=0) / max(rows.shape[0] - 1, 1)
        varies = variance > MIN_RELATIVE_STD**2 * rows.detach().square().mean(dim=0)
        return centred * torch.where(varies, variance, torch.inf).rsqrt()

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the invariance term `-tr(U^T C) / S`."""
        return -(pair.patch * pair.context).sum() / pair.patch.shape[0]


def _redundancy(rows: Tensor) -> Tensor:
    """Return `||I - Z^T Z / S||_F^2`."""
    gram = rows.T @ rows / rows.shape[0]
    return (torch.eye(rows.shape[1], device=rows.device) - gram).square().sum()
