"""UGCL's loss, Equation 5: cosine contrast with negatives in the patch view only.

    L = -1/S sum_v log( e^{cos(h_v, c_v)/t} / sum_{u != v} e^{cos(h_v, h_u)/t} )
      =  1/S sum_v ( log r_v - cos(h_v, c_v)/t ),     r_v = sum_{u != v} e^{cos(h_v, h_u)/t}

with h the patch view, c the contextual view, t the temperature (1 in the paper). Only the diagonal
of the cross-view similarities enters, so only the diagonal is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl.losses.loss import Batch, Loss, Pair, sample_negatives
from ugcl.nn.kernels import plain
from ugcl.nn.rows import row_norms, unit_rows

STRIP = 384
"""Rows of the similarity matrix that are computed at a time."""

ROWS = 256
"""Rows of an element-wise pass: few enough to stay in cache for the next pass."""

Denominators = tuple[Tensor, Callable[[Tensor], Tensor]]
"""log r, and the function from -y/(S t) to the gradient dL/dH without its term in c."""


class CosineContrast(Loss):
    """UGCL's loss, which has no parameters.

    Args:
        temperature: t; sums of exp(cos/t) overflow float32 near t = 0.012.
        negatives: number of random nodes that all nodes share as negatives, or "all".
    """

    def __init__(self, temperature: float, negatives: int | Literal["all"]) -> None:
        super().__init__()
        self.temperature, self.negatives = temperature, negatives

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of Equation 5."""
        negatives = sample_negatives(self.negatives, pair.patch, batch.rng)
        return cosine_contrast(pair.patch, pair.context, self.temperature, negatives)


def cosine_contrast(
    patch: Tensor,
    context: Tensor,
    temperature: float = 1.0,
    negatives: Tensor | None = None,
) -> Tensor:
    """Return the loss of Equation 5; the gradient is computed in the same pass.

    Cost with all negatives, in products of S x D by D x S: half a one for the similarities, which
    are symmetric, and one for the gradient. Memory: O(S D + S `STRIP`), never S x S. Similarities
    are kept for the gradient as far as they fit into S x D numbers, nearly all of them for
    S <= 2 D; the rest is computed twice, at most half a product more.

    Args:
        patch: H, S x D.
        context: A^n H, S x D, row v the context of row v of `patch`.
        temperature: t; sums of exp(cos/t) overflow float32 near t = 0.012.
        negatives: None for all S - 1 other nodes; or K distinct rows, with which each r_v is an
            unbiased estimate at the cost K/S and S x K numbers.
    """
    if plain():
        return plain_cosine_contrast(patch, context, temperature, negatives)
    loss: Tensor = _CosineContrast.apply(  # type: ignore[no-untyped-call]
        patch, context, temperature, negatives
    )
    return loss


def plain_cosine_contrast(
    patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
) -> Tensor:
    """Return Equation 5 by the plain formula, which stores all similarities.

    From K negatives, r_v is estimated as (S - 1)/K' times the sum over those K' that are not v.
    """
    nodes = torch.arange(patch.shape[0], device=patch.device)
    columns = nodes if negatives is None else negatives
    anchors = unit_rows(patch)
    positive = (anchors * unit_rows(context)).sum(dim=1) / temperature
    similarities = anchors @ anchors[columns].T / temperature
    is_self = nodes[:, None] == columns
    total = similarities.masked_fill(is_self, float("-inf")).logsumexp(dim=1)
    return (total + _scale(is_self.sum(dim=1), columns.numel()) - positive).mean()


def _scale(is_negative: Tensor, count: int) -> Tensor:
    """Return `log((S - 1) / K')` for each node, where K' of the K negatives are other nodes."""
    return ((is_negative.numel() - 1) / (count - is_negative)).log()


class _CosineContrast(torch.autograd.Function):
    """The loss and its gradients, computed from H and C without storing unit rows.

    With norms |h| and |c|, cosines x_vu of h_v and h_u, y_v of h_v and c_v, and the weights W of
    d(mean log r)/dZ = W Z, where z = h/|h|,

        dL/dh_v = sum_u W_vu h_u / (|h_v| |h_u|) - c_v / (S t |h_v| |c_v|) - h_v a_v / |h_v|^2,
        a_v = sum_u W_vu x_vu - y_v / (S t),
        dL/dc_v = (c_v y_v / |c_v| - h_v / |h_v|) / (S t |c_v|).

    Both are computed with the loss and are all that is saved for the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
    ) -> Tensor:
        needs_grad = any(ctx.needs_input_grad)
        inverse, context_inverse, cosine = patch.new_empty(3, patch.shape[0])
        for r in _row_blocks(patch):
            inverse[r], context_inverse[r] = 1 / row_norms(patch[r]), 1 / row_norms(context[r])
            cosine[r] = torch.linalg.vecdot(patch[r], context[r]) * inverse[r] * context_inverse[r]
        if negatives is None:
            log_total, patch_gradient = _all_negatives(patch, inverse, temperature, needs_grad)
        else:
            log_total, patch_gradient = _sampled_negatives(patch, inverse, temperature, negatives)
        loss: Tensor = (log_total - cosine / temperature).mean()
        if not needs_grad:
            return loss
        unit = 1 / (patch.shape[0] * temperature)
        patch_grad, context_grad = patch_gradient(-unit * cosine), torch.empty_like(context)
        cross_weight, along = (
            -unit * inverse * context_inverse,
            unit * cosine * context_inverse.square(),
        )
        for r in _row_blocks(patch):
            patch_grad[r].addcmul_(context[r], cross_weight[r, None])
            torch.mul(context[r], along[r, None], out=context_grad[r])
            context_grad[r].addcmul_(patch[r], cross_weight[r, None])
        ctx.save_for_backward(patch_grad, context_grad)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        patch_grad, context_grad = ctx.saved_tensors
        if grads[0].device.type == "cpu" and grads[0] == 1:
            return patch_grad, context_grad, None, None
        return grads[0] * patch_grad, grads[0] * context_grad, None, None


def _all_negatives(
    patch: Tensor, inverse: Tensor, temperature: float, needs_grad: bool
) -> Denominators:
    """Compute log r from strips of the upper triangle of Z Z^T, which is symmetric.

    With E = exp(Z Z^T / t) without its diagonal,

        W_vu = E_vu (1/r_v + 1/r_u) / (S t),

    which is symmetric, too; its diagonal, which E leaves free, holds -a. Nothing is stored where no
    gradient is needed.
    """
    total = patch.new_zeros(patch.shape[0])
    kept: dict[int, Tensor] = {}
    budget = patch.numel() if needs_grad else 0
    for rows, columns in _strips(patch):
        strip = _exponentials(patch, inverse, temperature, rows, columns)
        _add_sums(total, strip, rows)
        if strip.numel() <= budget:
            kept[rows.start] = strip
            budget -= strip.numel()

    def patch_gradient(along: Tensor) -> Tensor:
        gradient = torch.empty_like(patch)
        unit = 1 / (total * (temperature * total.numel()))
        for rows, columns in _strips(patch):
            strip = kept.pop(rows.start, None)
            if strip is None:
                strip = _exponentials(patch, inverse, temperature, rows, columns)
            cosines = strip.log().mul_(temperature)
            cosines.diagonal().zero_()
            strip *= unit[rows, None] + unit[columns]
            _add_sums(along, cosines.mul_(strip), rows)
            strip.diagonal().copy_(-along[rows])
            _scaled(strip, inverse[rows], inverse[columns])
            beta = min(rows.start, 1)  # the first strip reaches all rows of the gradient
            gradient[rows].addmm_(strip, patch[columns], beta=beta)
            after = strip[:, rows.stop - rows.start :]
            gradient[rows.stop :].addmm_(after.T, patch[rows], beta=beta)
        return gradient

    return total.log(), patch_gradient


def _sampled_negatives(
    patch: Tensor, inverse: Tensor, temperature: float, negatives: Tensor
) -> Denominators:
    """Compute log r from K columns of Z Z^T, which are stored: S x K."""
    size, count = patch.shape[0], negatives.numel()
    columns = patch[negatives]
    weights = _scaled(torch.mm(patch, columns.T), inverse / temperature, inverse[negatives]).exp_()
    weights[negatives, torch.arange(count, device=patch.device)] = 0
    is_negative = torch.zeros(size, dtype=torch.long, device=patch.device)
    is_negative[negatives] = 1
    total = weights.sum(dim=1)

    def patch_gradient(along: Tensor) -> Tensor:
        cosines = torch.special.xlogy(weights, weights)
        weights.div_((total * (temperature * size))[:, None])
        cosines.div_((total * size)[:, None])
        along += cosines.sum(dim=1)
        along.index_add_(0, negatives, cosines.sum(dim=0))
        _scaled(weights, inverse, inverse[negatives])
        gradient = torch.mm(weights, columns)
        gradient.index_add_(0, negatives, torch.mm(weights.T, patch))
        return gradient.addcmul_(patch, (-along * inverse.square())[:, None])

    return total.log() + _scale(is_negative, count), patch_gradient


def _strips(anchors: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yield row blocks of the upper triangle and their columns from the diagonal on."""
    size = anchors.shape[0]
    for start in range(0, size, STRIP):
        yield slice(start, min(start + STRIP, size)), slice(start, size)


def _exponentials(
    patch: Tensor, inverse: Tensor, temperature: float, rows: slice, columns: slice
) -> Tensor:
    """Return a strip of exp(Z Z^T / t) with a zero diagonal."""
    products = torch.mm(patch[rows], patch[columns].T)
    strip = _scaled(products, inverse[rows] / temperature, inverse[columns]).exp_()
    strip.diagonal().zero_()
    return strip


def _scaled(matrix: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Multiply the rows and the columns of a matrix in place by one factor each."""
    return matrix.mul_(rows[:, None]).mul_(columns)


def _add_sums(sums: Tensor, strip: Tensor, rows: slice) -> None:
    """Add the row sums of a symmetric matrix from a strip of its upper triangle."""
    sums[rows] += strip.sum(dim=1)
    sums[rows.stop :] += strip[:, rows.stop - rows.start :].sum(dim=0)


def _row_blocks(rows: Tensor) -> Iterator[slice]:
    for start in range(0, rows.shape[0], ROWS):
        yield slice(start, start + ROWS)
