"""The normalised adjacency matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SMOOTHING_SELF_LOOPS = 2.0
"""Weight of the self-loops where features are smoothed without training: `A^k X`."""


def normalised_adjacency(adjacency: Any, self_loops: float = 1.0) -> Any:
    """`D^-1/2 (A + c I) D^-1/2` with D the row sums of `A + c I`.

    The paper has c = 1 (Appendix, Lemma 2); the authors' code adds the self-loop twice, c = 2.
    With c = 0 the row of an isolated node is zero. Cost: O(N + E).

    Args:
        adjacency: A, symmetric, N x N, SciPy sparse, without diagonal.
        self_loops: c >= 0, the weight of each node's edge to itself.

    Returns:
        A symmetric CSR matrix, float32, with eigenvalues in (-1, 1] for c > 0.
    """
    looped = with_self_loops(adjacency, self_loops)
    degree = looped.sum(axis=1).astype(np.float64)
    with np.errstate(divide="ignore"):
        root = np.where(degree > 0, 1 / np.sqrt(degree), 0)
    values = np.repeat(root, np.diff(looped.indptr))
    values *= looped.data
    values *= root[looped.indices]
    return sp.csr_array((values.astype(np.float32), looped.indices, looped.indptr), looped.shape)


def with_self_loops(adjacency: Any, self_loops: float) -> Any:
    """`A + c I`, CSR."""
    if self_loops:
        adjacency = adjacency + self_loops * sp.eye_array(adjacency.shape[0], format="csr")
    return adjacency.tocsr()
