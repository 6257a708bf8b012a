"""Contextual homophily: how many of the nodes within n hops are of a node's own class."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import stdtrit

from ugcl._utils.errors import UGCLError
from ugcl.graph.validation import UNLABELLED, checked_labels

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]

LEVEL = 0.95
SMALL = 20_000
"""Up to so many nodes a graph is counted as a whole unless a sample is asked for."""
SAMPLE = 2_000
"""Nodes that are drawn from a larger graph."""
WORDS, LEAST_WORDS = 32, 8
"""Most and fewest words of 64 sources in a block; eight fill a cache line, so that fewer would not
be faster to fetch."""
BLOCK_BYTES = 2**27
"""What a block's bits for all nodes should take; `LEAST_WORDS` has precedence."""
GATHER_BYTES = 2**20
"""Neighbours' bits that are fetched at a time; they should stay in the cache until merged."""
BYTE = 255
"""So many bits can be added up in one byte."""


def edge_homophily(adjacency: Any, labels: npt.ArrayLike) -> float | None:
    """The homophily rate of a graph: the share of edges that join two nodes of one class.

    Edges count once whatever their weight; those with an end that has no label do not count, nor
    do self-loops. Cost: O(N + E).

    Args:
        adjacency: A, symmetric, N x N, CSR.
        labels: class of each node, N whole numbers, `UNLABELLED` where it is not known.

    Returns:
        The share, or None where no edge joins two labelled nodes.
    """
    known = _checked(adjacency, labels)
    nodes = np.repeat(np.arange(known.size), np.diff(adjacency.indptr))
    own, other = known[nodes], known[adjacency.indices]
    counted = (own != UNLABELLED) & (other != UNLABELLED) & (nodes != adjacency.indices)
    return float((own == other)[counted].mean()) if counted.any() else None


@dataclass(frozen=True, eq=False)
class ContextualHomophily:
    """`P_n(i)` for n = 1, 2, ... of all labelled nodes, or of a random sample of them.

    Row n - 1 belongs to n. A node with no labelled node within n hops has no rate (NaN) and is left
    out of that n's mean and shares; a larger n may bring it in.

    Attributes:
        sources: the nodes i, in ascending order.
        rates: `P_n(i)`, a row for each n, a column for each source.
        plurality: whether i's own class is strictly more frequent in its scope than any other.
        population: the number of labelled nodes that the sources were drawn from.
    """

    sources: Ints
    rates: Floats
    plurality: npt.NDArray[np.bool_]
    population: int

    def mean(self) -> Floats:
        """The mean rate for each n; NaN where no source has anybody in scope."""
        return self._share(np.nan_to_num(self.rates))

    def interval(self) -> Floats:
        """The ends of a 95 % confidence interval of the mean over all labelled nodes, for each n.

        With m rates of standard deviation s in a sample of M nodes out of N, drawn without
        repetition,

            mean -+ t(m - 1) s sqrt((1 - M/N) / m),

        cut to [0, 1]. It has no width where all nodes were counted, for then nothing was left to
        chance, and is NaN where fewer than two rates of a sample leave the error unknown.
        """
        mean, count = self.mean(), self._count()
        left_out = 1 - self.sources.size / self.population
        squares = np.nansum((self.rates - mean[:, None]) ** 2, axis=1)
        freedom = np.where(count > 1, count - 1, np.nan)
        error = np.sqrt(squares / freedom * left_out / count)
        half = stdtrit(freedom, (1 + LEVEL) / 2) * error
        return np.stack([mean - half, mean + half], axis=1).clip(0, 1)

    def dominant(self) -> Floats:
        """The share of nodes with homophily dominance, their own class being the plurality."""
        return self._share(self.plurality)

    def strongly_dominant(self) -> Floats:
        """The share of nodes with strong homophily dominance, `P_n(i) > 0.5`."""
        return self._share(self.rates > 0.5)

    def _count(self) -> Ints:
        count: Ints = (~np.isnan(self.rates)).sum(axis=1)
        return count

    def _share(self, values: npt.NDArray[Any]) -> Floats:
        """Mean over the sources with somebody in scope; all others have a value of 0."""
        count = self._count()
        share: Floats = values.sum(axis=1) / np.where(count > 0, count, np.nan)
        return share


def contextual_homophily(
    adjacency: Any,
    labels: npt.ArrayLike,
    max_n: int = 20,
    *,
    sample: int | Literal["all"] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ContextualHomophily:
    """Measure the contextual homophily rate (Definition 1) for n = 1 to `max_n`.

        P_n(i) = |{j in N_n(i): y_j = y_i}| / |N_n(i)|,

    N_n(i) being the labelled nodes at a distance of 1 to n from i. A path may pass through nodes
    without a label.

    A block of up to 2,048 sources is one breadth-first search: every node holds a bit for each
    source that has reached it, and a hop is the OR of its own bits and its neighbours'. With M
    sources and h hops until nothing new is reached (at most `max_n`), it costs O(h M (N + E) / 64)
    operations on words and O(h M N) on bytes. Memory besides the result: O(N + E).

    Args:
        adjacency: A, symmetric, N x N, SciPy sparse.
        labels: class of each node, N whole numbers, `UNLABELLED` where it is not known.
        max_n: the largest n.
        sample: how many of the labelled nodes to draw as sources, or "all" of them. By default
            all in a graph of up to 20,000 nodes and 2,000 in a larger one.
        seed: the seed of the draw.
        progress: told after each block how many sources are done, and of how many.
    """
    known = _checked(adjacency, labels)
    if max_n < 1:
        raise UGCLError(f"the largest n must be at least 1 hop, not {max_n}")
    labelled = np.flatnonzero(known != UNLABELLED)
    if not labelled.size:
        raise UGCLError("no node has a label, so homophily cannot be measured: give labels")
    sources = _drawn(labelled, known.size, sample, seed)
    class_of = np.unique(known[labelled], return_inverse=True)[1]
    own = class_of[np.searchsorted(labelled, sources)]
    groups, first = _groups(labelled, class_of)
    looped = (adjacency + sp.eye_array(known.size, format="csr")).tocsr()
    rates = np.full((max_n, sources.size), np.nan)
    plurality = np.zeros((max_n, sources.size), dtype=bool)
    size = 64 * min(WORDS, max(LEAST_WORDS, BLOCK_BYTES // (8 * known.size)))
    for start in range(0, sources.size, size):
        block = slice(start, min(start + size, sources.size))
        for hop, reached in enumerate(_hops(looped, sources[block], max_n)):
            counts = _class_counts(reached, groups, first)
            rates[hop:, block], plurality[hop:, block] = _of_own_class(counts, own[block])
        if progress is not None:
            progress(block.stop, sources.size)
    return ContextualHomophily(sources, rates, plurality, labelled.size)


def _checked(adjacency: Any, labels: npt.ArrayLike) -> Ints:
    known = checked_labels(labels, adjacency.shape[0])
    if known is None:
        raise UGCLError("homophily is about classes, but there are no labels: give labels")
    return known


def _drawn(labelled: Ints, num_nodes: int, sample: int | Literal["all"] | None, seed: int) -> Ints:
    """The sources, in ascending order."""
    if sample is None:
        sample = "all" if num_nodes <= SMALL else SAMPLE
    if sample == "all" or sample >= labelled.size:
        return labelled
    if sample < 1:
        raise UGCLError(f"a sample needs at least 1 node, not {sample}: give more, or 'all'")
    return np.sort(np.random.default_rng(seed).choice(labelled, sample, replace=False))


def _groups(labelled: Ints, class_of: Ints) -> tuple[list[Ints], Ints]:
    """The labelled nodes in groups of one class and at most `BYTE` nodes; each class's first."""
    ends = np.bincount(class_of).cumsum()
    starts = [np.arange(*span, BYTE) for span in itertools.pairwise([0, *ends.tolist()])]
    first = np.cumsum([0, *(part.size for part in starts[:-1])])
    return np.split(labelled[np.argsort(class_of)], np.concatenate(starts)[1:]), first


def _hops(looped: Any, sources: Ints, max_n: int) -> Iterator[Bits]:
    """Who has reached each node within 1, 2, ... hops, until `max_n` or until nothing is new.

    Bit s % 8 of byte s / 8 in row v says that source s is within n hops of node v. The array is
    used again two hops later.

    Args:
        looped: A + I, CSR; every node has a neighbour then, as `reduceat` needs.
        sources: distinct node numbers.
        max_n: the largest n.
    """
    reached = np.zeros((looped.shape[0], -(-sources.size // 64)), dtype=np.uint64)
    number = np.arange(sources.size)
    reached.view(np.uint8)[sources, number // 8] = 1 << number % 8
    further = np.empty_like(reached)
    at_once = max(1, GATHER_BYTES // (8 * reached.shape[1]))
    rows = np.searchsorted(looped.indptr, np.arange(0, looped.nnz, at_once))
    spans = list(itertools.pairwise(np.unique([*rows, looped.shape[0]]).tolist()))
    for _ in range(max_n):
        for start, stop in spans:
            begin, end = looped.indptr[start], looped.indptr[stop]
            neighbours = reached[looped.indices[begin:end]]
            runs = looped.indptr[start:stop] - begin
            np.bitwise_or.reduceat(neighbours, runs, axis=0, out=further[start:stop])
        if np.array_equal(further, reached):
            return
        yield further
        reached, further = further, reached


def _class_counts(reached: Bits, groups: list[Ints], first: Ints) -> Ints:
    """How many nodes of each class each source has reached, C x sources (and unused bits)."""
    sums = np.empty((len(groups), 64 * reached.shape[1]), dtype=np.uint8)
    for total, nodes in zip(sums, groups, strict=True):
        bits = np.unpackbits(reached[nodes].view(np.uint8), axis=1, bitorder="little")
        bits.sum(axis=0, dtype=np.uint8, out=total)
    counts: Ints = np.add.reduceat(sums, first, axis=0, dtype=np.int64)
    return counts


def _of_own_class(counts: Ints, own: Ints) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Each source's rate, and whether its class is the plurality; it does not count itself."""
    number = np.arange(own.size)
    same = counts[own, number] - 1
    others = counts[:, : own.size].copy()
    others[own, number] = 0
    total = same + others.sum(axis=0)
    return same / np.where(total > 0, total, np.nan), same > others.max(axis=0)
