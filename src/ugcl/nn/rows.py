"""Row normalisation."""

from __future__ import annotations

import torch
from torch import Tensor


def unit_rows(rows: Tensor) -> Tensor:
    """Divide each row by its L2 norm; a row of zeros stays zero.

    `torch.nn.functional.normalize`, which the authors' code uses, divides a row of zeros by 1e-12.
    On CiteSeer, where some nodes have no features, that gives the bias a gradient near 1e8 in the
    first step, and Adam's moments keep the bias where it is for the rest of training.
    """
    return rows / row_norms(rows)[:, None]


def row_norms(rows: Tensor) -> Tensor:
    """Return the L2 norm of each row, 1 for a row of zeros."""
    norms = rows.norm(dim=1)
    return torch.where(norms > 0, norms, 1)
