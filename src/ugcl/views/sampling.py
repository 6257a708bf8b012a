"""How the nodes of a subgraph are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Nodes = npt.NDArray[np.int64]
Sampling = Literal["random", "window", "ball"]


def sample_nodes(adjacency: Any, size: int, sampling: Sampling, rng: np.random.Generator) -> Nodes:
    """S distinct node numbers in ascending order.

    Args:
        adjacency: CSR, N x N.
        size: S, at most N.
        sampling: `random` nodes (the paper); a `window` of consecutive numbers (the authors'
            code); `ball`, whole neighbourhoods around S/20 random nodes.
        rng: the source of randomness.
    """
    return SAMPLERS[sampling](adjacency, size, rng)


def _random(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    chosen = rng.choice(adjacency.shape[0], size, replace=False, shuffle=False)
    return np.sort(chosen.astype(np.int64))


def _window(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    start = int(rng.integers(adjacency.shape[0] - size + 1))
    return np.arange(start, start + size)


def _ball(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    """Grow balls around S/20 random nodes, hop by hop, until S nodes are reached.

    Each hop adds the whole neighbourhoods of the hop before, one after the other in random order,
    so that at most one neighbourhood is cut. Balls that fill their components before S nodes are
    reached are joined by new random nodes. Cost: O(edges of the sample), apart from one flag for
    each node.
    """
    seen = np.zeros(adjacency.shape[0], dtype=bool)
    frontier = rng.permutation(_random(adjacency, max(1, size // 20), rng))
    seen[frontier] = True
    chosen, missing = [frontier], size - frontier.size
    while missing:
        reached = _neighbours(adjacency, frontier)
        reached = reached[~seen[reached]]
        _, first = np.unique(reached, return_index=True)
        frontier = reached[np.sort(first)][:missing]
        if frontier.size == 0:
            others = np.flatnonzero(~seen)
            frontier = rng.choice(others, max(1, missing // 20), replace=False)
        seen[frontier] = True
        chosen.append(frontier)
        missing -= frontier.size
        frontier = rng.permutation(frontier)
    return np.sort(np.concatenate(chosen))


SAMPLERS: dict[str, Callable[[Any, int, np.random.Generator], Nodes]] = {
    "random": _random,
    "window": _window,
    "ball": _ball,
}


def _neighbours(adjacency: Any, nodes: Nodes) -> Nodes:
    """The entries of the CSR rows `nodes`, one after the other."""
    positions, _ = row_entries(adjacency, nodes)
    listed: Nodes = adjacency.indices[positions].astype(np.int64)
    return listed


def row_entries(adjacency: Any, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Where the entries of the CSR rows `nodes` are stored, and how many each row has."""
    starts = adjacency.indptr[nodes].astype(np.int64)
    counts = adjacency.indptr[nodes + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)
    return np.repeat(starts, counts) + within, counts
