"""CCA-SSG's objective: columns that agree between views and do not repeat one another.

    L = -tr(U^T C) / S + lambda ( ||I - U^T U / S||_F^2 + ||I - C^T C / S||_F^2 )

with u and c the patch and the contextual view, each column of mean 0 and deviation 1. Zhang et al.,
"From Canonical Correlation Analysis to Self-supervised Graph Neural Networks", 2021, Equation 4,
in the scale of the authors' code: their printed lambda is twice this one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ugcl.losses.loss import Edges, Loss

MIN_RELATIVE_STD = 1e-5
"""A column whose deviation is a smaller share of its size is taken for constant and becomes zero.

In float32 the mean of a column is not known better.
"""


class CCASSGLoss(Loss):
    """Invariance across views, and decorrelation within each. It has no negatives.

    Cost: O(S D'^2) and no S x S matrix.

    Args:
        decorrelation: lambda.
    """

    def __init__(self, decorrelation: float) -> None:
        super().__init__()
        self.decorrelation = decorrelation

    def forward(
        self,
        pairs: Sequence[tuple[Tensor, Tensor]],
        corrupted: Sequence[Tensor],
        rng: np.random.Generator,
        edges: Edges | None = None,
    ) -> Tensor:
        """The mean over pairs; a view's own columns are compared once, in however many it is."""
        del corrupted, edges
        views = {id(rows): rows for pair in pairs for rows in pair}
        columns = {key: self.project(rows) for key, rows in views.items()}
        repeated = {key: _repetition(found) for key, found in columns.items()}
        losses = [
            self.contrast(columns[id(patch)], columns[id(context)], None, rng)
            + self.decorrelation * (repeated[id(patch)] + repeated[id(context)])
            for patch, context in pairs
        ]
        return torch.stack(losses).mean()

    def project(self, rows: Tensor) -> Tensor:
        """Columns of mean 0 and deviation 1, as by samples (divided by S - 1)."""
        centred = rows - rows.mean(dim=0)
        squares = centred.square().sum(dim=0) / max(rows.shape[0] - 1, 1)
        varies = squares > MIN_RELATIVE_STD**2 * rows.detach().square().mean(dim=0)
        return centred * torch.where(varies, squares, torch.inf).rsqrt()

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """How far the columns of a pair are from agreeing."""
        del corrupted, rng
        return -(patch * context).sum() / patch.shape[0]


def _repetition(rows: Tensor) -> Tensor:
    """`||I - Z^T Z / S||_F^2`."""
    gram = rows.T @ rows / rows.shape[0]
    return (torch.eye(rows.shape[1], device=rows.device) - gram).square().sum()
