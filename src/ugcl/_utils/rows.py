"""Reading of rows and entries of matrices that may be mapped from disk, and so larger than memory.

SciPy's own indexing copies a matrix without weights as a whole, whose data are one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import CSRMatrix, Features, NodeIndices

PIECE = 2**20
"""Numbers that are read at a time."""

MAX_SUMS = 2**22
"""Entries up to which every prefix sum is stored."""

STEP = 16
"""Entries between two prefix sums that are stored of longer arrays."""

PART = 2**13
"""Prefix sums that are looked up at a time."""


def row_entries(matrix: CSRMatrix, rows: NodeIndices) -> tuple[NodeIndices, NodeIndices]:
    """Return the positions of the entries of CSR rows, and the length of each row."""
    starts = matrix.indptr[rows].astype(np.int64)
    counts = matrix.indptr[rows + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    offsets = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)
    return np.repeat(starts, counts) + offsets, counts


def take_rows(matrix: Features, rows: NodeIndices) -> Features:
    """Return a copy of some rows, of a CSR matrix or an array of single or half precision."""
    if not sp.issparse(matrix):
        return np.asarray(matrix[rows], dtype=np.float32)
    positions, counts = row_entries(matrix, rows)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    parts = (matrix.data[positions], matrix.indices[positions], indptr)
    return sp.csr_array(parts, shape=(counts.size, matrix.shape[1]))


def induced(adjacency: CSRMatrix, nodes: NodeIndices) -> CSRMatrix:
    """Return the rows and columns of A at ascending nodes: the subgraph that they induce."""
    positions, counts = row_entries(adjacency, nodes)
    columns, inside = find(nodes, adjacency.indices[positions])
    rows = np.repeat(np.arange(nodes.size), counts)[inside]
    parts = adjacency.data[positions[inside]], (rows, columns[inside])
    return sp.csr_array(parts, shape=(nodes.size, nodes.size))


def single(matrix: Features) -> Features:
    """Return X in single precision; not a copy where it is."""
    return matrix.astype(np.float32, copy=False)


def has_weights(adjacency: CSRMatrix) -> bool:
    """Return whether any value differs from 1."""
    values = adjacency.data
    if values.strides == (0,):  # one number for all
        values = values[:1]
    return any((piece != 1).any() for piece in pieces(values))


def is_mapped(array: npt.NDArray[Any]) -> bool:
    """Return whether an array is mapped from a file."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap):
        owner = getattr(owner, "base", None)
    return owner is not None


def pieces(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield an array of one dimension in parts of `PIECE`."""
    return (array[start : start + PIECE] for start in range(0, array.size, PIECE))


def others(excluded: NodeIndices, ranks: NodeIndices) -> NodeIndices:
    """Return the numbers with these ranks among 0, 1, 2, ... without the excluded ones.

    Args:
        excluded: distinct numbers, ascending.
        ranks: places among the numbers that are left, from 0.
    """
    below = excluded - np.arange(excluded.size)  # numbers that are left before each of them
    return np.asarray(ranks + np.searchsorted(below, ranks, side="right"))


def find(members: NodeIndices, numbers: npt.NDArray[Any]) -> tuple[NodeIndices, Any]:
    """Return the places of numbers in an ascending array, and whether they are in it."""
    places = np.searchsorted(members, numbers.astype(members.dtype, copy=False))
    found = members.take(places, mode="clip") == numbers if members.size else places < 0
    return places, found


class PrefixSums:
    """Sums `s_k = v_0 + ... + v_(k-1)` in double precision, added in this order.

    Of long arrays every `STEP`-th is stored, and the others are added up when they are asked for,
    with the same bits.

    Args:
        values: v, which may be mapped.
    """

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.values = values
        self.step = 1 if values.size <= MAX_SUMS else STEP
        parts, total = [np.zeros(1)], np.zeros(1)
        for piece in pieces(values):
            sums = np.cumsum(np.concatenate([total, piece.astype(np.float64)]))
            parts.append(sums[self.step :: self.step])
            total = sums[-1:]
        self.stored = np.concatenate(parts)

    def at(self, positions: NodeIndices) -> npt.NDArray[np.float64]:
        """Return `s_k` for each position k."""
        if self.step == 1:
            return np.asarray(self.stored[positions])
        found = np.empty(positions.size)
        for part in _parts(positions.size):
            block, offset = np.divmod(positions[part], self.step)
            sums = self._sums(block)
            found[part] = sums[np.arange(block.size), offset]
        return found

    def search(self, targets: npt.NDArray[np.float64]) -> NodeIndices:
        """Return for each target the last k with `s_k <= target`."""
        block = np.searchsorted(self.stored, targets, side="right") - 1
        if self.step == 1:
            return block
        for part in _parts(targets.size):
            inside = (self._sums(block[part])[:, 1:] <= targets[part, None]).sum(axis=1)
            block[part] = np.minimum(block[part] * self.step + inside, self.values.size)
        return block

    def _sums(self, block: NodeIndices) -> npt.NDArray[np.float64]:
        """Return the sums from the start of each block to its end."""
        places = block[:, None] * self.step + np.arange(self.step)
        values = self.values.take(places, mode="clip").astype(np.float64)
        values[places >= self.values.size] = 0
        return np.cumsum(np.hstack([self.stored[block][:, None], values]), axis=1)


def _parts(size: int) -> Iterator[slice]:
    """Yield parts that stay in cache."""
    return (slice(start, start + PART) for start in range(0, size, PART))
