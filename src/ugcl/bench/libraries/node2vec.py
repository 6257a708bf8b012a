"""fastnode2vec: random walks compiled by Numba, skip-gram by gensim.

Grover and Leskovec, node2vec: scalable feature learning for networks (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ugcl.bench.libraries.matrices import edges, placed
from ugcl.bench.libraries.peer import Peer, Run
from ugcl.graph import Graph
from ugcl.typing import Embeddings

SETTINGS = {"dim": 128, "walk_length": 80, "window": 10, "p": 1.0, "q": 1.0}
WALKS = 10
"""Walks from every node; this and `SETTINGS` as in the paper, section 4.3, with p = q = 1."""


def prepare(graph: Graph, run: Run) -> tuple[Any, int]:
    """Return its graph and the number of nodes. It has no nodes without edges."""
    from fastnode2vec import Graph as WalkGraph

    return WalkGraph(edges(graph), directed=False, weighted=False, verbose=False), graph.num_nodes


def embed(data: Any, run: Run) -> Embeddings:
    """Embed by node2vec; nodes without edges get zeros.

    No seed: with one, it restarts the random numbers in every batch of walks, which cost one
    to three points in trials on Cora.
    """
    from fastnode2vec import Node2Vec

    graph, count = data
    model = Node2Vec(graph, **SETTINGS, workers=run.threads)
    model.train(epochs=1 if run.brief else WALKS, verbose=False)
    rows, nodes = model.wv.vectors, model.wv.index_to_key
    full: Embeddings = placed(rows, nodes, np.zeros((count, rows.shape[1]), np.float32))
    return full


PEERS = (
    Peer(
        name="fastnode2vec",
        package="fastnode2vec",
        module="fastnode2vec",
        about="edges only: 10 walks of 80 nodes, window 10, 128 columns",
        prepare=prepare,
        embed=embed,
    ),
)
