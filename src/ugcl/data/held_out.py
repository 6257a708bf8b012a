"""Edges that are held out of a graph, to ask an embedding for them afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.structural import steps_of, structural_features
from ugcl.graph import Graph

Pairs = npt.NDArray[np.int64]
"""E x 2 node numbers, the smaller first."""


def hold_out_edges(graph: Graph, share: float, seed: int = 0) -> tuple[Graph, Pairs]:
    """The graph without a random share of its edges, and those edges.

    Nodes stay, also those that lose all their edges. Structural features are made anew, as they
    would tell of the edges. The choice is a function of the edges and the seed alone.
    """
    upper = sp.triu(graph.adjacency, k=1, format="coo")
    count = round(share * upper.nnz)
    if not 2 <= count < upper.nnz:
        raise UGCLError(
            f"holding out {share:g} of {upper.nnz:,} edges leaves {count:,} to score and "
            f"{upper.nnz - count:,} to train on: --hold-out-edges must leave at least 2 and 1"
        )
    taken = np.zeros(upper.nnz, dtype=bool)
    taken[np.random.default_rng(seed).choice(upper.nnz, count, replace=False)] = True
    rows, columns = (ends.astype(np.int64) for ends in upper.coords)
    kept = sp.coo_array(
        (upper.data[~taken], (rows[~taken], columns[~taken])), shape=graph.adjacency.shape
    )
    reduced = replace(graph, adjacency=kept + kept.T)
    if steps := steps_of(graph.feature_names):
        ids = range(graph.num_nodes) if graph.ids is None else graph.ids.tolist()
        features, _ = structural_features(reduced.adjacency, ids, steps)
        reduced = replace(reduced, features=features)
    return reduced, np.stack([rows[taken], columns[taken]], axis=1)


def non_edges(adjacency: sp.csr_array, count: int, seed: int = 0) -> Pairs:
    """Distinct random pairs of nodes that no edge joins.

    Args:
        adjacency: A, symmetric CSR without diagonal.
        count: how many.
        seed: the seed.
    """
    size = adjacency.shape[0]
    there = size * (size - 1) // 2 - adjacency.nnz // 2
    if count > there:
        raise UGCLError(
            f"{count:,} pairs of nodes without an edge are needed, and the graph has {there:,}: "
            "hold out fewer edges"
        )
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(size, dtype=np.int64), np.diff(adjacency.indptr))
    known = rows * size + adjacency.indices
    found = np.empty(0, dtype=np.int64)
    while found.size < count:
        drawn = np.sort(rng.integers(size, size=(2 * (count - found.size) + 8, 2)), axis=1)
        keys = drawn[:, 0] * size + drawn[:, 1]
        keys = keys[(drawn[:, 0] != drawn[:, 1]) & ~np.isin(keys, known)]
        both = np.concatenate([found, keys])
        found = both[np.sort(np.unique(both, return_index=True)[1])][:count]
    return np.stack(np.divmod(found, size), axis=1)
