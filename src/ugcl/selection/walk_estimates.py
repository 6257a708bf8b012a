"""Powers of the adjacency at a sample of nodes, estimated by random walks.

With D the row sums of `A' = edges + c I` and P = D^-1 A', whose rows sum to 1,

    A^m = D^1/2 P^m D^-1/2,   so   (A^m X)_i = sqrt(d_i) E[X_j / sqrt(d_j)],

j the end of a walk of m steps from i. The mean over walks is unbiased, and its cost does not depend
on the size of the graph, unlike the m-hop neighbourhood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows
from ugcl._utils.rows import PrefixSums, take_rows
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS
from ugcl.typing import Features, NodeIndices

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class WalkEstimates:
    """Estimates of `A^m X` at some nodes, X the features times a projection.

    Attributes:
        graph: the graph.
        nodes: the nodes, T of them.
        projection: D x D', or None for the features as they are.
    """

    graph: Graph
    nodes: NodeIndices
    projection: Matrix | None = None

    def own(self) -> Matrix:
        """Return the rows of X at the nodes, T x D'."""
        return self._project(take_rows(self.graph.features, self.nodes))

    def smoothed(self) -> Matrix:
        """Return `A X` at the nodes, exactly, T x D'."""
        adjacency = take_rows(self.graph.adjacency, self.nodes)
        weights = adjacency.data / np.sqrt(self._degrees(adjacency.indices))
        parts = (weights.astype(np.float32), adjacency.indices, adjacency.indptr)
        degrees = np.sqrt(self._degrees(self.nodes))[:, None]
        around = self._combine(sp.csr_array(parts, shape=adjacency.shape))
        mean = (around + SMOOTHING_SELF_LOOPS / degrees * self.own()) / degrees
        return np.asarray(mean, dtype=np.float32)

    def powers(self, num_walks: int, rng: np.random.Generator) -> Iterator[Matrix]:
        """Yield two independent estimates of `A^m X` at the nodes, m = 2, 3, ..., 2 x T x D'.

        Each is the mean over `num_walks` walks from every node, whose first steps are stratified.
        Cost of a step: O(T num_walks D').
        """
        size = 2 * self.nodes.size
        at = np.tile(self.nodes, 2).repeat(num_walks)
        uniform = (np.arange(num_walks) + rng.random((size, 1))) / num_walks
        scale = np.sqrt(self._degrees(self.nodes))[:, None] / num_walks
        starts = np.arange(0, at.size + 1, num_walks)
        at = self._step(at, uniform.ravel())
        while True:
            at = self._step(at, rng.random(at.size))
            weights = (1 / np.sqrt(self._degrees(at))).astype(np.float32)
            sums = self._combine(
                sp.csr_array((weights, at, starts), shape=(size, self.graph.num_nodes))
            )
            yield (sums.reshape(2, self.nodes.size, -1) * scale).astype(np.float32)

    def _combine(self, weights: sp.csr_array) -> Matrix:
        """Return `weights X`; with a projection, only the rows that are used are projected."""
        used, columns = np.unique(weights.indices, return_inverse=True)
        parts = (weights.data, columns, weights.indptr)
        few = sp.csr_array(parts, shape=(weights.shape[0], used.size))
        combined: Matrix = few @ self._project(take_rows(self.graph.features, used))
        return combined

    def _project(self, rows: Features) -> Matrix:
        projected = dense_rows(rows if self.projection is None else rows @ self.projection)
        return projected.astype(np.float32, copy=False)

    @cached_property
    def _sums(self) -> PrefixSums | None:
        """Cumulative edge weights; None if all are 1."""
        return PrefixSums(self.graph.adjacency.data) if self.graph.weighted else None

    def _degrees(self, nodes: NodeIndices) -> npt.NDArray[np.float64]:
        """Return row sums of `edges + c I`."""
        starts = self.graph.adjacency.indptr
        first, last = starts[nodes], starts[np.asarray(nodes) + 1]
        sums = self._sums
        degrees = last - first if sums is None else sums.at(last) - sums.at(first)
        return np.asarray(degrees + SMOOTHING_SELF_LOOPS, dtype=np.float64)

    def _step(self, nodes: NodeIndices, uniform: npt.NDArray[np.float64]) -> NodeIndices:
        """Move each walker by the row of P at its node that `uniform` selects; some stay."""
        adjacency, sums = self.graph.adjacency, self._sums
        first = adjacency.indptr[nodes].astype(np.int64)
        count = adjacency.indptr[nodes + 1] - first
        if sums is None:
            offset = (uniform * (count + SMOOTHING_SELF_LOOPS)).astype(np.int64)
        else:
            low, high = sums.at(first), sums.at(first + count)
            target = uniform * (high - low + SMOOTHING_SELF_LOOPS)
            offset = sums.search(low + target) - first
            inside = target < high - low
            offset = np.where(inside, np.clip(offset, 0, count - 1), count)
        moving = offset < count
        place = np.where(moving, first + offset, 0)
        return np.where(moving, adjacency.indices[place], nodes)
