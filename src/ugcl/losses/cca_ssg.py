"""CCA-SSG's loss: invariance between views and decorrelation of columns.

    L = -tr(U^T C) / S + lambda ( ||I - U^T U / S||_F^2 + ||I - C^T C / S||_F^2 )

with u and c the patch and the contextual view, columns standardised to mean 0 and deviation 1.
Zhang et al., "From Canonical Correlation Analysis to Self-supervised Graph Neural Networks", 2021,
Equation 4, in the scale of the authors' code: their printed lambda is twice this one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl._utils.buffers import new_empty
from ugcl.losses.loss import Batch, Loss, Pair
from ugcl.nn.kernels import plain

MIN_RELATIVE_STD = 1e-5
"""A column with a smaller standard deviation, relative to its size, counts as constant and becomes
zero: float32 does not resolve the mean of a column better."""

STRIP = 1024
"""Rows whose products are computed at a time, where only their sums are needed."""


class CCASSGLoss(Loss):
    """Invariance across views and decorrelation within each view, without negatives.

    Cost: O(S D'^2), and no S x S matrix. Memory: one S x D' array for each view, saved for the
    gradient.

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
        pairs = list(zip(columns.pairs(), redundancy.pairs(), strict=True))
        if columns.contexts is None and len(pairs) == 2:
            del pairs[1]  # the first one with both views swapped, which has the same loss
        losses = [
            self.pair_loss(pair, batch) + self.decorrelation * (terms.patch + terms.context)
            for pair, terms in pairs
        ]
        return torch.stack(losses).mean()

    def project(self, rows: Tensor) -> Tensor:
        """Standardise the columns, with the sample standard deviation (S - 1)."""
        if plain():
            return plain_standardise(rows)
        columns: Tensor = _Standardise.apply(rows)  # type: ignore[no-untyped-call]
        return columns

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the invariance term `-tr(U^T C) / S`."""
        if plain():
            return -(pair.patch * pair.context).sum() / pair.patch.shape[0]
        product: Tensor = _Product.apply(*pair[:2])  # type: ignore[no-untyped-call]
        return -product / pair.patch.shape[0]


def plain_standardise(rows: Tensor) -> Tensor:
    """Standardise the columns by the plain formula."""
    centred = rows - rows.mean(dim=0)
    return centred * _scale(centred.square().sum(dim=0), rows.detach().square().sum(dim=0), rows)


def _scale(squares: Tensor, sizes: Tensor, rows: Tensor) -> Tensor:
    """Return one over the deviation of each column, 0 for a constant one.

    Args:
        squares: sums of squares of the centred columns.
        sizes: sums of squares of the columns.
        rows: the rows.
    """
    variance = squares / max(rows.shape[0] - 1, 1)
    varies = variance > MIN_RELATIVE_STD**2 * sizes / rows.shape[0]
    return torch.where(varies, variance, torch.inf).rsqrt()


def _redundancy(rows: Tensor) -> Tensor:
    """Return `||I - Z^T Z / S||_F^2`."""
    gram: Tensor = rows.T @ rows if plain() else _Gram.apply(rows)  # type: ignore[no-untyped-call]
    return (torch.eye(rows.shape[1], device=rows.device) - gram / rows.shape[0]).square().sum()


class _Standardise(torch.autograd.Function):
    """With z = (h - m) s, the gradient g of z and `f = s (g - z (g . z) / (S - 1))`: `f - mean(f)`.

    Only Z is saved, which the rest of the loss saves, too.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        centred = torch.sub(rows, rows.mean(dim=0), out=new_empty(rows, rows.shape))
        scale = _scale(_column_dots(centred, centred), _column_dots(rows, rows), rows)
        columns = centred.mul_(scale)
        ctx.save_for_backward(columns, scale)
        return columns

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        columns, scale = ctx.saved_tensors
        along = _column_dots(grads[0], columns) / max(columns.shape[0] - 1, 1)
        rows_grad = new_empty(columns, columns.shape)
        torch.addcmul(grads[0], columns, along, value=-1, out=rows_grad).mul_(scale)
        return rows_grad.sub_(rows_grad.mean(dim=0))


class _Product(torch.autograd.Function):
    """`tr(U^T C)`, without the S x D' products of their entries."""

    @staticmethod
    def forward(ctx: Any, patch: Tensor, context: Tensor) -> Tensor:
        ctx.save_for_backward(patch, context)
        return _column_dots(patch, context).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        patch, context = ctx.saved_tensors
        return tuple(
            torch.mul(rows, grads[0], out=new_empty(rows, rows.shape)) for rows in (context, patch)
        )


class _Gram(torch.autograd.Function):
    """`Z^T Z`, with one product for the gradient `Z (G + G^T)`."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        return rows.T @ rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (rows,) = ctx.saved_tensors
        return torch.mm(rows, grads[0] + grads[0].T, out=new_empty(rows, rows.shape))


def _column_dots(left: Tensor, right: Tensor) -> Tensor:
    """Return the scalar products of columns, in strips of rows."""
    total = left.new_zeros(left.shape[1])
    for start in range(0, left.shape[0], STRIP):
        strip = slice(start, start + STRIP)
        total += (left[strip] * right[strip]).sum(dim=0)
    return total
