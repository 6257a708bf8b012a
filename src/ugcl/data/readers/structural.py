"""Features of a graph that has none: what its edges say about a node."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

PROJECTED = 128
"""Columns of the random projection; the bits of a node's signature."""

MOST_STEPS = 8
"""On the edges of Cora, PubMed and Amazon Photo alone, as many steps were better than fewer."""

MOST_ENTRIES = 40_000_000
"""Entries of the adjacency that all steps go over together: larger graphs get fewer steps."""

DEGREE_SCALE = 8 * np.log(2)
"""A node of degree 255 has a 1 in the column of degrees, about as much as the rest of its row."""


def structural_features(
    adjacency: Any, ids: Iterable[Any], steps: int | None = None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """The logarithm of a node's degree, and a random projection of the adjacency and its powers.

    Each node v has a signature r_v of `PROJECTED` random signs. With P = D^-1 A, row i of `P^k R`
    is the mean signature of where k steps of a random walk from i may end, and node i gets

        1/K sum_{k=1..K} (P^k R)_i / |(P^k R)_i|,

    so that nodes whose walks end at the same places are alike, up to noise of 1/sqrt(128). A
    signature is a hash of the node's id, so that it is the same in a graph that has grown.

    Args:
        adjacency: A, N x N, SciPy CSR without diagonal.
        ids: the ids of the nodes.
        steps: K; by default `MOST_STEPS`, or fewer for a large graph.

    Returns:
        N x 129, float32, and the names of the columns, which tell K.
    """
    steps = steps or max(1, min(MOST_STEPS, MOST_ENTRIES // max(adjacency.nnz, 1)))
    signs = _signatures(ids)
    features = np.zeros((signs.shape[0], PROJECTED + 1), dtype=np.float32)
    features[:, 0] = np.log1p(np.diff(adjacency.indptr)) / DEGREE_SCALE
    walk, ended = _walk(adjacency), signs
    del signs
    for _ in range(steps):
        ended = walk @ ended
        length = steps * np.sqrt(np.einsum("ij,ij->i", ended, ended))
        features[:, 1:] += ended / np.where(length > 0, length, 1)[:, None]
    return features, ("degree", *(f"walk{steps}_{i}" for i in range(PROJECTED)))


def steps_of(names: tuple[str, ...] | None) -> int | None:
    """How many steps structural features were made with, by the names of their columns."""
    found = re.fullmatch(r"walk(\d+)_0", names[1]) if names and len(names) > 1 else None
    return int(found[1]) if found and names and names[0] == "degree" else None


def _walk(adjacency: Any) -> Any:
    """D^-1 A."""
    strength = np.asarray(adjacency.sum(axis=1), dtype=np.float32).reshape(-1)
    rows = np.repeat(np.where(strength > 0, strength, 1), np.diff(adjacency.indptr))
    return sp.csr_array(
        (adjacency.data / rows, adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )


def _signatures(ids: Iterable[Any]) -> npt.NDArray[np.float32]:
    """`PROJECTED` random signs for each id."""
    size = PROJECTED // 8
    digests = b"".join(hashlib.blake2b(str(i).encode(), digest_size=size).digest() for i in ids)
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, PROJECTED)
    signs = bits.astype(np.float32)
    signs *= 2
    signs -= 1
    return signs
