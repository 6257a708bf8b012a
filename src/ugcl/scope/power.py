"""The contextual view: powers of the adjacency matrix times the hidden representations."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import CSRMatrix


def power(adjacency: SparseMatrix, hidden: Tensor, n: int) -> Tensor:
    """Return `A^n H` (Equation 4) by n products with A; `A^n` is never formed.

    Cost: O(n nnz(A) D), forward and backward. n = 0 gives H.
    """
    if n < 0:
        raise UGCLError(f"n must be at least 0, not {n}")
    context: Tensor = _Power.apply(  # type: ignore[no-untyped-call]
        adjacency.matrix, adjacency.transpose, hidden, n
    )
    return context


def lazy(adjacency: CSRMatrix) -> CSRMatrix:
    """Return `(I + A)/2`, the lazy random walk whose powers are the authors' context.

    Their code computes `(I + A)^n H`: the same up to the factor `2^n`, which the cosine ignores
    and which overflows float32 near n = 128.
    """
    identity = sp.eye_array(adjacency.shape[0], dtype=adjacency.dtype, format="csr")
    return (adjacency + identity) * 0.5


def unit_radius(adjacency: CSRMatrix) -> CSRMatrix:
    """Divide the block of each connected component by its spectral radius.

    The powers of a slice of a normalised adjacency vanish, fastest at nodes that lost all their
    neighbours: after a hundred steps such rows underflow in float32. Here norms are preserved. The
    directions of the rows, which are all that a cosine depends on, do not change.

    The radii come from twenty steps of power iteration and are slightly too small where it has not
    converged, so that powers grow slowly with n. Cost: O(N + E).

    Args:
        adjacency: A, symmetric and non-negative.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import

    count, labels = connected_components(adjacency, directed=False)
    vector = np.ones(labels.size)
    for _ in range(20):
        vector = adjacency @ vector
        radius = np.sqrt(np.bincount(labels, vector**2, minlength=count))
        radius[radius == 0] = 1
        vector /= radius[labels]
    return sp.csr_array(sp.diags_array(1 / radius[labels]) @ adjacency)


class _Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, hidden: Tensor, n: int) -> Tensor:
        ctx.transpose, ctx.n = transpose, n
        return _multiply_n_times(matrix, hidden, n)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor, None]:
        return None, None, _multiply_n_times(ctx.transpose, grads[0], ctx.n), None


def _multiply_n_times(matrix: Tensor, hidden: Tensor, n: int) -> Tensor:
    for _ in range(n):
        hidden = multiply(matrix, hidden)
    return hidden.clone() if n == 0 else hidden
