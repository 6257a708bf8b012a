"""The connected components of a graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.graph import Graph

SPARSE = 2
"""Edges for each node that are enough to find the giant piece of a random graph."""


def num_components(graph: Graph) -> int:
    """The number of connected components; a node without edges is one."""
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(graph.adjacency.indptr))
    return int(pieces(sources, graph.adjacency.indices, graph.num_nodes).max()) + 1


def pieces(
    first: npt.NDArray[np.integer], second: npt.NDArray[np.integer], num_nodes: int
) -> npt.NDArray[np.int32]:
    """Number the connected pieces of a graph: for each node the number of its piece, from 0.

    Some of the edges join nearly all nodes that can be joined; the others need a look only where
    they join two pieces of that.
    """
    step = max(1, first.size // (SPARSE * num_nodes))
    piece = _pieces(first[::step], second[::step], num_nodes)
    if step == 1:
        return piece
    one, two = piece[first], piece[second]
    apart = one != two
    return _pieces(one[apart], two[apart], int(piece.max()) + 1)[piece]


def _pieces(
    first: npt.NDArray[np.integer], second: npt.NDArray[np.integer], num_nodes: int
) -> npt.NDArray[np.int32]:
    matrix = sp.coo_array((np.ones(first.size), (first, second)), shape=(num_nodes, num_nodes))
    piece: npt.NDArray[np.int32] = sp.csgraph.connected_components(matrix, directed=False)[1]
    return piece
