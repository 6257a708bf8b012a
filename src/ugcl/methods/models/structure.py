"""The structural block of an embedding, which belongs to the edges that a model was trained on."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from ugcl._utils.memo import cached_on
from ugcl._utils.rows import pieces
from ugcl.typing import CSRMatrix
from ugcl.views import structural_embedding


def structural_block(
    adjacency: CSRMatrix, columns: int, trained_on: int
) -> npt.NDArray[np.float32]:
    """Return the structural embedding; zeros for a graph that the model was not trained on.

    The singular directions of two graphs are not those of each other.

    Args:
        adjacency: A, symmetric, without diagonal.
        columns: columns of the block.
        trained_on: `edges_key` of the training graph.
    """
    if trained_on != edges_key(adjacency):
        return np.zeros((adjacency.shape[0], columns), dtype=np.float32)
    return cached_on(
        adjacency, ("structure", columns), lambda: structural_embedding(adjacency, columns)
    )


def edges_key(adjacency: CSRMatrix) -> int:
    """Return 63 bits that identify the edges."""
    digest = hashlib.sha256()
    arrays = {"indptr": np.int64, "indices": np.int64, "data": np.float32}
    for name, dtype in arrays.items():
        for piece in pieces(getattr(adjacency, name)):
            digest.update(np.ascontiguousarray(piece, dtype).data)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
