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
    steps = steps or max(1, min(MAX_STEPS, MAX_ENTRIES // max(adjacency.nnz, 1)))
    signs = _random_signs(ids)
    features = np.zeros((signs.shape[0], NUM_PROJECTIONS + 1), dtype=np.float32)
    features[:, 0] = np.log1p(np.diff(adjacency.indptr)) / DEGREE_SCALE
    transition, projected = _transition(adjacency), signs
    del signs
    for _ in range(steps):
        projected = transition @ projected
        norm = steps * np.sqrt(np.einsum("ij,ij->i", projected, projected))
        features[:, 1:] += projected / np.where(norm > 0, norm, 1)[:, None]
    return features, ("degree", *(f"walk{steps}_{i}" for i in range(NUM_PROJECTIONS)))


def steps_of(names: tuple[str, ...] | None) -> int | None:
    """Return K of structural features by the names of their columns; None for other features."""
    match = re.fullmatch(r"walk(\d+)_0", names[1]) if names and len(names) > 1 else None
    return int(match[1]) if match and names and names[0] == "degree" else None


def _transition(adjacency: CSRMatrix) -> CSRMatrix:
    """Return D^-1 A."""
    strength = np.asarray(adjacency.sum(axis=1), dtype=np.float32).reshape(-1)
    rows = np.repeat(np.where(strength > 0, strength, 1), np.diff(adjacency.indptr))
    return sp.csr_array(
        (adjacency.data / rows, adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )


def _random_signs(ids: Iterable[Any]) -> npt.NDArray[np.float32]:
    """Return `NUM_PROJECTIONS` random signs for each id."""
    size = NUM_PROJECTIONS // 8
    digests = b"".join(hashlib.blake2b(str(i).encode(), digest_size=size).digest() for i in ids)
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, NUM_PROJECTIONS)
    signs = bits.astype(np.float32)
    signs *= 2
    signs -= 1
    return signs
