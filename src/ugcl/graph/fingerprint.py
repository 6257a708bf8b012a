"""The fingerprint of a graph, of arrays in memory or mapped."""

from __future__ import annotations

import hashlib

import numpy as np
import scipy.sparse as sp

from ugcl.typing import CSRMatrix, Features

PIECE = 2**20
"""Numbers that the fingerprint takes at a time."""


def fingerprint(adjacency: CSRMatrix, features: Features) -> str:
    """Return the SHA-256 of A and X."""
    digest = hashlib.sha256()
    for matrix in (adjacency, features):
        digest.update(repr(matrix.shape).encode())
        sparse = sp.issparse(matrix)
        for part in (matrix.indptr, matrix.indices, matrix.data) if sparse else (matrix,):
            flat = part.reshape(-1)
            for start in range(0, flat.size, PIECE):
                piece = flat[start : start + PIECE]
                wide = piece.astype(np.int64) if part.dtype.kind == "i" else piece
                digest.update(np.ascontiguousarray(wide).data)
    return digest.hexdigest()
