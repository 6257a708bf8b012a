"""Sizes of the connected components, also of a graph that is larger than memory.

SciPy copies the adjacency in double precision. Of large graphs, labels of nodes are hooked to lower
ones until the ends of every edge have the same (Shiloach and Vishkin, 1982): first over the first
two neighbours of each node, which leaves most nodes of most graphs in one component, then over all
edges of the others (Sutton et al., "Optimizing Parallel Graph Connectivity Computation via Subgraph
Sampling", IPDPS 2018). Cost: O(N) memory and, unless the graph is in many pieces, time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from ugcl._utils.random import numpy_generator
from ugcl._utils.rows import row_entries
from ugcl.typing import CSRMatrix, NodeIndices
from ugcl.views import LARGE_GRAPH

NEIGHBOURS = 2
"""Neighbours of each node that are linked first."""

ROWS = 2**18
"""Nodes whose edges are read at a time."""

SAMPLE = 1000
"""Nodes by which the largest component is recognised."""

Edges = Iterator[tuple[NodeIndices, NodeIndices]]


def component_sizes(adjacency: CSRMatrix) -> npt.NDArray[np.int64]:
    """Return the number of nodes of each connected component.

    Args:
        adjacency: A, symmetric; it may be mapped.
    """
    if adjacency.shape[0] <= LARGE_GRAPH:
        labels = connected_components(adjacency, directed=False)[1]
    else:
        labels = hooked_labels(adjacency)
    sizes = np.bincount(labels)
    return np.asarray(sizes[sizes > 0])


def hooked_labels(adjacency: CSRMatrix) -> npt.NDArray[np.int64]:
    """Return for each node the lowest number of a node of its component."""
    nodes = np.arange(adjacency.shape[0])
    labels = nodes.copy()
    for neighbour in range(NEIGHBOURS):
        _link(labels, lambda k=neighbour: _kth_edges(adjacency, k))  # type: ignore[misc]
    some = labels[numpy_generator("bench").integers(labels.size, size=SAMPLE)]
    others = np.flatnonzero(labels != np.bincount(some).argmax())
    _link(labels, lambda: _all_edges(adjacency, others))
    return labels


def _link(labels: NodeIndices, edges: Callable[[], Edges]) -> None:
    """Give the ends of all edges the same label, the lower one."""
    changed = True
    while changed:
        changed = False
        for source, target in edges():
            one, two = labels[source], labels[target]
            apart = one != two
            if apart.any():
                one, two = one[apart], two[apart]
                np.minimum.at(labels, np.maximum(one, two), np.minimum(one, two))
                changed = True
        while ((roots := labels[labels]) != labels).any():
            labels[:] = roots


def _kth_edges(adjacency: CSRMatrix, k: int) -> Edges:
    """Yield the edges from each node to its neighbour k, where it has one."""
    for first in range(0, adjacency.shape[0], ROWS):
        starts = adjacency.indptr[first : first + ROWS + 1]
        source = np.flatnonzero(np.diff(starts) > k)
        yield source + first, adjacency.indices[starts[source] + k]


def _all_edges(adjacency: CSRMatrix, nodes: NodeIndices) -> Edges:
    """Yield the edges of some nodes."""
    for first in range(0, nodes.size, ROWS):
        some = nodes[first : first + ROWS]
        positions, counts = row_entries(adjacency, some)
        yield np.repeat(some, counts), adjacency.indices[positions]
