"""The normalised adjacency matrix."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.rows import PIECE, take_rows
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
    return _scaled(matrix, _inverse_root(matrix.sum(axis=1)))


def degree_scale(adjacency: CSRMatrix, self_loops: float = 1.0) -> npt.NDArray[np.float64]:
    """Return the diagonal of `D^-1/2` in the normalised adjacency, with the same bits.

    A may be mapped from disk: it is read once, by blocks of rows, and only if it has weights.
    """
    indptr, size = adjacency.indptr, adjacency.shape[0]
    if adjacency.data.strides == (0,) and float(self_loops).is_integer():  # the sums are exact
        return _inverse_root(np.diff(indptr) + np.float64(self_loops))
    degree = np.empty(size)
    bounds = np.arange(0, int(indptr[-1]) + 1, PIECE).astype(indptr.dtype)
    starts = np.unique(np.searchsorted(indptr, bounds))
    for first, last in pairwise([*np.minimum(starts, size).tolist(), size]):
        if first < last:
            block = take_rows(adjacency, np.arange(first, last))
            if self_loops:
                block = block + self_loops * sp.eye_array(last - first, size, k=first, format="csr")
            degree[first:last] = block.sum(axis=1)
    return _inverse_root(degree)


def normalised_slice(
    adjacency: CSRMatrix, scale: npt.NDArray[np.float64], self_loops: float
) -> CSRMatrix:
    """Return a slice of the normalised adjacency of a graph, with the same bits.

    Args:
        adjacency: the same rows and columns of A.
        scale: `degree_scale` of the graph at these nodes.
        self_loops: c.
    """
    return _scaled(with_self_loops(adjacency, self_loops), scale)


def _inverse_root(degree: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.where(degree > 0, 1 / np.sqrt(degree.astype(np.float64, copy=False)), 0)


def _scaled(matrix: CSRMatrix, scale: npt.NDArray[np.float64]) -> CSRMatrix:
    """Multiply rows and columns by their scale."""
    values = np.repeat(scale, np.diff(matrix.indptr))
    values *= matrix.data
    values *= scale[matrix.indices]
    return sp.csr_array((values.astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)


def with_self_loops(adjacency: CSRMatrix, self_loops: float) -> CSRMatrix:
    """Return `A + c I`."""
    if self_loops:
        adjacency = adjacency + self_loops * sp.eye_array(adjacency.shape[0], format="csr")
    return adjacency.tocsr()
