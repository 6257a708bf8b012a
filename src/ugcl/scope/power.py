"""The contextual view: a power of the adjacency matrix times the hidden representations."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from ugcl.errors import UGCLError
from ugcl.sparse import SparseMatrix

Context = Literal["power", "lazy"]

STAY: dict[Context, float] = {"power": 0.0, "lazy": 0.5}
"""How much of each step stays where it is."""


def power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`A^n H` (Equation 4) as n products with A; `A^n` is never formed.

    Cost: O(n nnz(A) D). n = 0 gives H itself.
    """
    return walk(adjacency, hidden, n, STAY["power"])


def lazy_power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`((I + A)/2)^n H`: half of every step stays where it is.

    The authors' code computes `(I + A)^n H`, the same up to the factor `2^n`, which the cosine
    does not see and which overflows float32 near n = 128.
    """
    return walk(adjacency, hidden, n, STAY["lazy"])


def walk(adjacency: SparseMatrix, hidden: Tensor, n: int, stay: float) -> Tensor:
    """`(stay I + (1 - stay) A)^n H`, each step in one pass over H; so is the gradient."""
    if n < 0:
        raise UGCLError(f"A^n H takes n of at least 0, not {n}")
    walked: Tensor = _Walk.apply(  # type: ignore[no-untyped-call]
        adjacency.matrix, adjacency.transpose, hidden, n, stay
    )
    return walked


def step(matrix: Tensor, hidden: Tensor, stay: float, out: Tensor | None = None) -> Tensor:
    """`stay H + (1 - stay) A H`."""
    return torch.addmm(hidden, matrix, hidden, beta=stay, alpha=1 - stay, out=out)


class _Walk(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, matrix: Tensor, transpose: Tensor, hidden: Tensor, n: int, stay: float
    ) -> Tensor:
        ctx.transpose, ctx.n, ctx.stay = transpose, n, stay
        return _steps(matrix, hidden, n, stay)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor, None, None]:
        return None, None, _steps(ctx.transpose, grads[0], ctx.n, ctx.stay), None, None


def _steps(matrix: Tensor, hidden: Tensor, n: int, stay: float) -> Tensor:
    for _ in range(n):
        hidden = step(matrix, hidden, stay)
    return hidden.clone() if n == 0 else hidden
