"""The normalised adjacency matrix."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl._utils.rows import PIECE, take_rows
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.sparse import MAX_INT32, SparseMatrix, csr_tensor
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


def stored_adjacency(
    adjacency: CSRMatrix, self_loops: float, work: Workspace, name: str = "adjacency"
) -> SparseMatrix:
    """Return `normalised_adjacency` where a computation keeps its arrays.

    Args:
        adjacency: A, which may be mapped.
        self_loops: c.
        work: where the result is stored.
        name: its name there.
    """
    size = adjacency.shape[0]
    entries = adjacency.nnz + (size if self_loops else 0)
    index = np.dtype(np.int32 if max(entries, size) < MAX_INT32 else np.int64)
    lengths, columns, values = work.arrays(
        {
            f"{name} lengths": ((size,), index),
            f"{name} columns": ((entries,), index),
            f"{name} values": ((entries,), np.dtype(np.float32)),
        },
        normalised_rows(adjacency, self_loops),
    )
    starts = torch.zeros(size + 1, dtype=lengths.dtype, device=lengths.device)
    torch.cumsum(lengths, 0, out=starts[1:])
    matrix = csr_tensor(starts, columns, values, adjacency.shape)
    return SparseMatrix(matrix, matrix)


def normalised_rows(
    adjacency: CSRMatrix, self_loops: float
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]]:
    """Yield blocks of rows of `normalised_adjacency`, bit for bit, without the whole of it.

    Memory: N float64 and a few blocks.

    Args:
        adjacency: A, which may be mapped.
        self_loops: c.

    Yields:
        The lengths of the rows, and their columns and values.
    """
    size = adjacency.shape[0]
    scale = np.empty(size)
    for block, rows in _looped_rows(adjacency, self_loops):
        degree = block.sum(axis=1).astype(np.float64)
        with np.errstate(divide="ignore"):
            scale[rows] = np.where(degree > 0, 1 / np.sqrt(degree), 0)
    for block, rows in _looped_rows(adjacency, self_loops):
        lengths = np.diff(block.indptr)
        values = np.repeat(scale[rows], lengths)
        values *= block.data
        values *= scale[block.indices]
        yield lengths, block.indices, values.astype(np.float32)


def _looped_rows(adjacency: CSRMatrix, self_loops: float) -> Iterator[tuple[CSRMatrix, slice]]:
    """Yield blocks of rows of `A + c I`; those of A are not copied."""
    size = adjacency.shape[0]
    for rows in row_blocks(size):
        starts = adjacency.indptr[rows.start : rows.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        parts = adjacency.data[entries], adjacency.indices[entries], starts - starts[0]
        block = sp.csr_array(parts, shape=(starts.size - 1, size))
        if self_loops:
            diagonal = sp.eye_array(block.shape[0], size, k=rows.start, format="csr")
            block = (block + self_loops * diagonal).tocsr()
        yield block, rows


def with_self_loops(adjacency: CSRMatrix, self_loops: float) -> CSRMatrix:
    """Return `A + c I`."""
    if self_loops:
        adjacency = adjacency + self_loops * sp.eye_array(adjacency.shape[0], format="csr")
    return adjacency.tocsr()
