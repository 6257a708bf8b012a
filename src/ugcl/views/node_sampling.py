"""Sampling of the nodes of a subgraph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ugcl._utils.rows import find, others, row_entries
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
    """Grow balls around S/20 random nodes."""
    return grow_balls(adjacency, size, max(1, size // 20), rng)


def grow_balls(
    adjacency: CSRMatrix, size: int, count: int, rng: np.random.Generator
) -> NodeIndices:
    """Grow balls around random nodes, hop by hop, until S nodes are reached.

    Each hop adds the whole neighbourhoods of the previous hop in random order, so at most one
    neighbourhood is cut. When the balls fill their components, new random nodes are added.
    Cost: O(edges of the sample), up to a logarithm.

    Args:
        adjacency: A, N x N.
        size: S, at most N.
        count: how many balls.
        rng: the random generator.

    Returns:
        The nodes, ascending.
    """
    visited = _random(adjacency, count, rng)
    frontier = rng.permutation(visited)
    while missing := size - visited.size:
        neighbours = _neighbours(adjacency, frontier)
        neighbours = neighbours[~find(visited, neighbours)[1]]
        _, first = np.unique(neighbours, return_index=True)
        frontier = neighbours[np.sort(first)][:missing]
        if frontier.size == 0:
            left = adjacency.shape[0] - visited.size
            frontier = others(visited, rng.choice(left, max(1, missing // 20), replace=False))
        visited = np.sort(np.concatenate([visited, frontier]))
        frontier = rng.permutation(frontier)
    return visited


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
