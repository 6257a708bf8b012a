"""pycleora: repeated averaging over neighbours, from random vectors or from features.

Rychalska, Bąbel, Gołuchowski, Michałowski and Dąbrowski, Cleora: a simple, strong and scalable
graph embedding scheme (2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ugcl._utils.linalg import dense_rows
from ugcl.bench.libraries.matrices import edges, matrices, placed, svd
from ugcl.bench.libraries.peer import WIDTH, Peer, Run
from ugcl.graph import Graph
from ugcl.typing import Embeddings

STEPS = 4
"""Steps from SVD(X): fewer than its default of 40, as its documentation advises for features."""

COLUMNS = "complex::reflexive::node"
"""Every line of its input is an edge, and every node is its own neighbour, too."""


def prepare(graph: Graph, run: Run) -> tuple[Any, Any, Any]:
    """Return its graph, the node of each of its rows, and X. It has no nodes without edges."""
    from pycleora import SparseMatrix

    lines = (f"{u} {v}" for u, v in edges(graph))
    matrix = SparseMatrix.from_iterator(lines, COLUMNS, num_workers=run.threads)
    return matrix, np.array(matrix.entity_ids, dtype=np.int64), matrices(graph, run)[1]


def default(data: Any, run: Run) -> Embeddings:
    """Embed the edges with its defaults: 40 steps, whitening after each."""
    return _structure(data, run, whiten=True)


def plain(data: Any, run: Run) -> Embeddings:
    """Embed the edges without whitening, which it computes in Rust throughout."""
    return _structure(data, run, whiten=False)


def _structure(data: Any, run: Run, *, whiten: bool) -> Embeddings:
    import pycleora

    matrix, nodes, features = data
    rows = pycleora.embed(matrix, seed=run.seed, num_workers=run.threads, whiten=whiten)
    return _all_nodes(rows, nodes, features.shape[0])


def with_features(data: Any, run: Run) -> Embeddings:
    """Embed with its function for node features and that function's defaults."""
    import pycleora

    matrix, nodes, features = data
    vectors = dense_rows(features)
    by_id = {str(node): vectors[node] for node in nodes}
    rows = pycleora.embed_with_node_features(matrix, by_id, num_workers=run.threads)
    return _all_nodes(rows, nodes, features.shape[0])


def from_svd(data: Any, run: Run) -> Embeddings:
    """Embed with SVD(X) as the starting vectors, without whitening."""
    import pycleora

    matrix, nodes, features = data
    first = svd(features, run.seed)
    rows = pycleora.embed(
        matrix,
        num_iterations=STEPS,
        initial_embeddings=np.ascontiguousarray(first[nodes]),
        num_workers=run.threads,
        whiten=False,
    )
    return _scaled(placed(rows, nodes, first))


def _all_nodes(rows: Any, nodes: Any, count: int) -> Embeddings:
    """Return a row for every node, zeros for nodes without edges."""
    full: Embeddings = placed(rows, nodes, np.zeros((count, rows.shape[1]), np.float32))
    return full


def _scaled(rows: Any) -> Any:
    """Return rows of norm 1, as its own are, also those of nodes without edges."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _peer(name: str, about: str, embed: Any) -> Peer:
    return Peer(
        name=name,
        package="pycleora",
        module="pycleora",
        about=about,
        prepare=prepare,
        embed=embed,
    )


PEERS = (
    _peer("pycleora", f"edges only: its defaults, 40 steps, {WIDTH} columns", default),
    _peer("pycleora-plain", "the same without whitening", plain),
    _peer("pycleora-features", "`embed_with_node_features`, its defaults", with_features),
    _peer("pycleora-svd", f"{STEPS} steps from SVD(X), without whitening", from_svd),
)
