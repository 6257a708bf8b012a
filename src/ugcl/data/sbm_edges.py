"""Edges of the stochastic block model, sampled in exact numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from ugcl._utils.errors import UGCLError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PIECE = 2**22
"""Edges that are sampled, compared or linked at a time."""

MAX_ROUNDS = 10
"""If so many rounds find too few new edges, all probabilities become their square roots."""


class Blocks:
    """Nodes sorted by block; a block is the nodes of one class in one component.

    Attributes:
        block: block of each node, (N,) ascending integers.
        component: component of each node, (N,) ascending integers.
        weights: w, (N,) positive numbers.
        between_weights: the weights for edges between blocks, by default w.
        num_classes: C; the class of a node is its block modulo C.
        ring: how much more likely edges between consecutive classes are than between others.
        block_start, block_end: range of the nodes of each node's block, (N,) each.
        component_start, component_end: range of the nodes of each node's component.
        chains: keys of the edges that connect the first nodes of each component's blocks.
    """

    def __init__(
        self,
        block: Ints,
        component: Ints,
        weights: Floats,
        between_weights: Floats | None = None,
        num_classes: int = 1,
        ring: float = 1.0,
    ) -> None:
        self.block, self.component, self.weights = block, component, weights
        self.between_weights = weights if between_weights is None else between_weights
        self.num_classes = num_classes
        self.ring = ring if num_classes > 3 else 1.0  # else all classes are consecutive
        self.block_start, self.component_start = (np.searchsorted(i, i) for i in (block, component))
        self.block_end, self.component_end = (
            np.searchsorted(ids, ids, side="right") for ids in (block, component)
        )
        self.block_size = self.block_end - self.block_start
        first = np.unique(self.block_start)
        linked = np.flatnonzero(np.diff(component[first]) == 0)
        self.chains = _keys(first[linked], first[linked + 1], block.size)

    def _partners(self, same: bool) -> tuple[Ints, Ints]:
        """For each node the range of later nodes in its block, or in its component outside it."""
        if same:
            return np.arange(1, self.block.size + 1), self.block_end
        return self.block_end, self.component_end

    def affinity(self, steps: Ints) -> Floats:
        """Relative probability of an edge between two classes by the difference of their blocks."""
        steps = steps % self.num_classes
        return np.where((steps == 1) | (steps == self.num_classes - 1), 1.0, 1 / self.ring)

    def num_pairs(self, same: bool) -> int:
        """Number of pairs of nodes of the same block, or of two blocks of a component."""
        start, end = self._partners(same)
        return int((end - start).sum())

    def all_pairs(self, same: bool) -> tuple[Ints, Ints]:
        """All of these pairs, as two arrays of nodes."""
        start, end = self._partners(same)
        counts = end - start
        u = np.repeat(np.arange(self.block.size), counts)
        return u, np.arange(u.size) + np.repeat(start - np.cumsum(counts) + counts, counts)


def edge_counts(blocks: Blocks, degree: float, homophily: float) -> tuple[int, int]:
    """Return the numbers of edges inside and between classes, if such a graph exists."""
    num_nodes, num_components = blocks.block.size, int(blocks.component[-1]) + 1
    max_inside, max_between = blocks.num_pairs(same=True), blocks.num_pairs(same=False)
    edges = round(num_nodes * degree / 2)
    low, high = num_nodes - num_components, max_inside + max_between
    if not low <= edges <= high:
        raise UGCLError(
            f"{num_nodes:,} nodes in {num_components:,} connected component(s) have an average "
            f"degree from {2 * low / num_nodes:.12g} to {2 * high / num_nodes:.12g}, not "
            f"{degree:g}: change `degree`, `nodes` or `components`"
        )
    inside = round(homophily * edges)
    low, high = max(0, edges - max_between), min(max_inside, edges - blocks.chains.size)
    if not low <= inside <= high:
        raise UGCLError(
            f"`homophily` must be from {low / edges:.12g} to {high / edges:.12g} with these "
            f"numbers of nodes, classes, components and edges, not {homophily:g}: a component must "
            "be connected through all its classes, and two nodes have one edge at most"
        )
    return inside, edges - inside


def sample_edges(
    blocks: Blocks, edges: Ints, count: int, same: bool, rng: np.random.Generator
) -> Ints:
    """Add random edges to `edges` until there are `count`.

    Edges are sampled one after another with the model's P(u, v); repeated ones do not count. If
    more than half of all pairs are needed, every pair gets an exponential clock of that rate and
    the first to ring are taken, which has the same distribution.

    Args:
        blocks: the nodes.
        edges: keys of edges, u N + v for nodes u < v.
        count: number of edges to return.
        same: whether edges connect nodes of the same block, or of two blocks of a component.
        rng: random generator.
    """
    weights = blocks.weights if same else blocks.between_weights
    uniform = same or blocks.ring == 1
    if edges.size < count > blocks.num_pairs(same) // 2:
        u, v = blocks.all_pairs(same)
        keys = _keys(u, v, weights.size)
        clocks = rng.exponential(size=keys.size) / (weights[u] * weights[v])
        if not uniform:
            clocks /= blocks.affinity(blocks.block[u] - blocks.block[v])
        clocks[np.isin(keys, edges)] = -1
        return keys[np.argsort(clocks)[:count]]
    rounds, power, accepted = 0, 1.0, 1.0
    while (missing := count - edges.size) > 0:
        if not uniform:
            affinity = blocks.affinity(np.arange(blocks.num_classes)) ** power
            accepted = float(affinity[1:].mean())
        sampled = _sample_pairs(blocks, weights, math.ceil(missing / accepted), same, rng)
        if not uniform:
            likely = np.concatenate(
                [
                    rng.random(part.size) < affinity[_steps(blocks, part) % blocks.num_classes]
                    for part in _pieces(sampled)
                ]
            )
            sampled = rng.permutation(sampled[likely])[:missing]
        edges = _distinct(np.concatenate([edges, sampled]) if edges.size else sampled)
        rounds += 1
        if rounds % MAX_ROUNDS == 0:
            weights, power = np.sqrt(weights), power / 2
    return edges


def _sample_pairs(
    blocks: Blocks, weights: Floats, count: int, same: bool, rng: np.random.Generator
) -> Ints:
    """Sample at most `count` keys of pairs with P(u, v) ~ w_u w_v; a pair may occur twice.

    The first node is sampled by its weight times the total weight of its possible partners, the
    second by inverting the cumulative sum of the weights.
    """
    sums = np.concatenate([[0], np.cumsum(weights)])
    block_start = sums[blocks.block_start]
    block_sum = sums[blocks.block_end] - block_start
    if same:
        start, total = block_start, block_sum * (blocks.block_size > 1)
    else:
        start = sums[blocks.component_start]
        total = sums[blocks.component_end] - start - block_sum
    chances = weights * total
    ends = np.cumsum(rng.multinomial(count, chances / chances.sum()))
    keys, found = np.empty(count, dtype=np.int64), 0
    for begin in range(0, count, PIECE):
        u = _owners(ends, begin, min(begin + PIECE, count))
        point = start[u] + rng.random(u.size) * total[u]
        if not same:  # skip the block of u
            point += (point >= block_start[u]) * block_sum[u]
        v = np.minimum(np.searchsorted(sums, point, side="right") - 1, weights.size - 1)
        valid = (blocks.component[u] == blocks.component[v]) & (u != v)
        valid &= (blocks.block[u] == blocks.block[v]) == same
        part = _keys(u[valid], v[valid], weights.size)
        keys[found : found + part.size] = part
        found += part.size
    return keys[:found]


def _owners(ends: Ints, begin: int, end: int) -> Ints:
    """Return for positions begin to end - 1 the range that contains it; ranges end at `ends`."""
    first, last = np.searchsorted(ends, [begin, end - 1], side="right")
    limits = np.clip(ends[first : last + 1], begin, end)
    return np.repeat(np.arange(first, last + 1), np.diff(limits, prepend=begin))


def _steps(blocks: Blocks, keys: Ints) -> Ints:
    """Return the differences of the blocks of edges."""
    u, v = (blocks.block[ends] for ends in np.divmod(keys, blocks.block.size))
    return u - v


def _pieces(values: Ints) -> Iterator[Ints]:
    """Yield views of `PIECE` values, at least one."""
    for start in range(0, max(values.size, 1), PIECE):
        yield values[start : start + PIECE]


def _distinct(values: Ints) -> Ints:
    """Sort integers of at least 0 in place, and return the distinct ones."""
    values.sort()
    size, last = 0, -1
    for part in _pieces(values):
        distinct = part[np.diff(part, prepend=last) > 0]
        last = int(part[-1]) if part.size else last
        values[size : size + distinct.size] = distinct
        size += distinct.size
    return values[:size]


def connected_edges(blocks: Blocks, inside: int, between: int, rng: np.random.Generator) -> Ints:
    """Sample edges inside and between blocks such that each component is connected.

    A chain through the first nodes of a component's blocks is fixed, all other edges are sampled
    freely. Every part that is not connected to the chain is then linked to it by an edge that
    replaces a redundant one, which is one outside a random spanning forest. Edges inside blocks
    replace edges inside blocks, so that the numbers stay exact.
    """
    num_nodes, num_edges = blocks.weights.size, inside + between
    edges_inside = sample_edges(blocks, np.empty(0, dtype=np.int64), inside, True, rng)
    edges_between = sample_edges(blocks, blocks.chains, between, False, rng)
    keys = np.concatenate([edges_inside, edges_between])
    del edges_inside, edges_between

    part, redundant = _random_forest(keys, num_nodes, rng)
    spare_inside = np.flatnonzero(redundant[:inside])
    rng.shuffle(spare_inside)
    spare_between = np.flatnonzero(redundant[inside:])
    rng.shuffle(spare_between)
    spare_between += inside

    parts, loose = np.unique(part, return_index=True)
    loose = rng.permutation(loose[~np.isin(parts, part[blocks.block_start])])
    links_inside = round(loose.size * inside / max(num_edges, 1))
    links_inside = min(max(links_inside, loose.size - spare_between.size), spare_inside.size)
    same = np.arange(loose.size) < links_inside
    replaced = spare_inside[:links_inside], spare_between[: loose.size - links_inside]
    keys[np.concatenate(replaced)] = _links(blocks, part, loose, same, rng)
    return keys


def _random_forest(
    keys: Ints, num_nodes: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return the part of each node, and for each edge whether a random forest leaves it out.

    Kruskal's algorithm takes the edges in random order, a block of them at a time: the forest of a
    block is that of its edges between the parts so far.
    """
    number = rng.permutation(keys.size)
    order = np.empty(keys.size, dtype=np.int32 if keys.size < 2**31 else np.int64)
    for begin in range(0, keys.size, PIECE):
        block = number[begin : begin + PIECE]
        order[block] = np.arange(begin, begin + block.size)
    del number
    part = np.arange(num_nodes, dtype=np.int32)
    redundant = np.ones(keys.size, dtype=bool)
    for begin in range(0, keys.size, PIECE):
        edges = order[begin : begin + PIECE]
        a, b = (part[ends] for ends in np.divmod(keys[edges], num_nodes))
        pairs = _keys(a.astype(np.int64), b.astype(np.int64), num_nodes)
        first = np.unique(pairs, return_index=True)[1]  # of several edges between two parts
        first = np.sort(first[a[first] != b[first]])
        size = int(part.max()) + 1
        weights = np.arange(1.0, first.size + 1)
        between = sp.csr_array((weights, (a[first], b[first])), shape=(size, size))
        forest = minimum_spanning_tree(between)
        redundant[edges[first[forest.data.astype(np.int64) - 1]]] = False
        part = connected_components(forest, directed=False)[1][part]
    return part, redundant


def _links(
    blocks: Blocks,
    part: npt.NDArray[np.int32],
    loose: Ints,
    same: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> Ints:
    """Link one node of each loose part to a random node of a larger part, P(v) ~ w_v.

    Parts that contain a chain count as largest. `same` says whether the link is inside the block
    of the loose node, or to a random other block of its component.
    """
    rank = np.empty(int(part.max()) + 1, dtype=np.int64)
    rank[np.argsort(-np.bincount(part), kind="stable")] = 1 + np.arange(rank.size)
    rank[part[blocks.block_start]] = 0
    others = (blocks.component_end - blocks.component_start - blocks.block_size)[loose]
    target = blocks.component_start[loose] + (rng.random(loose.size) * others).astype(np.int64)
    target += (target >= blocks.block_start[loose]) * blocks.block_size[loose]
    start = blocks.block_start[np.where(same, loose, target)]

    by_rank = blocks.block_start * (rank.size + 1) + rank[part]
    order = np.argsort(by_rank, kind="stable")
    end = np.searchsorted(by_rank[order], start * (rank.size + 1) + rank[part[loose]])
    sums = np.concatenate([[0], np.cumsum(blocks.weights[order])])
    point = sums[start] + rng.random(loose.size) * (sums[end] - sums[start])
    place = np.minimum(np.searchsorted(sums, point, side="right") - 1, end - 1)
    return _keys(loose, order[place], part.size)


def _keys(u: Ints, v: Ints, num_nodes: int) -> Ints:
    """One integer for each edge: u N + v for its nodes u < v."""
    return np.minimum(u, v) * num_nodes + np.maximum(u, v)
