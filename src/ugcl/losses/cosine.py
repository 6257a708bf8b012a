"""UGCL's objective, Equation 5: cosine contrast with negatives in the patch view only.

    L = -1/S sum_v log( e^{cos(h_v, c_v)/t} / sum_{u != v} e^{cos(h_v, h_u)/t} )
      =  1/S sum_v ( log r_v - cos(h_v, c_v)/t ),     r_v = sum_{u != v} e^{cos(h_v, h_u)/t}

with h the patch view, c the contextual view, t the temperature (1 in the paper). Only the diagonal
of the cross-view similarities enters, so only the diagonal is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl._utils.kernels import plain
from ugcl.losses.loss import Loss, drawn_negatives

STRIP = 384
"""Rows of a strip of the similarity matrix."""

ROWS = 256
"""Rows of an element-wise pass: few enough that the next pass finds some of them in cache."""

MIN_TEMPERATURE = 0.02
"""With a margin: sums of exp(cos/t) leave the range of float32 near 0.012."""

Denominators = tuple[Tensor, Callable[[Tensor], Tensor]]
"""log r; and from -y/(S t) the gradient dL/dH but for its term in c."""


class CosineContrast(Loss):
    """UGCL's objective, which has no parameters.

    Args:
        temperature: t >= `LEAST_TEMPERATURE`.
        negatives: how many random nodes stand for all the others, or "all".
    """

    def __init__(self, temperature: float, negatives: int | Literal["all"]) -> None:
        super().__init__()
        self.temperature, self.negatives = temperature, negatives

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss of Equation 5."""
        del corrupted
        negatives = drawn_negatives(self.negatives, patch, rng)
        return cosine_contrast(patch, context, self.temperature, negatives)


def cosine_contrast(
    patch: Tensor,
    context: Tensor,
    temperature: float = 1.0,
    negatives: Tensor | None = None,
) -> Tensor:
    """The loss of Equation 5, and its gradient in the same pass.

    Cost with all negatives, in products of S x D by D x S: half a one for the similarities, which
    are symmetric, and one for the gradient. Memory: O(S D + S `STRIP`), never S x S. Of the
    similarities as many are kept for the gradient as fit into S x D numbers, nearly all of them for
    S <= 2 D; the others are computed twice, at most half a product more.

    Args:
        patch: H, S x D.
        context: A^n H, S x D, row v the context of row v of `patch`.
        temperature: t >= `LEAST_TEMPERATURE`.
        negatives: None for all S - 1 other nodes; or K distinct rows that stand for all, which
            makes each r_v an unbiased estimate at the cost K/S and S x K numbers.
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
    """Equation 5 as it stands, with all similarities held at once.

    From K negatives, r_v is estimated as (S - 1)/K' times their sum, K' of them not v itself.
    """
    nodes = torch.arange(patch.shape[0], device=patch.device)
    columns = nodes if negatives is None else negatives
    anchors = unit_rows(patch)
    positive = (anchors * unit_rows(context)).sum(dim=1) / temperature
    similarities = anchors @ anchors[columns].T / temperature
    itself = nodes[:, None] == columns
    total = similarities.masked_fill(itself, float("-inf")).logsumexp(dim=1)
    return (total + _scale(itself.sum(dim=1), columns.numel()) - positive).mean()


def unit_rows(rows: Tensor) -> Tensor:
    """Rows of length 1; a row of zeros is divided by 1 and so has the cosine 0 with any other.

    `torch.nn.functional.normalize`, which the authors' code uses, divides such a row by 1e-12. On
    CiteSeer, where some nodes have no features, that gives the bias a gradient near 1e8 in the
    first step, and Adam's memory of it keeps the bias where it is for the rest of training.
    """
    return rows / _lengths(rows)[:, None]


def _lengths(rows: Tensor) -> Tensor:
    length = rows.norm(dim=1)
    return torch.where(length > 0, length, 1)


def _scale(itself: Tensor, count: int) -> Tensor:
    """`log((S - 1) / K')` for each node, from whether it is itself among the K negatives."""
    return ((itself.numel() - 1) / (count - itself)).log()


class _CosineContrast(torch.autograd.Function):
    """The loss and its gradients, from H and C as they are: unit rows are never written down.

    With lengths |h| and |c|, cosines x_vu of h_v and h_u, y_v of h_v and c_v, and the weights W of
    d(mean log r)/dZ = W Z, where z = h/|h|,

        dL/dh_v = sum_u W_vu h_u / (|h_v| |h_u|) - c_v / (S t |h_v| |c_v|) - h_v a_v / |h_v|^2,
        a_v = sum_u W_vu x_vu - y_v / (S t),
        dL/dc_v = (c_v y_v / |c_v| - h_v / |h_v|) / (S t |c_v|).

    Both are there when the loss is, so they are all that is kept for the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
    ) -> Tensor:
        needed = any(ctx.needs_input_grad)
        inverse, around, cosine = patch.new_empty(3, patch.shape[0])
        for r in _row_blocks(patch):
            inverse[r], around[r] = 1 / _lengths(patch[r]), 1 / _lengths(context[r])
            cosine[r] = torch.linalg.vecdot(patch[r], context[r]) * inverse[r] * around[r]
        if negatives is None:
            log_total, gradient_of_loss = _all_negatives(patch, inverse, temperature, needed)
        else:
            log_total, gradient_of_loss = _sampled_negatives(patch, inverse, temperature, negatives)
        loss: Tensor = (log_total - cosine / temperature).mean()
        if not needed:
            return loss
        share = 1 / (patch.shape[0] * temperature)
        of_patch, of_context = gradient_of_loss(-share * cosine), torch.empty_like(context)
        pull, along = -share * inverse * around, share * cosine * around.square()
        for r in _row_blocks(patch):
            of_patch[r].addcmul_(context[r], pull[r, None])
            torch.mul(context[r], along[r, None], out=of_context[r])
            of_context[r].addcmul_(patch[r], pull[r, None])
        ctx.save_for_backward(of_patch, of_context)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_patch, of_context = ctx.saved_tensors
        if grads[0].device.type == "cpu" and grads[0] == 1:
            return of_patch, of_context, None, None
        return grads[0] * of_patch, grads[0] * of_context, None, None


def _all_negatives(
    patch: Tensor, inverse: Tensor, temperature: float, needed: bool
) -> Denominators:
    """From the strips of the upper triangle of Z Z^T, each for its rows and for its columns.

    With E = exp(Z Z^T / t) without its diagonal,

        W_vu = E_vu (1/r_v + 1/r_u) / (S t),

    which is symmetric too; -a stands on the diagonal of W that E leaves free. Nothing is kept for a
    gradient that is not needed.
    """
    total = patch.new_zeros(patch.shape[0])
    kept: dict[int, Tensor] = {}
    room = patch.numel() if needed else 0
    for rows, columns in _strips(patch):
        strip = _exponentials(patch, inverse, temperature, rows, columns)
        _add_sums(total, strip, rows)
        if strip.numel() <= room:
            kept[rows.start] = strip
            room -= strip.numel()

    def gradient_of_loss(along: Tensor) -> Tensor:
        gradient = torch.empty_like(patch)
        share = 1 / (total * (temperature * total.numel()))
        for rows, columns in _strips(patch):
            strip = kept.pop(rows.start, None)
            if strip is None:
                strip = _exponentials(patch, inverse, temperature, rows, columns)
            cosines = strip.log().mul_(temperature)
            cosines.diagonal().zero_()
            strip *= share[rows, None] + share[columns]
            _add_sums(along, cosines.mul_(strip), rows)
            strip.diagonal().copy_(-along[rows])
            _scaled(strip, inverse[rows], inverse[columns])
            beta = min(rows.start, 1)  # the first strip reaches all rows of the gradient
            gradient[rows].addmm_(strip, patch[columns], beta=beta)
            after = strip[:, rows.stop - rows.start :]
            gradient[rows.stop :].addmm_(after.T, patch[rows], beta=beta)
        return gradient

    return total.log(), gradient_of_loss


def _sampled_negatives(
    patch: Tensor, inverse: Tensor, temperature: float, negatives: Tensor
) -> Denominators:
    """From K columns of Z Z^T, which are held: S x K."""
    size, count = patch.shape[0], negatives.numel()
    columns = patch[negatives]
    shares = _scaled(torch.mm(patch, columns.T), inverse / temperature, inverse[negatives]).exp_()
    shares[negatives, torch.arange(count, device=patch.device)] = 0
    itself = torch.zeros(size, dtype=torch.long, device=patch.device)
    itself[negatives] = 1
    total = shares.sum(dim=1)

    def gradient_of_loss(along: Tensor) -> Tensor:
        cosines = torch.special.xlogy(shares, shares)
        shares.div_((total * (temperature * size))[:, None])
        cosines.div_((total * size)[:, None])
        along += cosines.sum(dim=1)
        along.index_add_(0, negatives, cosines.sum(dim=0))
        _scaled(shares, inverse, inverse[negatives])
        gradient = torch.mm(shares, columns)
        gradient.index_add_(0, negatives, torch.mm(shares.T, patch))
        return gradient.addcmul_(patch, (-along * inverse.square())[:, None])

    return total.log() + _scale(itself, count), gradient_of_loss


def _strips(anchors: Tensor) -> Iterator[tuple[slice, slice]]:
    """Rows of the upper triangle, and the columns from the diagonal on."""
    size = anchors.shape[0]
    for start in range(0, size, STRIP):
        yield slice(start, min(start + STRIP, size)), slice(start, size)


def _exponentials(
    patch: Tensor, inverse: Tensor, temperature: float, rows: slice, columns: slice
) -> Tensor:
    """A strip of exp(Z Z^T / t), its diagonal (a node with itself) set to zero."""
    products = torch.mm(patch[rows], patch[columns].T)
    strip = _scaled(products, inverse[rows] / temperature, inverse[columns]).exp_()
    strip.diagonal().zero_()
    return strip


def _scaled(matrix: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Rows and columns of a matrix multiplied in place by a number each."""
    return matrix.mul_(rows[:, None]).mul_(columns)


def _add_sums(sums: Tensor, strip: Tensor, rows: slice) -> None:
    """Add the sums of rows of a symmetric matrix whose strip of the upper triangle this is."""
    sums[rows] += strip.sum(dim=1)
    sums[rows.stop :] += strip[:, rows.stop - rows.start :].sum(dim=0)


def _row_blocks(rows: Tensor) -> Iterator[slice]:
    for start in range(0, rows.shape[0], ROWS):
        yield slice(start, start + ROWS)
