"""Vectorised random walks of first order (DeepWalk) and second order (node2vec).

First-order walks go to a neighbour with a probability proportional to the edge weight. Second-order
walks that came to v from t multiply the weight of neighbour x by

    1/p if x = t,    1 if x is a neighbour of t,    1/q otherwise.

They use rejection sampling: a first-order neighbour is proposed and accepted with its factor
divided by the largest one, so nothing is precomputed for pairs of edges. Walkers that are rejected
`PROPOSALS` times sample from the exact distribution. Cost of a step: O(log E) for each proposal.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ugcl.typing import CSRMatrix, NodeIndices

PROPOSALS = 32
"""Proposals to a walker before it samples from the exact distribution."""

BLOCK = 4096
"""Walkers whose exact distributions are computed together."""


class Walker:
    """Sampler of random walks on a graph.

    Args:
        adjacency: A, symmetric; its values are edge weights.
        p: return parameter of node2vec; large values make it unlikely to step back.
        q: in-out parameter of node2vec; large values keep the walk near where it came from.
    """

    def __init__(self, adjacency: CSRMatrix, p: float = 1.0, q: float = 1.0) -> None:
        self.size = adjacency.shape[0]
        self.starts = adjacency.indptr.astype(np.int64)
        self.neighbours = adjacency.indices.astype(np.int64)
        self.degrees = np.diff(self.starts)
        self.factors = np.array([1 / p, 1.0, 1 / q]) / max(1 / p, 1.0, 1 / q)
        self.second_order = not (p == q == 1.0)
        self.sums: npt.NDArray[np.float64] | None = None
        if (adjacency.data != 1).any():
            self.sums = np.concatenate([[0.0], np.cumsum(adjacency.data, dtype=np.float64)])

    @cached_property
    def edges(self) -> NodeIndices:
        """A sorted key for each edge, which second-order walks look up."""
        keys: NodeIndices = np.repeat(np.arange(self.size), self.degrees) * self.size
        return np.asarray(keys + self.neighbours)

    def ends(self, nodes: NodeIndices, steps: int, rng: np.random.Generator) -> NodeIndices:
        """Return the last node of a first-order walk from each node; without edges, the node."""
        moving = np.flatnonzero(self.degrees[nodes])
        ends, at = nodes.copy(), nodes[moving]
        for _ in range(steps):
            at = self._propose(at, rng)
        ends[moving] = at
        return ends

    def walks(self, length: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Sample one walk of `length` nodes from every node that has a neighbour.

        Returns:
            Walks in rows, in random order of their start nodes.
        """
        starts = rng.permutation(np.flatnonzero(self.degrees))
        walks = np.empty((length, starts.size), dtype=np.int64)
        walks[0] = starts
        for i in range(1, length):
            back = walks[i - 2] if i > 1 and self.second_order else None
            walks[i] = self._steps(walks[i - 1], back, rng)
        return walks.T

    def _steps(
        self, nodes: NodeIndices, before: NodeIndices | None, rng: np.random.Generator
    ) -> NodeIndices:
        """Sample the next node of each walker, which is at `nodes` and came from `before`."""
        proposed = self._propose(nodes, rng)
        if before is None:
            return proposed
        left = np.arange(nodes.size)
        for _ in range(PROPOSALS):
            left = left[~self._accept(proposed[left], before[left], rng)]
            if left.size == 0:
                return proposed
            proposed[left] = self._propose(nodes[left], rng)
        for start in range(0, left.size, BLOCK):
            block = left[start : start + BLOCK]
            proposed[block] = self._exact(nodes[block], before[block], rng)
        return proposed

    def _exact(
        self, nodes: NodeIndices, before: NodeIndices, rng: np.random.Generator
    ) -> NodeIndices:
        """Sample a neighbour of each node from the exact second-order distribution."""
        counts = self.degrees[nodes]
        ends = np.cumsum(counts)
        which = np.repeat(np.arange(nodes.size), counts)
        place = self.starts[nodes][which] + np.arange(ends[-1]) - (ends - counts)[which]
        proposed, origin = self.neighbours[place], before[which]
        back, near, far = self.factors
        weights = np.where(self._connected(origin, proposed), near, far)
        weights = np.where(proposed == origin, back, weights)
        if self.sums is not None:
            weights = weights * (self.sums[place + 1] - self.sums[place])
        sums = np.cumsum(weights)
        low = np.concatenate([[0.0], sums])[ends - counts]
        uniform = low + rng.random(nodes.size) * (sums[ends - 1] - low)
        chosen = np.clip(np.searchsorted(sums, uniform, side="right"), ends - counts, ends - 1)
        return np.asarray(proposed[chosen])

    def _propose(self, nodes: NodeIndices, rng: np.random.Generator) -> NodeIndices:
        """Sample a neighbour of each node by the edge weights."""
        first, uniform = self.starts[nodes], rng.random(nodes.size)
        if self.sums is None:
            place = first + (uniform * self.degrees[nodes]).astype(np.int64)
        else:
            last = self.starts[nodes + 1] - 1
            low, high = self.sums[first], self.sums[last + 1]
            place = np.searchsorted(self.sums, low + uniform * (high - low), side="right") - 1
            place = np.clip(place, first, last)
        return np.asarray(self.neighbours[place])

    def _accept(
        self, proposed: NodeIndices, before: NodeIndices, rng: np.random.Generator
    ) -> npt.NDArray[np.bool_]:
        """Accept or reject each proposal; look up edges only where the decision needs them."""
        uniform = rng.random(proposed.size)
        back, near, far = self.factors
        accepted = uniform < near
        unsure = np.flatnonzero((uniform < near) != (uniform < far))
        accepted[unsure] = uniform[unsure] < np.where(
            self._connected(before[unsure], proposed[unsure]), near, far
        )
        returning = proposed == before
        accepted[returning] = uniform[returning] < back
        return np.asarray(accepted)

    def _connected(self, one: NodeIndices, other: NodeIndices) -> npt.NDArray[np.bool_]:
        key = one * self.size + other
        place = np.minimum(np.searchsorted(self.edges, key), self.edges.size - 1)
        return np.asarray(self.edges[place] == key)
