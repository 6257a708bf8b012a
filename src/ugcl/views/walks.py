"""Vectorised random walks of first order (DeepWalk) and second order (node2vec).

First-order walks go to a neighbour with a probability proportional to the edge weight. Second-order
walks that came to v from t multiply the weight of neighbour x by

    1/p if x = t,    1 if x is a neighbour of t,    1/q otherwise.

They use rejection sampling: a first-order neighbour is proposed and accepted with its factor
divided by the largest one, so nothing is precomputed for pairs of edges. Walkers that are rejected
`PROPOSALS` times sample from the exact distribution. Cost of a step: O(log E) for each proposal.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.rows import PrefixSums, find, has_weights, row_entries
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
        self.adjacency, self.size = adjacency, adjacency.shape[0]
        self.starts, self.neighbours = adjacency.indptr, adjacency.indices
        self.factors = np.array([1 / p, 1.0, 1 / q]) / max(1 / p, 1.0, 1 / q)
        self.second_order = not (p == q == 1.0)
        self.sums = PrefixSums(adjacency.data) if has_weights(adjacency) else None
        self.changed: tuple[NodeIndices, Walker] | None = None

    def without(self, nodes: NodeIndices) -> Walker:
        """Return a walker that does not visit some nodes. Cost: that of their neighbours' rows.

        Args:
            nodes: the nodes, ascending.
        """
        positions, _ = row_entries(self.adjacency, nodes)
        rows = np.union1d(nodes, self.neighbours[positions])
        positions, counts = row_entries(self.adjacency, rows)
        kept = ~find(nodes, self.neighbours[positions])[1] & ~np.repeat(
            find(nodes, rows)[1], counts
        )
        lengths = np.bincount(np.repeat(np.arange(rows.size), counts)[kept], minlength=rows.size)
        entries = self.adjacency.data[positions[kept]], self.neighbours[positions[kept]]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        walker = copy(self)
        few = Walker(sp.csr_array((*entries, starts), shape=(rows.size, self.size)))
        walker.changed = rows, few
        return walker

    def degrees(self, nodes: NodeIndices) -> NodeIndices:
        """Return the number of neighbours of some nodes."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        if self.changed is not None:
            at, found = find(self.changed[0], nodes)
            counts[found] = self.changed[1].degrees(at[found])
        return np.asarray(counts, dtype=np.int64)

    @cached_property
    def edges(self) -> NodeIndices:
        """A sorted key for each edge, which second-order walks look up."""
        keys: NodeIndices = np.repeat(np.arange(self.size), np.diff(self.starts)) * self.size
        return np.asarray(keys + self.neighbours)

    def ends(self, nodes: NodeIndices, steps: int, rng: np.random.Generator) -> NodeIndices:
        """Return the last node of a first-order walk from each node; without edges, the node."""
        moving = np.flatnonzero(self.degrees(nodes))
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
        starts = rng.permutation(np.flatnonzero(np.diff(self.starts)))
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
        place, counts = row_entries(self.adjacency, nodes)
        ends = np.cumsum(counts)
        which = np.repeat(np.arange(nodes.size), counts)
        proposed, origin = self.neighbours[place].astype(np.int64), before[which]
        back, near, far = self.factors
        weights = np.where(self._connected(origin, proposed), near, far)
        weights = np.where(proposed == origin, back, weights)
        if self.sums is not None:
            weights = weights * (self.sums.at(place + 1) - self.sums.at(place))
        sums = np.cumsum(weights)
        low = np.concatenate([[0.0], sums])[ends - counts]
        uniform = low + rng.random(nodes.size) * (sums[ends - 1] - low)
        chosen = np.clip(np.searchsorted(sums, uniform, side="right"), ends - counts, ends - 1)
        return np.asarray(proposed[chosen])

    def _propose(self, nodes: NodeIndices, rng: np.random.Generator) -> NodeIndices:
        """Sample a neighbour of each node by the edge weights."""
        return self._neighbour(nodes, rng.random(nodes.size))

    def _neighbour(self, nodes: NodeIndices, uniform: npt.NDArray[np.float64]) -> NodeIndices:
        """Return the neighbour of each node that a number from 0 to 1 selects."""
        if self.changed is not None:
            at, found = find(self.changed[0], nodes)
            selected = np.empty_like(nodes)
            selected[found] = self.changed[1]._neighbour(at[found], uniform[found])
            selected[~found] = self._selected(nodes[~found], uniform[~found])
            return selected
        return self._selected(nodes, uniform)

    def _selected(self, nodes: NodeIndices, uniform: npt.NDArray[np.float64]) -> NodeIndices:
        """Return the neighbour in the adjacency itself."""
        first, end = (self.starts[each].astype(np.int64) for each in (nodes, nodes + 1))
        if self.sums is None:
            place = first + (uniform * (end - first)).astype(np.int64)
        else:
            low, high = self.sums.at(first), self.sums.at(end)
            place = self.sums.search(low + uniform * (high - low))
            place = np.clip(place, first, end - 1)
        return np.asarray(self.neighbours[place], dtype=np.int64)

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
