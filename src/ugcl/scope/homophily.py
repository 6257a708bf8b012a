"""Edge homophily, and contextual homophily: the fraction of the same class within n hops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.graph.validation import UNLABELLED, checked_labels
from ugcl.typing import CSRMatrix, LabelArray, NodeIndices

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]

CONFIDENCE = 0.95
MAX_EXACT_NODES = 20_000
"""Nodes up to which all sources are counted by default."""
SAMPLE_SIZE = 2_000
"""Sources sampled by default in larger graphs."""
MAX_WORDS, MIN_WORDS = 32, 8
"""Words of 64 sources in a block; eight fill a cache line, so fewer would not be faster."""
BLOCK_BYTES = 2**27
"""Memory for the bits of a block, unless that is less than `MIN_WORDS` for each node."""
GATHER_BYTES = 2**20
"""Bits of neighbours that are gathered at a time, to stay in the cache."""
MAX_BYTE = 255
"""Bits that can be summed in one byte."""


def edge_homophily(adjacency: CSRMatrix, labels: npt.ArrayLike) -> float | None:
    """Return the fraction of edges between nodes of the same class.

    Edge weights are ignored; self-loops and edges of unlabelled nodes are not counted.
    Cost: O(N + E).

    Args:
        adjacency: A, symmetric, N x N.
        labels: class of each node, N integers, `UNLABELLED` if unknown.

    Returns:
        The fraction, or None if no edge connects two labelled nodes.
    """
    classes = _check_labels(adjacency, labels)
    rows = np.repeat(np.arange(classes.size), np.diff(adjacency.indptr))
    source, target = classes[rows], classes[adjacency.indices]
    counted = (source != UNLABELLED) & (target != UNLABELLED) & (rows != adjacency.indices)
    return float((source == target)[counted].mean()) if counted.any() else None


@dataclass(frozen=True, eq=False)
class ContextualHomophily:
    """`P_n(i)` for n = 1, 2, ... of all labelled nodes, or of a random sample of them.

    Row n - 1 belongs to n. The rate is NaN for nodes without a labelled node within n hops; they
    are left out of the mean and the fractions of that n.

    Attributes:
        sources: the nodes i, ascending.
        rates: `P_n(i)`, n x sources.
        plurality: whether the class of i is strictly the most frequent in its scope.
        population: number of labelled nodes that the sources are sampled from.
    """

    sources: NodeIndices
    rates: Floats
    plurality: Bools
    population: int

    def mean(self) -> Floats:
        """Return the mean rate for each n; NaN if no source has a rate."""
        return self._average(np.nan_to_num(self.rates))

    def interval(self) -> Floats:
        """Return the 95 % confidence interval of the mean over all labelled nodes, n x 2.

        With m rates of standard deviation s in a sample of M out of N nodes without replacement,

            mean -+ t(m - 1) s sqrt((1 - M/N) / m),

        clipped to [0, 1]. Its width is zero if all nodes are counted, and NaN if a sample has fewer
        than two rates.
        """
        mean, count = self.mean(), self._count()
        correction = 1 - self.sources.size / self.population
        from scipy.special import stdtrit  # slow to import

        squares = np.nansum((self.rates - mean[:, None]) ** 2, axis=1)
        freedom = np.where(count > 1, count - 1, np.nan)
        error = np.sqrt(squares / freedom * correction / count)
        half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * error
        return np.stack([mean - half, mean + half], axis=1).clip(0, 1)

    def dominant(self) -> Floats:
        """Return the fraction of nodes with homophily dominance: their class is the plurality."""
        return self._average(self.plurality)

    def strongly_dominant(self) -> Floats:
        """Return the fraction of nodes with strong homophily dominance, `P_n(i) > 0.5`."""
        return self._average(self.rates > 0.5)

    def _count(self) -> Ints:
        count: Ints = (~np.isnan(self.rates)).sum(axis=1)
        return count

    def _average(self, values: npt.NDArray[Any]) -> Floats:
        """Average over the sources with a rate; the values of all others are 0."""
        count = self._count()
        average: Floats = values.sum(axis=1) / np.where(count > 0, count, np.nan)
        return average


def contextual_homophily(
    adjacency: CSRMatrix,
    labels: npt.ArrayLike,
    max_n: int = 20,
    *,
    sample: int | Literal["all"] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ContextualHomophily:
    """Measure the contextual homophily rate (Definition 1) for n = 1 to `max_n`.

        P_n(i) = |{j in N_n(i): y_j = y_i}| / |N_n(i)|,

    where N_n(i) are the labelled nodes at distance 1 to n from i; paths may pass through unlabelled
    nodes.

    Sources are processed in blocks of up to 2,048 by one breadth-first search: every node has a bit
    for each source that has reached it, and a hop is the OR over its neighbours. With M sources and
    h hops until nothing changes (at most `max_n`), the cost is O(h M (N + E) / 64) word operations
    and O(h M N) byte operations, and O(N + E) memory.

    Args:
        adjacency: A, symmetric, N x N.
        labels: class of each node, N integers, `UNLABELLED` if unknown.
        max_n: the largest n.
        sample: number of labelled nodes to sample as sources, or "all". By default all in graphs of
            up to 20,000 nodes and 2,000 in larger ones.
        seed: seed of the sample.
        progress: called after each block with the number of finished sources and the total.
    """
    classes = _check_labels(adjacency, labels)
    if max_n < 1:
        raise UGCLError(f"max_n must be at least 1, not {max_n}")
    labelled = np.flatnonzero(classes != UNLABELLED)
    if not labelled.size:
        raise UGCLError("all nodes are unlabelled: homophily needs labels")
    sources = _sample_sources(labelled, classes.size, sample, seed)
    class_index = np.unique(classes[labelled], return_inverse=True)[1]
    source_class = class_index[np.searchsorted(labelled, sources)]
    groups, first = _groups(labelled, class_index)
    with_loops = (adjacency + sp.eye_array(classes.size, format="csr")).tocsr()
    rates = np.full((max_n, sources.size), np.nan)
    plurality = np.zeros((max_n, sources.size), dtype=bool)
    size = 64 * min(MAX_WORDS, max(MIN_WORDS, BLOCK_BYTES // (8 * classes.size)))
    for start in range(0, sources.size, size):
        block = slice(start, min(start + size, sources.size))
        for hop, reached in enumerate(_hops(with_loops, sources[block], max_n)):
            counts = _class_counts(reached, groups, first)
            rates[hop:, block], plurality[hop:, block] = _rates(counts, source_class[block])
        if progress is not None:
            progress(block.stop, sources.size)
    return ContextualHomophily(sources, rates, plurality, labelled.size)


def _check_labels(adjacency: CSRMatrix, labels: npt.ArrayLike) -> LabelArray:
    classes = checked_labels(labels, adjacency.shape[0])
    if classes is None:
        raise UGCLError("labels is None: homophily needs labels")
    return classes


def _sample_sources(
    labelled: NodeIndices, num_nodes: int, sample: int | Literal["all"] | None, seed: int
) -> NodeIndices:
    """Sample the sources, ascending."""
    if sample is None:
        sample = "all" if num_nodes <= MAX_EXACT_NODES else SAMPLE_SIZE
    if sample == "all" or sample >= labelled.size:
        return labelled
    if sample < 1:
        raise UGCLError(f"`sample` must be at least 1 or 'all', not {sample}")
    rng = numpy_generator("homophily", seed)
    return np.sort(rng.choice(labelled, sample, replace=False))


def _groups(labelled: NodeIndices, class_index: Ints) -> tuple[list[Ints], Ints]:
    """Split the nodes of each class into groups of `MAX_BYTE`; return also each class's first."""
    ends = np.bincount(class_index).cumsum()
    starts = [np.arange(*span, MAX_BYTE) for span in itertools.pairwise([0, *ends.tolist()])]
    first = np.cumsum([0, *(part.size for part in starts[:-1])])
    return np.split(labelled[np.argsort(class_index)], np.concatenate(starts)[1:]), first


def _hops(with_loops: CSRMatrix, sources: NodeIndices, max_n: int) -> Iterator[Bits]:
    """Yield the bits of the sources within 1, 2, ... hops of each node, until nothing changes.

    Bit s % 8 of byte s / 8 in row v is set if source s is within n hops of node v. Two arrays are
    used in turn.

    Args:
        with_loops: A + I; `reduceat` needs a neighbour for every node.
        sources: distinct nodes.
        max_n: the largest n.
    """
    reached = np.zeros((with_loops.shape[0], -(-sources.size // 64)), dtype=np.uint64)
    index = np.arange(sources.size)
    reached.view(np.uint8)[sources, index // 8] = 1 << index % 8
    following = np.empty_like(reached)
    step = max(1, GATHER_BYTES // (8 * reached.shape[1]))
    rows = np.searchsorted(with_loops.indptr, np.arange(0, with_loops.nnz, step))
    spans = list(itertools.pairwise(np.unique([*rows, with_loops.shape[0]]).tolist()))
    for _ in range(max_n):
        for start, stop in spans:
            begin, end = with_loops.indptr[start], with_loops.indptr[stop]
            neighbours = reached[with_loops.indices[begin:end]]
            offsets = with_loops.indptr[start:stop] - begin
            np.bitwise_or.reduceat(neighbours, offsets, axis=0, out=following[start:stop])
        if np.array_equal(following, reached):
            return
        yield following
        reached, following = following, reached


def _class_counts(reached: Bits, groups: list[Ints], first: Ints) -> Ints:
    """Count the nodes of each class that each source has reached, C x sources (padded to words)."""
    sums = np.empty((len(groups), 64 * reached.shape[1]), dtype=np.uint8)
    for total, nodes in zip(sums, groups, strict=True):
        bits = np.unpackbits(reached[nodes].view(np.uint8), axis=1, bitorder="little")
        bits.sum(axis=0, dtype=np.uint8, out=total)
    counts: Ints = np.add.reduceat(sums, first, axis=0, dtype=np.int64)
    return counts


def _rates(counts: Ints, source_class: Ints) -> tuple[Floats, Bools]:
    """Return the rate of each source, itself excluded, and whether its class is the plurality."""
    index = np.arange(source_class.size)
    same = counts[source_class, index] - 1
    different = counts[:, : source_class.size].copy()
    different[source_class, index] = 0
    total = same + different.sum(axis=0)
    return same / np.where(total > 0, total, np.nan), same > different.max(axis=0)
