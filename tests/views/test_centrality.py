from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ugcl.views import (
    CENTRALITIES,
    Centrality,
    centrality,
    drop_probabilities,
    edge_ends,
    edge_weights,
    feature_weights,
)
from ugcl.views.centrality import MIN_CENTRALITY

SEEDS = st.integers(0, 10_000)


def random_graph(seed: int, *, weighted: bool, connected: bool) -> np.ndarray:
    """Three to twenty nodes; a ring holds them together, or else some are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 21))
    joined = rng.random((size, size)) < 0.15
    if connected:
        joined |= np.roll(np.eye(size), 1, axis=1) > 0
    weights = rng.uniform(0.2, 3, (size, size)) if weighted else np.ones((size, size))
    weights = np.triu(weights * (joined | joined.T), k=1)
    return np.maximum(weights, weights.T)


def of(graph: np.ndarray, kind: Centrality) -> np.ndarray:
    return centrality(sp.csr_array(graph.astype(np.float32)), kind)


def to_networkx(graph: np.ndarray) -> Any:
    return nx.from_scipy_sparse_array(sp.csr_array(graph))


def in_order(found: dict[int, float]) -> np.ndarray:
    """The values of the nodes 0, 1, ..., the largest being 1."""
    values = np.array([found[node] for node in range(len(found))])
    scaled: np.ndarray = values / values.max()
    return scaled


@given(seed=SEEDS, weighted=st.booleans())
def test_degree_is_the_sum_of_weights_beside_the_largest(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted, connected=True)
    expected = np.array([sum(row) for row in graph])
    np.testing.assert_allclose(of(graph, "degree"), expected / expected.max(), rtol=1e-6)


@given(seed=SEEDS, weighted=st.booleans(), connected=st.booleans())
def test_pagerank_is_that_of_networkx(seed: int, weighted: bool, connected: bool) -> None:
    """With isolated nodes, too."""
    graph = random_graph(seed, weighted=weighted, connected=connected)
    expected = in_order(nx.pagerank(to_networkx(graph), alpha=0.85, tol=1e-12, max_iter=1000))
    np.testing.assert_allclose(of(graph, "pagerank"), expected, rtol=1e-4)


def test_pagerank_solves_its_equation() -> None:
    """x = 0.85 P x + 0.15 / N, P x being what arrives by a step from where x is, written dense."""
    graph = random_graph(7, weighted=True, connected=True)
    size = len(graph)
    steps = graph / graph.sum(axis=0, keepdims=True)
    expected = np.linalg.solve(np.eye(size) - 0.85 * steps, np.full(size, 0.15 / size))
    np.testing.assert_allclose(of(graph, "pagerank"), expected / expected.max(), rtol=1e-4)


@given(seed=SEEDS, weighted=st.booleans())
def test_eigenvector_is_that_of_numpy(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted, connected=True)
    first = np.abs(np.linalg.eigh(graph)[1][:, -1])
    np.testing.assert_allclose(of(graph, "eigenvector"), first / first.max(), atol=1e-3)


def test_eigenvector_is_that_of_networkx() -> None:
    graph = random_graph(3, weighted=True, connected=True)
    found = nx.eigenvector_centrality_numpy(to_networkx(graph), weight="weight")
    np.testing.assert_allclose(of(graph, "eigenvector"), in_order(found), atol=1e-4)


@pytest.mark.parametrize("leaves", [2, 9, 100])
def test_eigenvector_does_not_go_back_and_forth_on_a_star(leaves: int) -> None:
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
    found = of(graph, kind)
    assert found.dtype == np.float64
    assert found.shape == (len(graph),)
    assert found.max() == 1
    assert found.min() >= MIN_CENTRALITY
    assert found[0] == found.min()


@pytest.mark.parametrize("kind", CENTRALITIES)
def test_without_edges_all_nodes_matter_alike(kind: Centrality) -> None:
    np.testing.assert_allclose(of(np.zeros((4, 4)), kind), np.ones(4))


def test_an_isolated_node_has_the_least_degree() -> None:
    path = np.zeros((4, 4))
    path[0, 1] = path[1, 0] = path[1, 2] = path[2, 1] = 1
    np.testing.assert_allclose(of(path, "degree"), [0.5, 1, 0.5, MIN_CENTRALITY])


def slow_probabilities(weights: np.ndarray, rate: float, max_drop: float) -> list[float]:
    """Zhu et al., Equation 2 of all that have a weight, one by one."""
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
    found = drop_probabilities(weights, rate, max_drop)
    np.testing.assert_allclose(found, slow_probabilities(weights, rate, max_drop), atol=1e-12)
    order = np.argsort(weights)
    assert (np.diff(found[order]) <= 1e-12).all()


@given(seed=SEEDS, rate=st.floats(0.01, 0.9))
def test_where_nothing_is_cut_the_mean_is_the_rate(seed: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=15)
    found = drop_probabilities(weights, rate, np.inf)
    assert found.mean() == pytest.approx(rate)
    assert found[weights.argmax()] == 0
    np.testing.assert_allclose(drop_probabilities(7 * weights, rate, np.inf), found, rtol=1e-9)


@pytest.mark.parametrize("weight", [1e-8, 0.3, 5.0])
@pytest.mark.parametrize(("rate", "expected"), [(0.2, 0.2), (0.9, 0.7)])
def test_what_weighs_the_same_is_dropped_at_the_rate(
    rate: float, expected: float, weight: float
) -> None:
    found = drop_probabilities(np.array([weight, 0, weight]), rate, 0.7)
    np.testing.assert_array_equal(found, [expected, 0.7, expected])


def test_what_has_no_weight_is_dropped_the_most() -> None:
    np.testing.assert_array_equal(drop_probabilities(np.zeros(3), 0.2, 0.7), [0.7] * 3)
    assert drop_probabilities(np.zeros(0), 0.2, 0.7).shape == (0,)
    with_zeros = drop_probabilities(np.array([0, 1, 2, 0, 4.0]), 0.2, 0.7)
    without = drop_probabilities(np.array([1, 2, 4.0]), 0.2, 0.7)
    np.testing.assert_array_equal(with_zeros, [0.7, *without[:2], 0.7, without[2]])


@given(seed=SEEDS)
def test_an_edge_weighs_the_mean_of_its_ends(seed: int) -> None:
    graph = random_graph(seed, weighted=False, connected=True)
    nodes = of(graph, "pagerank")
    size = len(graph)
    expected = [
        (nodes[i] + nodes[j]) / 2 for i in range(size) for j in range(i + 1, size) if graph[i, j]
    ]
    found = edge_weights(nodes, *edge_ends(sp.csr_array(graph)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


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
@pytest.mark.parametrize("share", [0.05, 0.14, 0.16, 0.5, 1.0])
def test_a_column_weighs_the_nodes_that_have_it(share: float, binary: bool, sparse: bool) -> None:
    """And if X is crowded, how much they have of it, whatever its sign."""
    rng = np.random.default_rng(0)
    flat = np.zeros(20 * 10, dtype=np.float32)
    chosen = rng.permutation(200)[: round(share * 200)]
    flat[chosen] = 1 if binary else rng.normal(size=chosen.size)
    features = flat.reshape(20, 10)
    nodes = rng.uniform(0.1, 1, 20)
    expected = slow_feature_weights(nodes, features, sized=share > 0.15)
    found = feature_weights(nodes, sp.csr_array(features) if sparse else features)
    assert found.dtype == np.float64
    assert found.shape == (10,)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_entries_that_are_held_but_zero_are_not_had() -> None:
    """Two of twenty entries are not zero, four are held."""
    data = np.array([2, 0, -3, 0], dtype=np.float32), np.array([0, 1, 1, 2]), [0, 2, 2, 3, 4]
    features = sp.csr_array(data, shape=(4, 5))
    nodes = np.array([0.1, 0.2, 0.4, 0.8])
    np.testing.assert_allclose(feature_weights(nodes, features), [0.1, 0.4, 0, 0, 0])


@pytest.mark.parametrize("unit", [1e-6, 1e-4, 1.0, 1e4])
def test_the_unit_of_weights_does_not_matter(unit: float) -> None:
    """On a star of four, which is bipartite, a leaf has half of the centre's eigenvector."""
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = unit
    found = centrality(sp.csr_array(star), "eigenvector")
    np.testing.assert_allclose(found, [1, 0.5, 0.5, 0.5, 0.5], atol=1e-4)
