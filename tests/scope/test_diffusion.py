# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import importlib
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.sparse.csgraph import connected_components

import reference
from ugcl.scope import (
    diffusion,
    heat_coefficients,
    pagerank_coefficients,
    top_k_diffusion,
    with_self_loops,
)

MODULE = importlib.import_module("ugcl.scope.diffusion")  # as an attribute it is the function
CLOSE = 1e-6  # float32's rounding, over some hundred steps

Kind = tuple[str, float]
SEEDS = st.integers(0, 10_000)
LOOPS = st.sampled_from([0.0, 1.0, 2.0])
KINDS = st.tuples(st.just("pagerank"), st.floats(0.05, 0.9)) | st.tuples(
    st.just("heat"), st.floats(0.5, 20)
)
TOLERANCES = st.sampled_from([0.0, 1e-5, 1e-3, 1e-2, 0.1])


def random_graph(seed: int) -> np.ndarray:
    """One to twenty nodes in a few groups, weighted edges within groups; some are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 21))
    group = rng.integers(0, 4, size)
    joined = (group[:, None] == group[None, :]) & (rng.random((size, size)) < 0.4) & (group > 0)
    weights = np.where(np.triu(joined, k=1), rng.uniform(0.2, 3, (size, size)), 0)
    return np.maximum(weights, weights.T)


def connected_graph(size: int, seed: int = 0) -> np.ndarray:
    """A ring with chords, each edge of another weight."""
    rng = np.random.default_rng(seed)
    ring = np.roll(np.eye(size), 1, axis=1) > 0
    joined = np.triu((rng.random((size, size)) < 0.1) | ring | ring.T, k=1)
    weights = np.where(joined, rng.uniform(0.2, 3, (size, size)), 0)
    return np.maximum(weights, weights.T)


def coefficients_of(kind: Kind) -> np.ndarray:
    name, amount = kind
    return pagerank_coefficients(amount) if name == "pagerank" else heat_coefficients(amount)


def exact(matrix: np.ndarray, kind: Kind) -> np.ndarray:
    """alpha (I - (1 - alpha) W)^-1 and e^{-t (I - W)}, dense."""
    name, amount = kind
    identity = np.eye(len(matrix))
    if name == "pagerank":
        found: np.ndarray = amount * np.linalg.inv(identity - (1 - amount) * matrix)
    else:
        found = expm(-amount * (identity - matrix))
    return found


def looped(graph: np.ndarray, self_loops: float) -> Any:
    return with_self_loops(sp.csr_array(graph.astype(np.float32)), self_loops)


def degrees(adjacency: Any) -> np.ndarray:
    found: np.ndarray = adjacency.toarray().astype(float).sum(axis=1)
    return found


def ratios(adjacency: Any, power: float) -> np.ndarray:
    """d_v^p / d_j^p; an isolated node has no degree, and counts as one of degree 1."""
    degree = degrees(adjacency)
    weights = np.where(degree > 0, degree, 1) ** power
    found: np.ndarray = weights[:, None] / weights[None, :]
    return found


def filled(adjacency: Any, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The matrix of which some entries of each row are known."""
    found = np.zeros(adjacency.shape)
    for node, (columns, row) in enumerate(zip(nodes, values, strict=True)):
        found[node, columns[row > 0]] = row[row > 0]
    return found


@given(teleport=st.floats(0.01, 0.95), time=st.floats(0.1, 200))
def test_coefficients_are_those_of_the_series(teleport: float, time: float) -> None:
    found = pagerank_coefficients(teleport)
    np.testing.assert_allclose(
        found, [teleport * (1 - teleport) ** k for k in range(len(found))], rtol=1e-9
    )
    assert found.sum() == pytest.approx(1, abs=2e-9)
    found = heat_coefficients(time)
    logs = [k * math.log(time) - time - math.lgamma(k + 1) for k in range(len(found))]
    np.testing.assert_allclose(found, np.exp(logs), rtol=1e-9)
    assert found.sum() == pytest.approx(1, abs=2e-9)
    assert 1 - math.fsum(found[:-1]) > 0.99e-9  # no more terms than needed


@given(seed=SEEDS, self_loops=LOOPS, kind=KINDS)
def test_with_all_neighbours_and_nothing_lost_it_is_the_dense_formula(
    seed: int, self_loops: float, kind: Kind
) -> None:
    graph = random_graph(seed)
    size = len(graph)
    found = diffusion(looped(graph, self_loops), coefficients_of(kind), size, tolerance=0.0)
    expected = exact(reference.normalised_adjacency(graph, self_loops), kind)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-5, atol=CLOSE)
    assert found.format == "csr"
    assert found.dtype == np.float32
    assert (found != found.T).nnz == 0
    assert (found.data > 0).all()


@given(seed=SEEDS, self_loops=LOOPS, kind=KINDS, neighbours=st.integers(1, 12))
def test_an_entry_is_kept_if_it_is_among_the_largest_of_its_row_or_its_column(
    seed: int, self_loops: float, kind: Kind, neighbours: int
) -> None:
    graph = random_graph(seed)
    given_matrix = looped(graph, self_loops)
    found = diffusion(given_matrix, coefficients_of(kind), neighbours, tolerance=0.0)
    assert found.dtype == np.float32
    assert (found != found.T).nnz == 0
    expected = exact(reference.normalised_adjacency(graph, self_loops), kind)
    kept = found.toarray() > 0
    last = np.sort(expected, axis=1)[:, -min(neighbours, len(graph))]
    least = np.minimum(last[:, None], last[None, :])
    np.testing.assert_allclose(found.toarray()[kept], expected[kept], rtol=1e-5, atol=CLOSE)
    assert (expected[kept] > least[kept] - CLOSE).all()
    assert (expected[~kept] < np.maximum(least[~kept], 0) + CLOSE).all()


@pytest.mark.parametrize("kind", [("pagerank", 0.2), ("heat", 5.0)])
@pytest.mark.parametrize("neighbours", [1, 5])
def test_entries_that_differ_enough_are_told_apart_one_by_one(neighbours: int, kind: Kind) -> None:
    graph = connected_graph(30, seed=4)
    expected = exact(reference.normalised_adjacency(graph), kind)
    ranked = -np.sort(-expected, axis=1)
    assert (ranked[:, neighbours - 1] - ranked[:, neighbours]).min() > 10 * CLOSE
    largest = np.zeros((30, 30), dtype=bool)
    for node in range(30):
        largest[node, sorted(range(30), key=lambda j: -expected[node, j])[:neighbours]] = True
    assert neighbours == 1 or (largest != largest.T).any()
    given_matrix = looped(graph, 1.0)
    found = diffusion(given_matrix, coefficients_of(kind), neighbours, tolerance=0.0).toarray()
    np.testing.assert_array_equal(found > 0, largest | largest.T)


@given(
    seed=SEEDS,
    self_loops=LOOPS,
    kind=KINDS,
    neighbours=st.integers(1, 12),
    power=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_nearest_come_in_order_with_their_values(
    seed: int, self_loops: float, kind: Kind, neighbours: int, power: float
) -> None:
    """All powers of degrees are about one matrix: W itself, the normalised one and A D^-1."""
    graph = random_graph(seed)
    size = len(graph)
    given_matrix = looped(graph, self_loops)
    nodes, values = top_k_diffusion(
        given_matrix, coefficients_of(kind), neighbours, power=power, tolerance=0.0
    )
    assert nodes.shape == values.shape == (size, min(neighbours, size))
    assert values.dtype == np.float32
    assert (np.diff(values, axis=1) <= 0).all()
    symmetric = exact(reference.normalised_adjacency(graph, self_loops), kind)
    expected = symmetric * ratios(given_matrix, power - 0.5)
    for node in range(size):
        there = values[node] > 0
        listed = nodes[node][there]
        assert len(set(listed)) == len(listed)
        np.testing.assert_allclose(values[node][there], expected[node, listed], rtol=1e-5)
        ranked = -np.sort(-expected[node])[: nodes.shape[1]]
        np.testing.assert_allclose(values[node], ranked, rtol=1e-5, atol=1e-5)


def test_some_nodes_have_the_rows_that_they_have_among_all() -> None:
    given_matrix, coefficients = looped(random_graph(3), 1.0), coefficients_of(("heat", 2.0))
    some = np.array([len(random_graph(3)) - 1, 0])
    nodes, values = top_k_diffusion(given_matrix, coefficients, 5)
    some_nodes, some_values = top_k_diffusion(given_matrix, coefficients, 5, sources=some)
    np.testing.assert_array_equal(some_nodes, nodes[some])
    np.testing.assert_array_equal(some_values, values[some])


def slow_walks(adjacency: Any, coefficients: np.ndarray, tolerance: float) -> np.ndarray:
    """f(W) with entries dropped after each step, as the module's docstring has it, node by node.

    The mean weight of an edge is the unit of d.
    """
    dense, degree = adjacency.toarray().astype(float), degrees(adjacency)
    walk = dense / np.where(degree > 0, degree, 1)[:, None]
    unit = np.median(dense[dense > 0]) if dense.any() else 1.0
    found: np.ndarray = np.zeros_like(dense)
    for node in range(len(dense)):
        current = np.eye(len(dense))[node]
        for k, coefficient in enumerate(coefficients):
            if k:
                current = current @ walk
                current[current * sum(coefficients[k:]) <= tolerance * degree / unit] = 0
            found[node] += coefficient * current
    return found


@given(seed=SEEDS, self_loops=LOOPS, kind=KINDS, tolerance=TOLERANCES)
def test_walks_equal_the_formula(
    seed: int, self_loops: float, kind: Kind, tolerance: float
) -> None:
    given_matrix, coefficients = looped(random_graph(seed), self_loops), coefficients_of(kind)
    found = filled(
        given_matrix,
        *top_k_diffusion(
            given_matrix, coefficients, given_matrix.shape[0], power=0.0, tolerance=tolerance
        ),
    )
    expected = slow_walks(given_matrix, coefficients, tolerance)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=CLOSE)


@given(seed=SEEDS, kind=KINDS, tolerance=TOLERANCES, power=st.sampled_from([0.0, 0.5, 1.0]))
def test_no_more_is_lost_in_a_step_than_the_accuracy_times_the_degree(
    seed: int, kind: Kind, tolerance: float, power: float
) -> None:
    graph = random_graph(seed)
    given_matrix, coefficients = looped(graph, 1.0), coefficients_of(kind)
    size = len(graph)
    found = filled(
        given_matrix,
        *top_k_diffusion(given_matrix, coefficients, size, power=power, tolerance=tolerance),
    )
    expected = exact(reference.normalised_adjacency(graph), kind) * ratios(
        given_matrix, power - 0.5
    )
    steps = len(coefficients) - 1
    unit = np.median(given_matrix.data)
    max_n = steps * tolerance / unit * degrees(given_matrix) * ratios(given_matrix, power)
    lost = expected - found
    assert (lost <= max_n + 1e-5).all()
    assert (lost >= -1e-5).all()


@given(
    seed=SEEDS,
    kind=KINDS,
    tolerance=st.sampled_from([1e-3, 1e-2, 0.1]),
    scale=st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_a_walk_goes_over_no_more_edges_than_its_accuracy_allows(
    seed: int, kind: Kind, tolerance: float, scale: float
) -> None:
    """However many there are; the unit of their weights does not matter."""
    graph = scale * connected_graph(40, seed)
    given_matrix, coefficients = looped(graph, 0.0), coefficients_of(kind)
    nodes, values = top_k_diffusion(given_matrix, coefficients, 40, tolerance=tolerance)
    tails = [sum(coefficients[k:]) for k in range(1, len(coefficients))]
    degree = degrees(given_matrix) / np.median(given_matrix.data)
    for node in range(40):
        others = nodes[node][(values[node] > 0) & (nodes[node] != node)]
        assert degree[others].sum() <= sum(tails) / tolerance * (1 + 1e-6)


def test_a_coarse_walk_does_not_reach_all_nodes() -> None:
    given_matrix, coefficients = looped(connected_graph(40), 0.0), coefficients_of(("heat", 5.0))
    counts = [
        (top_k_diffusion(given_matrix, coefficients, 40, tolerance=tolerance)[1] > 0).sum()
        for tolerance in (0.0, 1e-3, 1e-2, 0.1)
    ]
    assert counts[0] == 1600
    assert sorted(counts, reverse=True) == counts
    assert counts[-1] < 200


@pytest.mark.parametrize("kind", [("pagerank", 0.15), ("pagerank", 0.5), ("heat", 5.0)])
@pytest.mark.parametrize("neighbours", [3, 8, 100])
def test_the_fewer_neighbours_the_coarser_are_walks(neighbours: int, kind: Kind) -> None:
    """By default; the nodes found have nearly all of what the nearest have."""
    given_matrix, coefficients = looped(connected_graph(50), 1.0), coefficients_of(kind)
    tolerance = MODULE.TOLERANCE / neighbours
    found = top_k_diffusion(given_matrix, coefficients, neighbours)
    for one, other in zip(
        found,
        top_k_diffusion(given_matrix, coefficients, neighbours, tolerance=tolerance),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    whole = diffusion(given_matrix, coefficients, neighbours)
    again = diffusion(given_matrix, coefficients, neighbours, tolerance=tolerance)
    np.testing.assert_array_equal(whole.toarray(), again.toarray())
    expected = exact(reference.normalised_adjacency(connected_graph(50)), kind)
    best = -np.sort(-expected, axis=1)[:, :neighbours]
    has = np.take_along_axis(expected, found[0].astype(int), axis=1)[found[1] > 0]
    assert has.sum() > 0.99 * best.sum()


@pytest.mark.parametrize("block", [1, 3, 7, 40, 41, 1000])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given_matrix, coefficients = looped(connected_graph(41), 1.0), coefficients_of(("heat", 5.0))
    before = (
        diffusion(given_matrix, coefficients, 6),
        *top_k_diffusion(given_matrix, coefficients, 6),
    )
    monkeypatch.setattr(MODULE, "BLOCK", block)
    after = (
        diffusion(given_matrix, coefficients, 6),
        *top_k_diffusion(given_matrix, coefficients, 6),
    )
    np.testing.assert_allclose(after[0].toarray(), before[0].toarray(), rtol=1e-6)
    np.testing.assert_array_equal(after[1], before[1])
    np.testing.assert_allclose(after[2], before[2], rtol=1e-6)


@given(
    seed=SEEDS, self_loops=LOOPS, kind=KINDS, neighbours=st.integers(1, 40), tolerance=TOLERANCES
)
def test_nothing_goes_from_one_component_to_another(
    seed: int, self_loops: float, kind: Kind, neighbours: int, tolerance: float
) -> None:
    graph = random_graph(seed)
    given_matrix, coefficients = looped(graph, self_loops), coefficients_of(kind)
    _, labels = connected_components(sp.csr_array(graph), directed=False)
    found = diffusion(given_matrix, coefficients, neighbours, tolerance).tocoo()
    assert (labels[found.row] == labels[found.col]).all()
    nodes, values = top_k_diffusion(given_matrix, coefficients, neighbours, tolerance=tolerance)
    assert (values[labels[nodes] != labels[:, None]] == 0).all()


@pytest.mark.parametrize(
    ("kind", "self_loops", "stays"),
    [
        (("pagerank", 0.3), 0.0, 0.3),
        (("pagerank", 0.3), 1.0, 1.0),
        (("heat", 2.0), 0.0, np.exp(-2.0)),
        (("heat", 2.0), 2.0, 1.0),
    ],
)
@pytest.mark.parametrize("power", [0.5, 1.0])
def test_an_isolated_node_has_itself_alone(
    power: float, kind: Kind, self_loops: float, stays: float
) -> None:
    """It has all there is with a self-loop; without one what never left."""
    graph = np.zeros((5, 5))
    graph[1, 2] = graph[2, 1] = 5
    given_matrix, coefficients = looped(graph, self_loops), coefficients_of(kind)
    found = diffusion(given_matrix, coefficients, 4, tolerance=0.0).toarray()
    alone = [0, 3, 4]
    np.testing.assert_allclose(found[alone], stays * np.eye(5)[alone], atol=CLOSE)
    nodes, values = top_k_diffusion(given_matrix, coefficients, 4, power=power, tolerance=0.0)
    assert nodes[alone, 0].tolist() == alone
    np.testing.assert_allclose(values[alone, 0], stays, atol=CLOSE)
    assert (values[alone, 1:] == 0).all()
    assert (values[[1, 2], 2:] == 0).all()
    assert (values[[1, 2], :2] > 0).all()


@pytest.mark.parametrize("self_loops", [0.0, 1.0])
def test_without_edges_every_node_has_itself_alone(self_loops: float) -> None:
    given_matrix = looped(np.zeros((3, 3)), self_loops)
    found = diffusion(given_matrix, pagerank_coefficients(0.3), 2, tolerance=0.0).toarray()
    np.testing.assert_allclose(found, (1.0 if self_loops else 0.3) * np.eye(3), atol=CLOSE)


@pytest.mark.parametrize("kind", [("pagerank", 0.2), ("heat", 5.0)])
def test_more_neighbours_than_nodes_are_all_nodes(kind: Kind) -> None:
    given_matrix, coefficients = looped(connected_graph(12), 1.0), coefficients_of(kind)
    every, more = (
        diffusion(given_matrix, coefficients, count, tolerance=0.0) for count in (12, 1000)
    )
    np.testing.assert_array_equal(more.toarray(), every.toarray())
    nodes, values = top_k_diffusion(given_matrix, coefficients, 1000)
    assert nodes.shape == values.shape == (12, 12)
    assert (np.sort(nodes, axis=1) == np.arange(12)).all()


def test_nothing_as_large_as_all_pairs_of_nodes_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a byte for each."""
    monkeypatch.setattr(MODULE, "BLOCK", 32)
    nodes = np.arange(3000)
    ring = sp.csr_array((np.ones(3000), (nodes, np.roll(nodes, 1))), shape=(3000, 3000))
    given_matrix = with_self_loops(ring + ring.T, 1.0)
    tracemalloc.start()
    found = diffusion(given_matrix, pagerank_coefficients(0.3), 8)
    _, max_n = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert max_n < 3000 * 3000
    assert found.nnz <= 2 * 8 * 3000


def test_one_heavy_edge_does_not_make_walks_dense() -> None:
    nodes = np.arange(2000)
    rows, columns = (np.concatenate([nodes, nodes]), np.concatenate([nodes + 1, nodes * 7 + 3]))
    upper = sp.csr_array((np.ones(4000), (rows, columns % 2000)), shape=(2000, 2000))
    graph = sp.csr_array(upper + upper.T).tolil()
    graph[0, 1] = graph[1, 0] = 1e8
    columns, values = top_k_diffusion(
        sp.csr_array(graph), pagerank_coefficients(0.2), 2000, tolerance=1e-4
    )
    assert (values > 0).sum(axis=1).mean() < 400
    np.testing.assert_array_equal(columns[:2, 0], [0, 1])
