"""The normalised adjacency matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ugcl.typing import CSRMatrix

SMOOTHING_SELF_LOOPS = 2.0
"""Weight of the self-loops for smoothing features without training, `A^k X`."""


def normalised_adjacency(adjacency: CSRMatrix, self_loops: float = 1.0) -> CSRMatrix:
    """Return `D^-1/2 (A + c I) D^-1/2` with D the row sums of `A + c I`.

    The paper has c = 1 (Appendix, Lemma 2); the authors' code adds the self-loop twice, c = 2.
    With c = 0 the row of an isolated node is zero. Cost: O(N + E).

    Args:
        adjacency: A, symmetric, N x N, without diagonal.
        self_loops: c >= 0, the weight of the self-loops.

    Returns:
        A symmetric CSR matrix, float32, with eigenvalues in (-1, 1] for c > 0.
    """
    matrix = with_self_loops(adjacency, self_loops)
    degree = matrix.sum(axis=1).astype(np.float64)
    with np.errstate(divide="ignore"):
        scale = np.where(degree > 0, 1 / np.sqrt(degree), 0)
    values = np.repeat(scale, np.diff(matrix.indptr))
    values *= matrix.data
    values *= scale[matrix.indices]
    return sp.csr_array((values.astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)


def with_self_loops(adjacency: CSRMatrix, self_loops: float) -> CSRMatrix:
    """Return `A + c I`."""
    if self_loops:
        adjacency = adjacency + self_loops * sp.eye_array(adjacency.shape[0], format="csr")
    return adjacency.tocsr()
