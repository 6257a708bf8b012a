"""Held-out edges and non-edges for link prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.data.readers.structural import steps_of, structural_features
from ugcl.graph import Graph
from ugcl.typing import CSRMatrix

Pairs = npt.NDArray[np.int64]
"""E x 2 node indices, the smaller first."""


def hold_out_edges(graph: Graph, fraction: float, seed: int = 0) -> tuple[Graph, Pairs]:
    """Remove a random fraction of the edges; return the reduced graph and the removed edges.

    All nodes are kept. Structural features are recomputed, because they would reveal the removed
    edges. The choice depends on the edges and the seed only.
    """
    upper = sp.triu(graph.adjacency, k=1, format="coo")
    count = round(fraction * upper.nnz)
    if not 2 <= count < upper.nnz:
        raise UGCLError(
            f"holding out {fraction:g} of {upper.nnz:,} edges leaves {count:,} to score and "
            f"{upper.nnz - count:,} to train on: change `hold_out_edges` to leave at least 2 and 1"
        )
    removed = np.zeros(upper.nnz, dtype=bool)
    rng = numpy_generator("held-out edges", seed)
    removed[rng.choice(upper.nnz, count, replace=False)] = True
    rows, columns = (ends.astype(np.int64) for ends in upper.coords)
    kept = sp.coo_array(
        (upper.data[~removed], (rows[~removed], columns[~removed])), shape=graph.adjacency.shape
    )
    reduced = replace(graph, adjacency=kept + kept.T)
    if steps := steps_of(graph.feature_names):
        ids = range(graph.num_nodes) if graph.ids is None else graph.ids.tolist()
        features, _ = structural_features(reduced.adjacency, ids, steps)
        reduced = replace(reduced, features=features)
    return reduced, np.stack([rows[removed], columns[removed]], axis=1)


def non_edges(adjacency: CSRMatrix, count: int, seed: int = 0) -> Pairs:
    """Sample distinct pairs of nodes that are not connected by an edge.

    Args:
        adjacency: A, symmetric CSR without diagonal.
        count: number of pairs.
        seed: seed of the random generator.
    """
    size = adjacency.shape[0]
    available = size * (size - 1) // 2 - adjacency.nnz // 2
    if count > available:
        raise UGCLError(
            f"{count:,} pairs of nodes without an edge are needed, but the graph has "
            f"{available:,}: hold out fewer edges (`hold_out_edges`)"
        )
    rng = numpy_generator("non-edges", seed)
    rows = np.repeat(np.arange(size, dtype=np.int64), np.diff(adjacency.indptr))
    edges = rows * size + adjacency.indices
    sampled = np.empty(0, dtype=np.int64)
    while sampled.size < count:
        pairs = np.sort(rng.integers(size, size=(2 * (count - sampled.size) + 8, 2)), axis=1)
        keys = pairs[:, 0] * size + pairs[:, 1]
        keys = keys[(pairs[:, 0] != pairs[:, 1]) & ~np.isin(keys, edges)]
        keys = np.concatenate([sampled, keys])
        sampled = keys[np.sort(np.unique(keys, return_index=True)[1])][:count]
    return np.stack(np.divmod(sampled, size), axis=1)
