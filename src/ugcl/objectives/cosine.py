"""UGCL's objective, Equation 5: cosine contrast with negatives in the patch view only.

    L = -1/S sum_v log( e^{cos(h_v, c_v)/t} / sum_{u != v} e^{cos(h_v, h_u)/t} )
      =  1/S sum_v ( log r_v - cos(h_v, c_v)/t ),     r_v = sum_{u != v} e^{cos(h_v, h_u)/t}

with h the patch view, c the contextual view, t the temperature (1 in the paper). Only the diagonal
of the cross-view similarities enters, so only the diagonal is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl.kernels import plain

STRIP = 384
"""Rows of a strip of the similarity matrix."""

ROWS = 64
"""Rows of an element-wise pass: few enough to stay in a core's cache from one pass to the next."""

LEAST_TEMPERATURE = 0.02
"""With a margin: sums of exp(cos/t) leave the range of float32 near 0.012."""

Denominators = tuple[Tensor, Callable[[], Tensor]]
"""log r, and what gives the gradient of its mean with respect to Z."""


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
    """The loss and its gradients; with z = h/|h| and c' = c/|c| they are as follows.

        dL/dh = (g - z <z, g>) / |h|,   g = d(mean log r)/dz - c'/(S t)
        dL/dc = (c' <z, c'> - z) / (S t |c|)

    Both are there when the loss is, so they are all that is kept for the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
    ) -> Tensor:
        anchors, needed = torch.empty_like(patch), any(ctx.needs_input_grad)
        length, around, cosine = patch.new_empty(3, patch.shape[0])
        for r in _row_blocks(patch):
            length[r], around[r] = _lengths(patch[r]), _lengths(context[r])
            torch.div(patch[r], length[r, None], out=anchors[r])
            cosine[r] = torch.linalg.vecdot(anchors[r], context[r]) / around[r]
        if negatives is None:
            log_total, gradient_of_mean = _all_negatives(anchors, temperature, needed)
        else:
            log_total, gradient_of_mean = _sampled_negatives(anchors, temperature, negatives)
        loss: Tensor = (log_total - cosine / temperature).mean()
        if not needed:
            return loss
        gradient = gradient_of_mean()
        pull = 1 / (patch.shape[0] * temperature * around)
        for r in _row_blocks(patch):
            gradient[r].addcmul_(context[r], -pull[r, None])
            along = torch.linalg.vecdot(anchors[r], gradient[r])
            gradient[r].addcmul_(anchors[r], -along[:, None]).div_(length[r, None])
            anchors[r].mul_(-pull[r, None])
            anchors[r].addcmul_(context[r], (cosine[r] * pull[r] / around[r])[:, None])
        ctx.save_for_backward(gradient, anchors)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_patch, of_context = ctx.saved_tensors
        if grads[0].device.type == "cpu" and grads[0] == 1:
            return of_patch, of_context, None, None
        return grads[0] * of_patch, grads[0] * of_context, None, None


def _all_negatives(anchors: Tensor, temperature: float, needed: bool) -> Denominators:
    """From the strips of the upper triangle of Z Z^T, each for its rows and for its columns.

    With E = exp(Z Z^T / t) without its diagonal, the gradient is

        d(mean log r)/dZ = W Z,    W_vu = E_vu (1/r_v + 1/r_u) / (S t),

    where W is symmetric too. Nothing is kept for a gradient that is not needed.
    """
    total = anchors.new_zeros(anchors.shape[0])
    kept: dict[int, Tensor] = {}
    room = anchors.numel() if needed else 0
    for rows, columns in _strips(anchors):
        strip = _exponentials(anchors, temperature, rows, columns)
        total[rows] += strip.sum(dim=1)
        total[rows.stop :] += strip[:, rows.stop - rows.start :].sum(dim=0)
        if strip.numel() <= room:
            kept[rows.start] = strip
            room -= strip.numel()

    def gradient_of_mean() -> Tensor:
        gradient = torch.empty_like(anchors)
        share = 1 / (total * (temperature * total.numel()))
        for rows, columns in _strips(anchors):
            strip = kept.pop(rows.start, None)
            if strip is None:
                strip = _exponentials(anchors, temperature, rows, columns)
            strip *= share[rows, None] + share[columns]
            beta = min(rows.start, 1)  # the first strip reaches all rows of the gradient
            gradient[rows].addmm_(strip, anchors[columns], beta=beta)
            after = strip[:, rows.stop - rows.start :]
            gradient[rows.stop :].addmm_(after.T, anchors[rows], beta=beta)
        return gradient

    return total.log(), gradient_of_mean


def _sampled_negatives(anchors: Tensor, temperature: float, negatives: Tensor) -> Denominators:
    """From K columns of Z Z^T, which are held: S x K."""
    size, count = anchors.shape[0], negatives.numel()
    columns = anchors[negatives]
    shares = torch.mm(anchors, columns.T).div_(temperature).exp_()
    shares[negatives, torch.arange(count, device=anchors.device)] = 0
    itself = torch.zeros(size, dtype=torch.long, device=anchors.device)
    itself[negatives] = 1
    total = shares.sum(dim=1)

    def gradient_of_mean() -> Tensor:
        shares.div_((total * (temperature * size))[:, None])
        return torch.mm(shares, columns).index_add_(0, negatives, torch.mm(shares.T, anchors))

    return total.log() + _scale(itself, count), gradient_of_mean


def _strips(anchors: Tensor) -> Iterator[tuple[slice, slice]]:
    """Rows of the upper triangle, and the columns from the diagonal on."""
    size = anchors.shape[0]
    for start in range(0, size, STRIP):
        yield slice(start, min(start + STRIP, size)), slice(start, size)


def _exponentials(anchors: Tensor, temperature: float, rows: slice, columns: slice) -> Tensor:
    """A strip of exp(Z Z^T / t), its diagonal (a node with itself) set to zero."""
    strip = torch.mm(anchors[rows], anchors[columns].T).div_(temperature).exp_()
    strip.diagonal().zero_()
    return strip


def _row_blocks(rows: Tensor) -> Iterator[slice]:
    for start in range(0, rows.shape[0], ROWS):
        yield slice(start, start + ROWS)
