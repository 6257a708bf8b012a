"""Sampling of the nodes of a subgraph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ugcl.typing import CSRMatrix, NodeIndices, Sampling


def sample_nodes(
    adjacency: CSRMatrix, size: int, sampling: Sampling, rng: np.random.Generator
) -> NodeIndices:
    """Sample S distinct nodes, in ascending order.

    Args:
        adjacency: A, N x N.
        size: S, at most N.
        sampling: `random` nodes (the paper); a `window` of consecutive numbers (the authors'
            code); `ball`, whole neighbourhoods around S/20 random nodes.
        rng: the random generator.
    """
    return SAMPLERS[sampling](adjacency, size, rng)


def _random(adjacency: CSRMatrix, size: int, rng: np.random.Generator) -> NodeIndices:
    nodes = rng.choice(adjacency.shape[0], size, replace=False, shuffle=False)
    return np.sort(nodes.astype(np.int64))


def _window(adjacency: CSRMatrix, size: int, rng: np.random.Generator) -> NodeIndices:
    start = int(rng.integers(adjacency.shape[0] - size + 1))
    return np.arange(start, start + size)


def _ball(adjacency: CSRMatrix, size: int, rng: np.random.Generator) -> NodeIndices:
    """Grow balls around S/20 random nodes, hop by hop, until S nodes are reached.

    Each hop adds the whole neighbourhoods of the previous hop in random order, so at most one
    neighbourhood is cut. When the balls fill their components, new random nodes are added.
    Cost: O(edges of the sample), apart from one flag for each node of the graph.
    """
    visited = np.zeros(adjacency.shape[0], dtype=bool)
    frontier = rng.permutation(_random(adjacency, max(1, size // 20), rng))
    visited[frontier] = True
    hops, missing = [frontier], size - frontier.size
    while missing:
        neighbours = _neighbours(adjacency, frontier)
        neighbours = neighbours[~visited[neighbours]]
        _, first = np.unique(neighbours, return_index=True)
        frontier = neighbours[np.sort(first)][:missing]
        if frontier.size == 0:
            unvisited = np.flatnonzero(~visited)
            frontier = rng.choice(unvisited, max(1, missing // 20), replace=False)
        visited[frontier] = True
        hops.append(frontier)
        missing -= frontier.size
        frontier = rng.permutation(frontier)
    return np.sort(np.concatenate(hops))


SAMPLERS: dict[str, Callable[[CSRMatrix, int, np.random.Generator], NodeIndices]] = {
    "random": _random,
    "window": _window,
    "ball": _ball,
}


def _neighbours(adjacency: CSRMatrix, nodes: NodeIndices) -> NodeIndices:
    """Concatenate the neighbours of the nodes."""
    positions, _ = row_entries(adjacency, nodes)
    neighbours: NodeIndices = adjacency.indices[positions].astype(np.int64)
    return neighbours


def row_entries(adjacency: CSRMatrix, nodes: NodeIndices) -> tuple[NodeIndices, NodeIndices]:
    """Return the positions of the entries of the CSR rows `nodes`, and the length of each row."""
    starts = adjacency.indptr[nodes].astype(np.int64)
    counts = adjacency.indptr[nodes + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    offsets = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)
    return np.repeat(starts, counts) + offsets, counts
