"""UGCL's objective, Equation 5: cosine contrast with negatives in the patch view only.

    L = -1/S sum_v log( e^{cos(h_v, c_v)/t} / sum_{u != v} e^{cos(h_v, h_u)/t} )
      =  1/S sum_v ( log r_v - cos(h_v, c_v)/t ),     r_v = sum_{u != v} e^{cos(h_v, h_u)/t}

with h the patch view, c the contextual view, t the temperature (1 in the paper). Only the diagonal
of the cross-view similarities enters, so only the diagonal is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

BLOCK = 1024
"""Rows of one square block of the similarity matrix."""

LEAST_TEMPERATURE = 0.02
"""With a margin: sums of exp(cos/t) leave the range of float32 near 0.012."""

KEPT = 2**26
"""Similarities (S^2) up to which the forward pass keeps its blocks for the backward pass."""


def cosine_contrast(
    patch: Tensor,
    context: Tensor,
    temperature: float = 1.0,
    negatives: Tensor | None = None,
) -> Tensor:
    """The loss of Equation 5.

    Cost with all negatives: half a product of S x D by D x S forwards (the similarities are
    symmetric), one backwards, and half a product more where S^2 > `KEPT`, to compute the
    similarities again instead of keeping them. Memory: O(S D) and, where they are kept,
    about half of the S^2 similarities.

    Args:
        patch: H, S x D.
        context: A^n H, S x D, row v the context of row v of `patch`.
        temperature: t >= `LEAST_TEMPERATURE`.
        negatives: None for all S - 1 other nodes; or K distinct rows that stand for all, which
            makes each r_v an unbiased estimate at the cost K/S.
    """
    anchors = unit_rows(patch)
    positive = (anchors * unit_rows(context)).sum(dim=1) / temperature
    if negatives is None:
        log_denominator: Tensor = _LogDenominator.apply(anchors, temperature)  # type: ignore[no-untyped-call]
    else:
        log_denominator = _sampled_log_denominator(anchors, temperature, negatives)
    return (log_denominator - positive).mean()


def unit_rows(rows: Tensor) -> Tensor:
    """Rows of length 1; a row of zeros is divided by 1 and so has the cosine 0 with any other.

    `torch.nn.functional.normalize`, which the authors' code uses, divides such a row by 1e-12. On
    CiteSeer, where some nodes have no features, that gives the bias a gradient near 1e8 in the
    first step, and Adam's memory of it keeps the bias where it is for the rest of training.
    """
    length = rows.norm(dim=1, keepdim=True)
    return rows / torch.where(length > 0, length, 1)


def _sampled_log_denominator(anchors: Tensor, temperature: float, negatives: Tensor) -> Tensor:
    """Estimate log r_v from K columns: (S - 1)/K' times their sum, K' of them not v itself."""
    size, count = anchors.shape[0], negatives.numel()
    logits = anchors @ anchors[negatives].T / temperature
    itself = torch.zeros_like(logits, dtype=torch.bool)
    itself[negatives, torch.arange(count, device=anchors.device)] = True
    others = count - itself.sum(dim=1)
    total = logits.masked_fill(itself, float("-inf")).logsumexp(dim=1)
    return total + ((size - 1) / others).log()


class _LogDenominator(torch.autograd.Function):
    """log r_v for all v, from the blocks of the upper triangle of Z Z^T.

    With E = exp(Z Z^T / t) without its diagonal and g the gradient of log r,

        dL/dZ = W Z / t,    W_vu = E_vu (g_v / r_v + g_u / r_u),

    which is symmetric too: one product, each block used for its rows and for its columns.
    """

    @staticmethod
    def forward(ctx: Any, anchors: Tensor, temperature: float) -> Tensor:
        size = anchors.shape[0]
        kept: list[Tensor] | None = [] if size * size <= KEPT else None
        total = anchors.new_zeros(size)
        for rows, columns in _upper_blocks(size):
            block = _exponentials(anchors, temperature, rows, columns)
            total[rows] += block.sum(dim=1)
            if rows != columns:
                total[columns] += block.sum(dim=0)
            if kept is not None:
                kept.append(block)
        ctx.save_for_backward(anchors, total)
        ctx.temperature, ctx.kept = temperature, kept
        return total.log()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        anchors, total = ctx.saved_tensors
        size, temperature = anchors.shape[0], ctx.temperature
        share = grads[0] / (total * temperature)
        gradient = torch.zeros_like(anchors)
        for i, (rows, columns) in enumerate(_upper_blocks(size)):
            block = (
                _exponentials(anchors, temperature, rows, columns)
                if ctx.kept is None
                else ctx.kept[i]
            )
            block = block * (share[rows, None] + share[None, columns])
            gradient[rows].addmm_(block, anchors[columns])
            if rows != columns:
                gradient[columns].addmm_(block.T, anchors[rows])
        return gradient, None


def _upper_blocks(size: int) -> Iterator[tuple[slice, slice]]:
    starts = range(0, size, BLOCK)
    for i in starts:
        for j in starts[i // BLOCK :]:
            yield slice(i, min(i + BLOCK, size)), slice(j, min(j + BLOCK, size))


def _exponentials(anchors: Tensor, temperature: float, rows: slice, columns: slice) -> Tensor:
    """One block of exp(Z Z^T / t), its diagonal (a node with itself) set to zero."""
    block = torch.mm(anchors[rows], anchors[columns].T).div_(temperature).exp_()
    if rows == columns:
        block.fill_diagonal_(0)
    return block
