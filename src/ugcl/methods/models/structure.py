"""The structural block of an embedding, which belongs to the edges that a model was trained on."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor

from ugcl._utils.memo import cached_on
from ugcl._utils.rows import pieces
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.typing import CSRMatrix
from ugcl.views import structural_embedding

PIECE = 2**20
"""Numbers that are hashed at a time."""


def structural_block(
    adjacency: CSRMatrix, columns: int, trained_on: int, work: Workspace
) -> Tensor:
    """Return the structural embedding; zeros for a graph that the model was not trained on.

    The singular directions of two graphs are not those of each other.

    Args:
        adjacency: A, symmetric, without diagonal.
        columns: columns of the block.
        trained_on: `edges_key` of the training graph.
        work: where the block is kept.
    """
    size = adjacency.shape[0]
    if work.has("structure"):
        return work.stored("structure")
    if trained_on != edges_key(adjacency):
        zeros = ((np.zeros((r.stop - r.start, columns), np.float32),) for r in row_blocks(size))
        (rows,) = work.arrays({"structure": ((size, columns), np.dtype(np.float32))}, zeros)
        return rows
    if work.folder is not None:  # nothing of this size outlives the embedding
        block = structural_embedding(adjacency, columns, work=work)
        return work.result("structure", torch.from_numpy(block))
    block = cached_on(
        adjacency, ("structure", columns), lambda: structural_embedding(adjacency, columns)
    )
    return torch.from_numpy(block)


def edges_key(adjacency: CSRMatrix) -> int:
    """Return 63 bits that identify the edges."""
    digest = hashlib.sha256()
    arrays = {"indptr": np.int64, "indices": np.int64, "data": np.float32}
    for name, dtype in arrays.items():
        for piece in pieces(getattr(adjacency, name)):
            digest.update(np.ascontiguousarray(piece, dtype).data)
    return int.from_bytes(digest.digest()[:8], "big") >> 1
