"""Row normalisation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl.nn.kernels import plain


def unit_rows(rows: Tensor) -> Tensor:
    """Divide each row by its L2 norm; a row of zeros stays zero.

    `torch.nn.functional.normalize`, which the authors' code uses, divides a row of zeros by 1e-12.
    On CiteSeer, where some nodes have no features, that gives the bias a gradient near 1e8 in the
    first step, and Adam's moments keep the bias where it is for the rest of training.
    """
    if plain():
        return rows / row_norms(rows)[:, None]
    unit: Tensor = _UnitRows.apply(rows)  # type: ignore[no-untyped-call]
    return unit


def row_norms(rows: Tensor) -> Tensor:
    """Return the L2 norm of each row, 1 for a row of zeros."""
    norms = rows.norm(dim=1)
    return torch.where(norms > 0, norms, 1)


class _UnitRows(torch.autograd.Function):
    """With u = h/|h| and the gradient g of u, that of h is `(g - (g . u) u) / |h|`."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        norms = row_norms(rows)[:, None]
        unit = rows / norms
        ctx.save_for_backward(unit, norms)
        return unit

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        unit, norms = ctx.saved_tensors
        along = torch.linalg.vecdot(grads[0], unit)[:, None]
        return torch.addcmul(grads[0], unit, along, value=-1).div_(norms)
