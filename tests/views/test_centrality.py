from __future__ import annotations

from typing import Any, get_args

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ugcl.typing import Centrality
from ugcl.views import undirected_edges
from ugcl.views.centrality import (
    MIN_CENTRALITY,
    centrality,
    drop_probabilities,
    edge_weights,
    feature_weights,
)

CENTRALITIES = get_args(Centrality)
SEEDS = st.integers(0, 10_000)


def random_graph(seed: int, *, weighted: bool, connected: bool) -> np.ndarray:
    """Three to twenty nodes, connected by a ring, or some of them isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 21))
    edges = rng.random((size, size)) < 0.15
    if connected:
        edges |= np.roll(np.eye(size), 1, axis=1) > 0
    weights = rng.uniform(0.2, 3, (size, size)) if weighted else np.ones((size, size))
    weights = np.triu(weights * (edges | edges.T), k=1)
    return np.maximum(weights, weights.T)


def of(graph: np.ndarray, kind: Centrality) -> np.ndarray:
    return centrality(sp.csr_array(graph.astype(np.float32)), kind)


def to_networkx(graph: np.ndarray) -> Any:
    return nx.from_scipy_sparse_array(sp.csr_array(graph))


def in_order(centralities: dict[int, float]) -> np.ndarray:
    """The values of the nodes 0, 1, ..., scaled to a maximum of 1."""
    values = np.array([centralities[node] for node in range(len(centralities))])
    scaled: np.ndarray = values / values.max()
    return scaled


@given(seed=SEEDS, weighted=st.booleans())
def test_degree_is_the_sum_of_weights_divided_by_the_largest(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted, connected=True)
    expected = np.array([sum(row) for row in graph])
    np.testing.assert_allclose(of(graph, "degree"), expected / expected.max(), rtol=1e-6)


@given(seed=SEEDS, weighted=st.booleans(), connected=st.booleans())
def test_pagerank_equals_that_of_networkx(seed: int, weighted: bool, connected: bool) -> None:
    """With and without isolated nodes."""
    graph = random_graph(seed, weighted=weighted, connected=connected)
    expected = in_order(nx.pagerank(to_networkx(graph), alpha=0.85, tol=1e-12, max_iter=1000))
    np.testing.assert_allclose(of(graph, "pagerank"), expected, rtol=1e-4)


def test_pagerank_solves_its_equation() -> None:
    """x = 0.85 P x + 0.15 / N with the dense matrix P = A D^-1."""
    graph = random_graph(7, weighted=True, connected=True)
    size = len(graph)
    steps = graph / graph.sum(axis=0, keepdims=True)
    expected = np.linalg.solve(np.eye(size) - 0.85 * steps, np.full(size, 0.15 / size))
    np.testing.assert_allclose(of(graph, "pagerank"), expected / expected.max(), rtol=1e-4)


@given(seed=SEEDS, weighted=st.booleans())
def test_eigenvector_equals_that_of_numpy(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted, connected=True)
    first = np.abs(np.linalg.eigh(graph)[1][:, -1])
    np.testing.assert_allclose(of(graph, "eigenvector"), first / first.max(), atol=1e-3)


def test_eigenvector_equals_that_of_networkx() -> None:
    graph = random_graph(3, weighted=True, connected=True)
    expected = nx.eigenvector_centrality_numpy(to_networkx(graph), weight="weight")
    np.testing.assert_allclose(of(graph, "eigenvector"), in_order(expected), atol=1e-4)


@pytest.mark.parametrize("leaves", [2, 9, 100])
def test_eigenvector_does_not_oscillate_on_a_star(leaves: int) -> None:
    """The hub has 1 and each leaf 1 / sqrt(leaves)."""
    star = np.zeros((leaves + 1, leaves + 1))
    star[0, 1:] = star[1:, 0] = 1
    expected = np.array([1.0] + [leaves**-0.5] * leaves)
    np.testing.assert_allclose(of(star, "eigenvector"), expected, atol=1e-4)


@pytest.mark.parametrize("kind", CENTRALITIES)
@pytest.mark.parametrize("seed", range(5))
def test_the_largest_centrality_is_1_and_none_is_0(seed: int, kind: Centrality) -> None:
    graph = random_graph(seed, weighted=True, connected=False)
    graph[0], graph[:, 0] = 0, 0
    graph[1, 2] = graph[2, 1] = 9
    values = of(graph, kind)
    assert values.dtype == np.float64
    assert values.shape == (len(graph),)
    assert values.max() == 1
    assert values.min() >= MIN_CENTRALITY
    assert values[0] == values.min()


@pytest.mark.parametrize("kind", CENTRALITIES)
def test_without_edges_all_nodes_have_the_same_centrality(kind: Centrality) -> None:
    np.testing.assert_allclose(of(np.zeros((4, 4)), kind), np.ones(4))


def test_an_isolated_node_has_the_minimum_centrality() -> None:
    path = np.zeros((4, 4))
    path[0, 1] = path[1, 0] = path[1, 2] = path[2, 1] = 1
    np.testing.assert_allclose(of(path, "degree"), [0.5, 1, 0.5, MIN_CENTRALITY])


def slow_probabilities(weights: np.ndarray, rate: float, max_drop: float) -> list[float]:
    """Zhu et al., Equation 2, item by item."""
    logs = [np.log(weight) for weight in weights if weight > 0]
    highest, mean = max(logs), sum(logs) / len(logs)
    return [
        min((highest - np.log(weight)) / (highest - mean) * rate, max_drop)
        if weight > 0
        else max_drop
        for weight in weights
    ]


@given(seed=SEEDS, rate=st.floats(0, 1), max_drop=st.floats(0, 1), zeros=st.booleans())
def test_probabilities_equal_the_formula(
    seed: int, rate: float, max_drop: float, zeros: bool
) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=int(rng.integers(3, 20)))
    if zeros:
        weights[0] = 0
    values = drop_probabilities(weights, rate, max_drop)
    np.testing.assert_allclose(values, slow_probabilities(weights, rate, max_drop), atol=1e-12)
    order = np.argsort(weights)
    assert (np.diff(values[order]) <= 1e-12).all()


@given(seed=SEEDS, rate=st.floats(0.01, 0.9))
def test_without_a_maximum_the_mean_probability_is_the_rate(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=15)
    values = drop_probabilities(weights, rate, np.inf)
    assert values.mean() == pytest.approx(rate)
    assert values[weights.argmax()] == 0
    np.testing.assert_allclose(drop_probabilities(7 * weights, rate, np.inf), values, rtol=1e-9)


@pytest.mark.parametrize("weight", [1e-8, 0.3, 5.0])
@pytest.mark.parametrize(("rate", "expected"), [(0.2, 0.2), (0.9, 0.7)])
def test_items_of_equal_weight_are_dropped_at_the_rate(
    rate: float, expected: float, weight: float
) -> None:
    values = drop_probabilities(np.array([weight, 0, weight]), rate, 0.7)
    np.testing.assert_array_equal(values, [expected, 0.7, expected])


def test_items_of_weight_0_are_dropped_with_the_maximum_probability() -> None:
    np.testing.assert_array_equal(drop_probabilities(np.zeros(3), 0.2, 0.7), [0.7] * 3)
    assert drop_probabilities(np.zeros(0), 0.2, 0.7).shape == (0,)
    with_zeros = drop_probabilities(np.array([0, 1, 2, 0, 4.0]), 0.2, 0.7)
    without = drop_probabilities(np.array([1, 2, 4.0]), 0.2, 0.7)
    np.testing.assert_array_equal(with_zeros, [0.7, *without[:2], 0.7, without[2]])


@given(seed=SEEDS)
def test_the_weight_of_an_edge_is_the_mean_of_its_endpoints(seed: int) -> None:
    graph = random_graph(seed, weighted=False, connected=True)
    nodes = of(graph, "pagerank")
    size = len(graph)
    expected = [
        (nodes[i] + nodes[j]) / 2 for i in range(size) for j in range(i + 1, size) if graph[i, j]
    ]
    values = edge_weights(nodes, *undirected_edges(sp.csr_array(graph)))
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def slow_feature_weights(nodes: np.ndarray, features: np.ndarray, sized: bool) -> list[float]:
    """Zhu et al., Equations 3 and 4, entry by entry."""
    return [
        sum(
            nodes[u] * (abs(features[u, column]) if sized else features[u, column] != 0)
            for u in range(len(nodes))
        )
        for column in range(features.shape[1])
    ]


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("fraction", [0.05, 0.14, 0.16, 0.5, 1.0])
def test_a_column_weighs_the_summed_centrality_of_its_nodes(
    fraction: float, binary: bool, sparse: bool
) -> None:
    """If X is dense, nodes count by the absolute value of their entry."""
    rng = np.random.default_rng(0)
    flat = np.zeros(20 * 10, dtype=np.float32)
    chosen = rng.permutation(200)[: round(fraction * 200)]
    flat[chosen] = 1 if binary else rng.normal(size=chosen.size)
    features = flat.reshape(20, 10)
    nodes = rng.uniform(0.1, 1, 20)
    expected = slow_feature_weights(nodes, features, sized=fraction > 0.15)
    values = feature_weights(nodes, sp.csr_array(features) if sparse else features)
    assert values.dtype == np.float64
    assert values.shape == (10,)
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_stored_zeros_count_as_zeros() -> None:
    """Two of twenty entries are not zero, four are stored."""
    data = np.array([2, 0, -3, 0], dtype=np.float32), np.array([0, 1, 1, 2]), [0, 2, 2, 3, 4]
    features = sp.csr_array(data, shape=(4, 5))
    nodes = np.array([0.1, 0.2, 0.4, 0.8])
    np.testing.assert_allclose(feature_weights(nodes, features), [0.1, 0.4, 0, 0, 0])


@pytest.mark.parametrize("unit", [1e-6, 1e-4, 1.0, 1e4])
def test_the_scale_of_weights_does_not_matter(unit: float) -> None:
    """On a star with four leaves, which is bipartite, a leaf has half of the hub's centrality."""
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = unit
    values = centrality(sp.csr_array(star), "eigenvector")
    np.testing.assert_allclose(values, [1, 0.5, 0.5, 0.5, 0.5], atol=1e-4)
