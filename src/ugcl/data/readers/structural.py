"""Structural features for graphs without features."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import CSRMatrix

NUM_PROJECTIONS = 128
"""Columns of the random projection."""

MAX_STEPS = 8
"""On Cora, PubMed and Amazon Photo without features, fewer steps were worse."""

MAX_ENTRIES = 40_000_000
"""Limit of steps times entries of the adjacency: larger graphs get fewer steps."""

BLOCK = 2**16
"""Rows that are computed at a time, or sixteenths of their entries."""

Matrix = npt.NDArray[np.float32]

DEGREE_SCALE = 8 * np.log(2)
"""Scales a degree of 255 to 1, about the norm of the rest of a row."""


def structural_features(
    adjacency: CSRMatrix, ids: Iterable[Any], steps: int | None = None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """Return log degrees and a random projection of random-walk probabilities.

    Row r_v of R holds 128 random signs for node v. With P = D^-1 A, the projected features are

        1/K sum_{k=1..K} (P^k R)_i / |(P^k R)_i|,

    so that nodes whose random walks end at the same nodes have similar features, up to noise of
    1/sqrt(128). The signs are a hash of the node's id, so that they stay the same when the graph
    grows. Cost: O(K E 128).

    Args:
        adjacency: A, N x N, SciPy CSR without diagonal.
        ids: ids of the nodes.
        steps: K; by default `MAX_STEPS`, or fewer for a large graph.

    Returns:
        N x 129, float32, and the names of the columns, which contain K.
    """
    steps = steps or num_steps(adjacency.nnz)
    signs = random_signs(ids)
    features = np.zeros((signs.shape[0], NUM_PROJECTIONS + 1), dtype=np.float32)
    fill_features(adjacency, signs, np.empty_like(signs), features, steps)
    return features, names_of(steps)


def num_steps(nnz: int) -> int:
    """Return K by the number of entries of the adjacency."""
    return max(1, min(MAX_STEPS, MAX_ENTRIES // max(nnz, 1)))


def names_of(steps: int) -> tuple[str, ...]:
    """Return the names of the columns."""
    return ("degree", *(f"walk{steps}_{i}" for i in range(NUM_PROJECTIONS)))


def fill_features(
    adjacency: CSRMatrix, signs: Matrix, other: Matrix, features: Matrix, steps: int
) -> None:
    """Compute structural features by blocks of rows; all arrays may be mapped files.

    Args:
        adjacency: A, N x N.
        signs: R, N x 128, which is overwritten.
        other: room for an array of the same shape.
        features: zeros, N x 129, which become the features.
        steps: K.
    """
    indptr, projected = adjacency.indptr, signs
    blocks = _row_blocks(indptr)
    for first, last in blocks:
        degrees = np.diff(indptr[first : last + 1])
        features[first:last, 0] = np.log1p(degrees) / DEGREE_SCALE
    for _ in range(steps):
        for first, last in blocks:
            block = _transition(adjacency, first, last) @ projected
            other[first:last] = block
            norm = steps * np.sqrt(np.einsum("ij,ij->i", block, block))
            features[first:last, 1:] += block / np.where(norm > 0, norm, 1)[:, None]
        projected, other = other, projected


def _row_blocks(indptr: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Split rows into blocks of at most `BLOCK` rows and about as many entries."""
    rows, first, blocks = indptr.size - 1, 0, []
    while first < rows:
        last = int(np.searchsorted(indptr, int(indptr[first]) + 16 * BLOCK, side="right")) - 1
        last = min(max(last, first + 1), first + BLOCK, rows)
        blocks.append((first, last))
        first = last
    return blocks


def steps_of(names: tuple[str, ...] | None) -> int | None:
    """Return K of structural features by the names of their columns; None for other features."""
    match = re.fullmatch(r"walk(\d+)_0", names[1]) if names and len(names) > 1 else None
    return int(match[1]) if match and names and names[0] == "degree" else None


def _transition(adjacency: CSRMatrix, first: int, last: int) -> CSRMatrix:
    """Return rows of D^-1 A."""
    indptr = adjacency.indptr[first : last + 1]
    begin, end = int(indptr[0]), int(indptr[-1])
    parts = adjacency.data[begin:end], adjacency.indices[begin:end], indptr - indptr[0]
    rows = sp.csr_array(parts, shape=(last - first, adjacency.shape[1]))
    strength = np.asarray(rows.sum(axis=1), dtype=np.float32).reshape(-1)
    divisors = np.repeat(np.where(strength > 0, strength, 1), np.diff(indptr))
    return sp.csr_array((parts[0] / divisors, *parts[1:]), shape=rows.shape)


def random_signs(ids: Iterable[Any]) -> npt.NDArray[np.float32]:
    """Return `NUM_PROJECTIONS` random signs for each id."""
    size = NUM_PROJECTIONS // 8
    digests = b"".join(hashlib.blake2b(str(i).encode(), digest_size=size).digest() for i in ids)
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, NUM_PROJECTIONS)
    signs = bits.astype(np.float32)
    signs *= 2
    signs -= 1
    return signs
