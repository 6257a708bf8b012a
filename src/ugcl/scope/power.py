"""The contextual view: a power of the adjacency matrix times the hidden representations."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from ugcl.sparse import SparseMatrix

Context = Literal["power", "lazy"]


def power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`A^n H` (Equation 4) as n products with A; `A^n` is never formed.

    Cost: O(n nnz(A) D). n = 0 gives H itself.
    """
    for _ in range(n):
        hidden = adjacency @ hidden
    return hidden


def lazy_power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`((I + A)/2)^n H`: half of every step stays where it is.

    The authors' code computes `(I + A)^n H`, the same up to the factor `2^n`, which the cosine
    does not see and which overflows float32 near n = 128.
    """
    for _ in range(n):
        hidden = (hidden + adjacency @ hidden) / 2
    return hidden


def contextual_view(context: Context, adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """The contextual view of scope n by the power of A or of its lazy version."""
    return (power if context == "power" else lazy_power)(adjacency, hidden, n)
