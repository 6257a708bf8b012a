"""The simplest peer: singular vectors of X by scikit-learn, averaged over neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl.bench.libraries.matrices import matrices, svd, with_loops
from ugcl.bench.libraries.peer import WIDTH, Peer, Run
from ugcl.typing import Embeddings


def smoothed_svd(data: Any, run: Run) -> Embeddings:
    """Return A^2 SVD(X), with the A that averages over a node and its neighbours."""
    adjacency, features = data
    sums = with_loops(adjacency)
    scale = 1 / np.asarray(sums.sum(axis=1), dtype=np.float32).ravel()
    average = sp.csr_matrix(sp.diags(scale) @ sums)
    rows: Embeddings = average @ (average @ svd(features, run.seed))
    return rows


PEERS = (
    Peer(
        name="svd-smooth",
        package="scikit-learn",
        module="sklearn",
        about=f"`A^2 SVD(X)`, {WIDTH} columns",
        prepare=matrices,
        embed=smoothed_svd,
    ),
)
