"""The contextual view: a power of the adjacency matrix times the hidden representations."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.sparse import SparseMatrix, multiply

Context = Literal["power", "lazy"]


def power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """`A^n H` (Equation 4) as n products with A; `A^n` is never formed, nor is it backwards.

    Cost: O(n nnz(A) D). n = 0 gives H itself.
    """
    if n < 0:
        raise UGCLError(f"A^n H takes n of at least 0, not {n}")
    walked: Tensor = _Power.apply(  # type: ignore[no-untyped-call]
        adjacency.matrix, adjacency.transpose, hidden, n
    )
    return walked


def lazy(adjacency: Any) -> Any:
    """`(I + A)/2`, whose power is the authors' context: half of every step stays where it is.

    Their code computes `(I + A)^n H`, the same up to the factor `2^n`, which the cosine does not
    see and which overflows float32 near n = 128.

    Args:
        adjacency: A, SciPy CSR.
    """
    identity = sp.eye_array(adjacency.shape[0], dtype=adjacency.dtype, format="csr")
    return (adjacency + identity) * 0.5


def unit_radius(adjacency: Any) -> Any:
    """A with the part of each connected component divided by its largest eigenvalue.

    The powers of a part that was cut out of a normalised adjacency go to zero, those of a node that
    lost all its neighbours fastest: after a hundred steps float32 knows nothing of such rows. Here
    they keep their lengths. Directions, which are all that a cosine sees, stay what they are.

    The eigenvalues come from twenty steps of power iteration, from below: where they are a little
    too small, powers grow a little with n. Cost: O(N + E).

    Args:
        adjacency: A, symmetric with entries of at least 0, SciPy CSR.
    """
    count, labels = connected_components(adjacency, directed=False)
    vector = np.ones(labels.size)
    for _ in range(20):
        vector = adjacency @ vector
        growth = np.sqrt(np.bincount(labels, vector**2, minlength=count))
        growth[growth == 0] = 1
        vector /= growth[labels]
    return sp.csr_array(sp.diags_array(1 / growth[labels]) @ adjacency)


class _Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, hidden: Tensor, n: int) -> Tensor:
        ctx.transpose, ctx.n = transpose, n
        return _steps(matrix, hidden, n)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor, None]:
        return None, None, _steps(ctx.transpose, grads[0], ctx.n), None


def _steps(matrix: Tensor, hidden: Tensor, n: int) -> Tensor:
    for _ in range(n):
        hidden = multiply(matrix, hidden)
    return hidden.clone() if n == 0 else hidden
