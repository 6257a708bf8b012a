"""Synthetic graphs: the degree-corrected contextual stochastic block model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.graph import Graph
from ugcl.graph.edges import EdgeList
from ugcl.typing import LabelArray

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_INT = 2**31 - 1
MAX_DEGREE_SPREAD = 2.0
MAX_SIGNAL = 1e6
MAX_HUB_MIXING = 2.0
MAX_RING = 100.0
MAX_NOISE_LOG_SCALE = 3
"""Noise features have standard deviations from 1 to ten to this power."""

MAX_ROUNDS = 10
"""If so many rounds find too few new edges, all probabilities become their square roots."""


def sbm_graph(
    *,
    nodes: int,
    degree: float = 10.0,
    homophily: float | None = 0.8,
    classes: int = 5,
    features: int = 32,
    components: int = 1,
    signal: float = 1.0,
    noise_features: float = 0.0,
    degree_spread: float = 0.5,
    hub_mixing: float = 1.0,
    ring: float = 1.0,
    seed: int = 0,
) -> Graph:
    """Sample a graph from a degree-corrected contextual stochastic block model.

    The numbers of edges are fixed instead of expected:

        E = N d / 2, of which h E inside classes,
        P(u, v) ~ w_u w_v            among pairs of the same class,
        P(u, v) ~ (w_u w_v)^p b_uv   among pairs of two classes, with p the hub mixing,
        w_v = exp(s z_v - s^2 / 2)   with z_v ~ N(0, 1), s the degree spread,
        b_uv = 1                     for consecutive classes c and c + 1 (mod C), else 1 / ring,

    sampled without replacement; a few edges are then moved so that every component is connected.
    Classes and components have equal sizes up to one node, and every component with enough nodes
    contains every class. The features are Gaussian:

        x_v = t / sqrt(2) m_c + e_v    with e_v ~ N(0, I), c the class of v, t the signal,

    where the m_c are random and orthonormal, so that class means are at distance t (with more
    classes than features: random unit vectors, at about that distance). The best classifier of
    features alone has an error of Phi(-t/2) between two classes. A fraction of the columns may be
    noise in unlike units: a_j (b_j + e), with log10 a_j uniform from 0 to 3 and b_j ~ N(0, 1).

    The result depends on the arguments alone. Cost: O(N F + E) and sorts of E integers.

    References: Karrer and Newman, Stochastic blockmodels and community structure in networks
    (2011); Deshpande, Sen, Montanari and Mossel, Contextual stochastic block models (2018).

    Args:
        nodes: N.
        degree: d, the average degree; E is N d / 2, rounded.
        homophily: h, the fraction of edges that connect two nodes of the same class; None for
            1 / classes, where edges tell nothing about the classes.
        classes: number of classes.
        features: F, number of feature columns.
        components: number of connected components.
        signal: t, distance of two class means in standard deviations of the noise.
        noise_features: fraction of the columns that are noise in unlike units.
        degree_spread: s, from 0 (equal weights, the plain block model) to 2.
        hub_mixing: p, from 0 to 2; above 1 the edges of hubs are less homophilous than others.
        ring: how much more likely an edge between two classes connects consecutive classes than
            others, 1 to 100. The few edges that are moved to connect components are exempt.
        seed: seed of the random generator.

    Returns:
        A graph with labels, named "sbm".
    """
    num_nodes = _integer("nodes", nodes, 1, MAX_INT)
    num_classes = _integer("classes", classes, 1, num_nodes)
    num_components = _integer("components", components, 1, num_nodes)
    num_features = _integer("features", features, 1, MAX_INT)
    degree = _number("degree", degree, 0, num_nodes - 1)
    homophily = 1 / num_classes if homophily is None else _number("homophily", homophily, 0, 1)
    signal = _number("signal", signal, 0, MAX_SIGNAL)
    num_noise = round(num_features * _number("noise_features", noise_features, 0, 1))
    hub_mixing = _number("hub_mixing", hub_mixing, 0, MAX_HUB_MIXING)
    ring = _number("ring", ring, 1, MAX_RING)
    spread = _number("degree_spread", degree_spread, 0, MAX_DEGREE_SPREAD)
    rng = numpy_generator("sbm", _integer("seed", seed, 0, 2**63 - 1))

    index = np.arange(num_nodes)
    component = index * num_components // num_nodes
    block = np.sort(component * num_classes + index % num_classes)
    weights = rng.lognormal(-(spread**2) / 2, spread, num_nodes)
    blocks = Blocks(block, component, weights, weights**hub_mixing, num_classes, ring)
    inside, between = _edge_counts(blocks, degree, homophily)
    edges = _connected_edges(blocks, inside, between, rng)

    node = rng.permutation(num_nodes).astype(np.int32)
    u, v = (node[ends] for ends in np.divmod(edges, num_nodes))
    labels = np.empty(num_nodes, dtype=np.int64)
    labels[node] = block % num_classes
    return Graph(
        EdgeList(np.concatenate([u, v]), np.concatenate([v, u]), None),
        _features(labels, num_classes, num_features, num_noise, signal, rng),
        labels=labels,
        name="sbm",
    )


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


def _edge_counts(blocks: Blocks, degree: float, homophily: float) -> tuple[int, int]:
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
            u, v = (blocks.block[ends] for ends in np.divmod(sampled, weights.size))
            likely = rng.random(sampled.size) < affinity[(u - v) % blocks.num_classes]
            sampled = rng.permutation(sampled[likely])[:missing]
        edges = np.sort(np.concatenate([edges, sampled]))
        edges = edges[np.diff(edges, prepend=-1) > 0]
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
    u = np.repeat(np.arange(weights.size), rng.multinomial(count, chances / chances.sum()))
    point = start[u] + rng.random(count) * total[u]
    if not same:  # skip the block of u
        point += (point >= block_start[u]) * block_sum[u]
    v = np.minimum(np.searchsorted(sums, point, side="right") - 1, weights.size - 1)
    valid = (blocks.component[u] == blocks.component[v]) & (u != v)
    valid &= (blocks.block[u] == blocks.block[v]) == same
    return _keys(u[valid], v[valid], weights.size)


def _connected_edges(blocks: Blocks, inside: int, between: int, rng: np.random.Generator) -> Ints:
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

    number = rng.permutation(num_edges)
    forest = minimum_spanning_tree(
        sp.csr_array((number + 1.0, np.divmod(keys, num_nodes)), shape=(num_nodes,) * 2)
    )
    part = connected_components(forest, directed=False)[1]
    redundant = np.ones(num_edges, dtype=bool)
    redundant[forest.data.astype(np.int64) - 1] = False
    redundant = redundant[number]
    spare_inside = rng.permutation(np.flatnonzero(redundant[:inside]))
    spare_between = rng.permutation(np.flatnonzero(redundant[inside:])) + inside

    parts, loose = np.unique(part, return_index=True)
    loose = rng.permutation(loose[~np.isin(parts, part[blocks.block_start])])
    links_inside = round(loose.size * inside / max(num_edges, 1))
    links_inside = min(max(links_inside, loose.size - spare_between.size), spare_inside.size)
    same = np.arange(loose.size) < links_inside
    replaced = spare_inside[:links_inside], spare_between[: loose.size - links_inside]
    keys[np.concatenate(replaced)] = _links(blocks, part, loose, same, rng)
    return keys


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


def _features(
    labels: LabelArray,
    classes: int,
    columns: int,
    num_noise: int,
    signal: float,
    rng: np.random.Generator,
) -> npt.NDArray[np.float32]:
    informative = columns - num_noise
    means = rng.standard_normal((classes, informative))
    if classes <= informative:
        means = np.linalg.qr(means.T)[0].T
    else:
        means /= np.linalg.norm(means, axis=1, keepdims=True)
    features = rng.standard_normal((labels.size, columns), dtype=np.float32)
    features[:, :informative] += (signal / math.sqrt(2) * means).astype(np.float32)[labels]
    if not num_noise:
        return features
    scale = 10 ** rng.uniform(0, MAX_NOISE_LOG_SCALE, num_noise)
    features[:, informative:] += rng.standard_normal(num_noise)
    features[:, informative:] *= scale
    return features[:, rng.permutation(columns)]


def _integer(name: str, value: Any, low: int, high: int) -> int:
    integral = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integral or not low <= value <= high:
        raise UGCLError(f"`{name}` must be an integer from {low} to {high:,}, not {value!r}")
    return int(value)


def _number(name: str, value: Any, low: float, high: float) -> float:
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or isinstance(value, bool) or not math.isfinite(value) or value < low:
        raise UGCLError(f"`{name}` must be a number of at least {low:g}, not {value!r}")
    if value > high:
        raise UGCLError(f"`{name}` must be at most {high:,g}, not {value!r}")
    return float(value)
