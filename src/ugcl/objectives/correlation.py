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

from ugcl.objectives.objective import Edges, Objective

LEAST = 1e-12
"""Columns that vary less than this are taken for constant, and become zero."""


class Correlation(Objective):
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
        agreement = super().forward(pairs, corrupted, rng, edges)
        views = [rows for pair in pairs for rows in pair]
        counts = {id(rows): sum(rows is other for other in views) for rows in views}
        repeated = sum(
            counts[key] * _repetition(self.project(rows))
            for key, rows in {id(rows): rows for rows in views}.items()
        )
        return agreement + self.decorrelation / len(pairs) * repeated

    def project(self, rows: Tensor) -> Tensor:
        """Columns of mean 0 and deviation 1, as by samples (divided by S - 1)."""
        centred = rows - rows.mean(dim=0)
        squares = centred.square().sum(dim=0) / max(rows.shape[0] - 1, 1)
        return centred * torch.where(squares > LEAST, squares, torch.inf).rsqrt()

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
