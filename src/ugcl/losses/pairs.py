"""Scores of pairs of nodes without storing all S x S of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from ugcl.nn.kernels import plain
from ugcl.sparse import csr_from_coo, multiply

STRIP = 1024
"""Rows whose products with all others are computed at a time."""

Curve = Callable[[Tensor], tuple[Tensor, Tensor]]


def softplus_curve(score: Tensor) -> tuple[Tensor, Tensor]:
    """Return `log(1 + e^x)` and its derivative."""
    return softplus(score), torch.sigmoid(score)


def bounded_curve(score: Tensor) -> tuple[Tensor, Tensor]:
    """Return `log(1 + e^{sigmoid(x)})` and its derivative."""
    inner = torch.sigmoid(score)
    return softplus(inner), torch.sigmoid(inner) * inner * (1 - inner)


def all_pairs(left: Tensor, right: Tensor, curve: Curve) -> Tensor:
    """Return `sum_{i != j} f(l_i . r_j)`; the gradient is computed in the same pass.

    Cost: one product of S x D by D x S for the scores, two for the gradient. Memory: O(S D + S
    `STRIP`), never S x S.
    """
    if plain():
        return plain_all_pairs(left, right, curve)
    total: Tensor = _AllPairs.apply(left, right, curve)  # type: ignore[no-untyped-call]
    return total


def plain_all_pairs(left: Tensor, right: Tensor, curve: Curve) -> Tensor:
    """Return the sum by the plain formula, which stores all scores."""
    values, _ = curve(left @ right.T)
    return values.sum() - values.diagonal().sum()


def scores(left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return `l_i . r_j` of listed pairs (i, j), sorted by i.

    Cost: one sparse product forward and two backward, with one entry for each pair. Memory: that
    of the scores. Rows are not gathered: the scores are the entries of a sparse matrix, and so is
    their gradient G, of which `G r` and `G^T l` are sparse products.
    """
    if plain():
        return plain_scores(left, right, rows, columns)
    found: Tensor = _Scores.apply(left, right, rows, columns)  # type: ignore[no-untyped-call]
    return found


def plain_scores(left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the scores by the plain formula, which gathers both rows of every pair."""
    found: Tensor = torch.linalg.vecdot(left[rows], right[columns])
    return found


class _AllPairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, curve: Curve) -> Tensor:
        of_left, of_right = torch.empty_like(left), torch.zeros_like(right)
        total = left.new_zeros((), dtype=torch.float64)
        for start in range(0, left.shape[0], STRIP):
            strip = slice(start, min(start + STRIP, left.shape[0]))
            values, slopes = curve(torch.mm(left[strip], right.T))
            for found in (values, slopes):
                found[:, strip].fill_diagonal_(0)
            total += values.sum(dtype=torch.float64)
            torch.mm(slopes, right, out=of_left[strip])
            of_right.addmm_(slopes.T, left[strip])
        ctx.save_for_backward(of_left, of_right)
        return total.to(left.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        of_left, of_right = ctx.saved_tensors
        return of_left * grads[0], of_right * grads[0], None


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, rows, columns)
        shape = left.shape[0], right.shape[0]
        pattern = csr_from_coo(rows, columns, left.new_zeros(rows.numel()), shape)
        found: Tensor = torch.sparse.sampled_addmm(pattern, left, right.T, beta=0).values()
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        left, right, rows, columns = ctx.saved_tensors
        shape = left.shape[0], right.shape[0]
        order = torch.argsort(columns, stable=True)
        slopes = csr_from_coo(rows, columns, grads[0], shape)
        turned = csr_from_coo(columns[order], rows[order], grads[0][order], shape[::-1])
        return multiply(slopes, right), multiply(turned, left), None, None
