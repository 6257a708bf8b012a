"""Random walks on a graph, all walkers stepping together.

First-order walks (DeepWalk) go to a neighbour with a probability proportional to the edge's weight.
Second-order walks (node2vec) weigh neighbour x of v, come to from t, further by

    1/p if x = t,    1 if x is a neighbour of t,    1/q otherwise.

They are drawn by rejection: a first-order neighbour is proposed and accepted with its factor over
the largest one, so that nothing is prepared for each pair of edges. Walkers that are rejected again
and again, as on a leaf that a large p keeps from returning, are drawn from all their neighbours.
Cost of a step: O(log E) for each proposal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Nodes = npt.NDArray[np.int64]

PROPOSALS = 32
"""Neighbours that are proposed to a walker before all of them are looked at."""

BLOCK = 4096
"""Walkers whose neighbours are looked at together."""


class Walker:
    """Draws walks on a graph.

    Args:
        adjacency: A, SciPy CSR, symmetric; its values are edge weights.
        p: how unlikely it is to go straight back.
        q: how unlikely it is to go away from where the walk came from.
    """

    def __init__(self, adjacency: Any, p: float = 1.0, q: float = 1.0) -> None:
        self.size = adjacency.shape[0]
        self.starts = adjacency.indptr.astype(np.int64)
        self.neighbours = adjacency.indices.astype(np.int64)
        self.degrees = np.diff(self.starts)
        self.factors = np.array([1 / p, 1.0, 1 / q]) / max(1 / p, 1.0, 1 / q)
        self.second_order = not (p == q == 1.0)
        self.sums: npt.NDArray[np.float64] | None = None
        if (adjacency.data != 1).any():
            self.sums = np.concatenate([[0.0], np.cumsum(adjacency.data, dtype=np.float64)])
        self.edges = np.repeat(np.arange(self.size), self.degrees) * self.size + self.neighbours

    def walks(self, length: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """A walk of that many nodes from every node that has a neighbour, in random order.

        Rows are walks. A node without a neighbour is in none of them.
        """
        starts = rng.permutation(np.flatnonzero(self.degrees))
        walks = np.empty((length, starts.size), dtype=np.int64)
        walks[0] = starts
        for i in range(1, length):
            back = walks[i - 2] if i > 1 and self.second_order else None
            walks[i] = self._steps(walks[i - 1], back, rng)
        return walks.T

    def _steps(self, nodes: Nodes, before: Nodes | None, rng: np.random.Generator) -> Nodes:
        """A step of every walker, from `nodes`, which it came to from `before`."""
        found = self._proposed(nodes, rng)
        if before is None:
            return found
        left = np.arange(nodes.size)
        for _ in range(PROPOSALS):
            left = left[~self._accepted(found[left], before[left], rng)]
            if left.size == 0:
                return found
            found[left] = self._proposed(nodes[left], rng)
        for start in range(0, left.size, BLOCK):
            block = left[start : start + BLOCK]
            found[block] = self._exact(nodes[block], before[block], rng)
        return found

    def _exact(self, nodes: Nodes, before: Nodes, rng: np.random.Generator) -> Nodes:
        """A neighbour of each node by its probability, of all its neighbours side by side."""
        counts = self.degrees[nodes]
        ends = np.cumsum(counts)
        which = np.repeat(np.arange(nodes.size), counts)
        place = self.starts[nodes][which] + np.arange(ends[-1]) - (ends - counts)[which]
        found, origin = self.neighbours[place], before[which]
        back, near, far = self.factors
        weights = np.where(self._joined(origin, found), near, far)
        weights = np.where(found == origin, back, weights)
        if self.sums is not None:
            weights = weights * (self.sums[place + 1] - self.sums[place])
        sums = np.cumsum(weights)
        low = np.concatenate([[0.0], sums])[ends - counts]
        drawn = low + rng.random(nodes.size) * (sums[ends - 1] - low)
        chosen = np.clip(np.searchsorted(sums, drawn, side="right"), ends - counts, ends - 1)
        return np.asarray(found[chosen])

    def _proposed(self, nodes: Nodes, rng: np.random.Generator) -> Nodes:
        """A neighbour of each node, by the weights of the edges."""
        first, drawn = self.starts[nodes], rng.random(nodes.size)
        if self.sums is None:
            place = first + (drawn * self.degrees[nodes]).astype(np.int64)
        else:
            last = self.starts[nodes + 1] - 1
            low, high = self.sums[first], self.sums[last + 1]
            place = np.searchsorted(self.sums, low + drawn * (high - low), side="right") - 1
            place = np.clip(place, first, last)
        return np.asarray(self.neighbours[place])

    def _accepted(self, found: Nodes, before: Nodes, rng: np.random.Generator) -> Any:
        """Whether each proposal stands; edges are looked up only where it depends on them."""
        drawn = rng.random(found.size)
        back, near, far = self.factors
        accepted = drawn < near
        unsure = np.flatnonzero((drawn < near) != (drawn < far))
        accepted[unsure] = drawn[unsure] < np.where(
            self._joined(before[unsure], found[unsure]), near, far
        )
        returning = found == before
        accepted[returning] = drawn[returning] < back
        return accepted

    def _joined(self, one: Nodes, other: Nodes) -> npt.NDArray[np.bool_]:
        wanted = one * self.size + other
        place = np.minimum(np.searchsorted(self.edges, wanted), self.edges.size - 1)
        return np.asarray(self.edges[place] == wanted)
