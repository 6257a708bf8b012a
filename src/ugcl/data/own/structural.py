"""Features of a graph that has none: what its edges say about a node."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

PROJECTED = 128
"""Columns of the random projection; the bits of a node's signature."""

BLOCK = 32
"""Columns that are projected at a time, to hold less memory."""

DEGREE_SCALE = 8 * np.log(2)
"""A node of degree 255 has a 1 in the column of degrees, as long as the rest of its row is."""

NAMES = ("degree", *(f"projection_{i}" for i in range(PROJECTED)))


def structural_features(adjacency: Any, ids: Iterable[Any]) -> npt.NDArray[np.float32]:
    """The logarithm of a node's degree, and a random projection of its row of the adjacency.

    Each node v has a signature r_v of `PROJECTED` random signs, and node i gets

        sum_v A_iv r_v / |sum_v A_iv r_v|,

    so that nodes with common neighbours are alike: the inner product of two rows of A is kept up to
    noise of 1/sqrt(128). A signature is a hash of the node's id, so that it is the same in
    a graph that has grown.

    Args:
        adjacency: A, N x N, SciPy CSR without diagonal.
        ids: the ids of the nodes.

    Returns:
        N x 129, float32.
    """
    bits = _signatures(ids)
    features = np.empty((bits.shape[0], len(NAMES)), dtype=np.float32)
    features[:, 0] = np.log1p(np.diff(adjacency.indptr)) / DEGREE_SCALE
    projected = features[:, 1:]
    for first in range(0, PROJECTED, BLOCK):
        block = slice(first, first + BLOCK)
        signs = np.unpackbits(bits[:, first // 8 : (first + BLOCK) // 8], axis=1) * np.float32(2)
        signs -= 1
        projected[:, block] = adjacency @ signs
    length = np.sqrt(np.einsum("ij,ij->i", projected, projected))
    projected /= np.where(length > 0, length, 1)[:, None]
    return features


def _signatures(ids: Iterable[Any]) -> npt.NDArray[np.uint8]:
    """`PROJECTED` random bits for each id."""
    size = PROJECTED // 8
    digests = b"".join(hashlib.blake2b(str(i).encode(), digest_size=size).digest() for i in ids)
    return np.frombuffer(digests, dtype=np.uint8).reshape(-1, size)
