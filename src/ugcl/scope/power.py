"""The contextual view: a power of the adjacency matrix times the hidden representations."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from ugcl.sparse import SparseMatrix

Context = Literal["power", "lazy"]


def power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`A^n H` (Equation 4) as n products with A; `A^n` is never formed.

    Cost: O(n nnz(A) D). n = 0 gives H itself.
    """
    return _steps(adjacency, hidden, n, stay=0.0)


def lazy_power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`((I + A)/2)^n H`: half of every step stays where it is.

    The authors' code computes `(I + A)^n H`, the same up to the factor `2^n`, which the cosine
    does not see and which overflows float32 near n = 128.
    """
    return _steps(adjacency, hidden, n, stay=0.5)


def _steps(adjacency: SparseMatrix, hidden: Tensor, n: int, stay: float) -> Tensor:
    moved: Tensor = _Steps.apply(  # type: ignore[no-untyped-call]
        adjacency.matrix, adjacency.transpose, hidden, n, stay
    )
    return moved


class _Steps(torch.autograd.Function):
    """n times `H <- stay H + (1 - stay) A H`, each in one pass over H; so is the gradient."""

    @staticmethod
    def forward(
        ctx: Any, matrix: Tensor, transpose: Tensor, hidden: Tensor, n: int, stay: float
    ) -> Tensor:
        ctx.transpose, ctx.n, ctx.stay = transpose, n, stay
        return _walk(matrix, hidden, n, stay)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor, None, None]:
        return None, None, _walk(ctx.transpose, grads[0], ctx.n, ctx.stay), None, None


def _walk(matrix: Tensor, hidden: Tensor, n: int, stay: float) -> Tensor:
    for _ in range(n):
        hidden = torch.addmm(hidden, matrix, hidden, beta=stay, alpha=1 - stay)
    return hidden.clone() if n == 0 else hidden


def contextual_view(context: Context, adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """The contextual view of scope n by the power of A or of its lazy version."""
    return (power if context == "power" else lazy_power)(adjacency, hidden, n)
