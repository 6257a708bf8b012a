"""Inputs that several libraries take: SciPy matrices, edges, and a narrow form of X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows
from ugcl._utils.random import seed_of
from ugcl.bench.libraries.peer import WIDTH, Run
from ugcl.graph import Graph


def matrices(graph: Graph, run: Run) -> tuple[Any, Any]:
    """Return adjacency and features, sparse ones as `csr_matrix`."""
    features = graph.features
    x = sp.csr_matrix(features) if sp.issparse(features) else np.asarray(features)
    return sp.csr_matrix(graph.adjacency), x


def edges(graph: Graph) -> Iterator[tuple[int, int]]:
    """Iterate over the edges (u, v) with u < v."""
    upper = sp.triu(graph.adjacency, format="coo")
    return zip(upper.row.tolist(), upper.col.tolist(), strict=True)


def with_loops(adjacency: Any) -> Any:
    """Return A + I."""
    return adjacency + sp.identity(adjacency.shape[0], dtype=np.float32, format="csr")


def svd(features: Any, seed: int) -> Any:
    """Return SVD(X), the first singular vectors times their values; X where it is as narrow."""
    from sklearn.decomposition import TruncatedSVD

    if features.shape[1] <= WIDTH:
        return dense_rows(features).astype(np.float32)
    return (
        TruncatedSVD(WIDTH, random_state=seed_of("bench", seed))
        .fit_transform(features)
        .astype(np.float32)
    )


def placed(rows: Any, nodes: Any, others: Any) -> Any:
    """Return `others` with the rows of these nodes replaced."""
    others[nodes] = rows
    return others
