from __future__ import annotations

import tracemalloc
from collections import Counter, deque
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ugcl import Graph
from ugcl._utils.errors import UGCLError
from ugcl.data import DATASETS, sbm_graph
from ugcl.graph.validation import UNLABELLED
from ugcl.scope import (
    ContextualHomophily,
    average_degree,
    contextual_homophily,
    edge_homophily,
    lower_bounds,
    sparsity,
)
from ugcl.views import sample_nodes

REAL = [name for name in DATASETS if name != "ogbn-arxiv"]


def random_graph(seed: int, size: int, degree: float, classes: int = 3) -> tuple:
    """Adjacency and labels; about a fifth of the nodes isolated and a fifth without a label."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) < degree / size, k=1)
    alone = rng.random(size) < 0.2
    upper[alone] = upper[:, alone] = False
    labels = np.where(rng.random(size) < 0.2, UNLABELLED, 2 * rng.integers(classes, size=size))
    labels[rng.integers(size)] = 0
    return sp.csr_array((upper | upper.T).astype(np.float32)), labels


def scopes(adjacency: sp.csr_array, source: int, max_n: int) -> list[list[int]]:
    """The nodes at a distance of 1 to n, for n = 1 to `most`, by a queue."""
    distance = {source: 0}
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for other in adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return [[v for v, far in distance.items() if 1 <= far <= n] for n in range(1, max_n + 1)]


def slow_rates(
    adjacency: sp.csr_array, labels: np.ndarray, max_n: int, sources: np.ndarray
) -> tuple:
    """Definition 1 and homophily dominance, a node at a time."""
    rates = np.full((max_n, len(sources)), np.nan)
    plurality = np.zeros((max_n, len(sources)), dtype=bool)
    for column, source in enumerate(sources):
        for row, scope in enumerate(scopes(adjacency, source, max_n)):
            classes = Counter(labels[node] for node in scope if labels[node] != UNLABELLED)
            own = classes.pop(labels[source], 0)
            if own or classes:
                rates[row, column] = own / (own + classes.total())
                plurality[row, column] = own > max(classes.values(), default=0)
    return rates, plurality


def check(adjacency: sp.csr_array, labels: np.ndarray, max_n: int, **optional: object) -> None:
    result = contextual_homophily(adjacency, labels, max_n, **optional)
    rates, plurality = slow_rates(adjacency, labels, max_n, result.sources)
    np.testing.assert_array_equal(result.rates, rates)
    np.testing.assert_array_equal(result.plurality, plurality)


@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 100),
    degree=st.floats(0.2, 6),
    max_n=st.integers(1, 12),
)
@example(seed=0, size=1, degree=1, max_n=3)
def test_rates_are_those_of_definition_1(seed: int, size: int, degree: float, max_n: int) -> None:
    check(*random_graph(seed, size, degree), max_n)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), gather=st.sampled_from([8, 300, 10**6]))
def test_rates_do_not_depend_on_blocks(seed: int, gather: int) -> None:
    """Three blocks of 64 sources, and hops in several pieces, down to a row at a time."""
    with (
        patch("ugcl.scope.homophily.MAX_WORDS", 1),
        patch("ugcl.scope.homophily.GATHER_BYTES", gather),
        patch("ugcl.scope.homophily.MAX_BYTE", 20),
    ):
        adjacency, labels = random_graph(seed, 230, 2.5)
        assert (labels != UNLABELLED).sum() > 128
        check(adjacency, labels, 8)


def test_a_class_of_more_nodes_than_a_byte_counts() -> None:
    """In a star everybody reaches everybody in two hops: 1,100 of one class, 300 of another."""
    size = 1400
    star = sp.lil_array((size, size))
    star[0, 1:] = star[1:, 0] = 1
    labels = np.where(np.arange(size) < 1100, 7, 3)
    result = contextual_homophily(star.tocsr(), labels, 3)
    expected = np.where(labels == 7, 1099, 299) / (size - 1)
    np.testing.assert_array_equal(result.rates[0], [expected[0], *(labels[1:] == 7)])
    np.testing.assert_array_equal(result.rates[1:], [expected] * 2)
    np.testing.assert_array_equal(result.plurality[1:], [labels == 7] * 2)


def test_rates_of_a_path() -> None:
    """0 - 1 - 2 - 3 - 4 with classes a a b a ?, and 5 alone: counted by hand."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
    graph = Graph.from_edges(edges, np.ones((6, 1)), labels=np.array([0, 0, 1, 0, -1, 0]))
    result = contextual_homophily(graph.adjacency, graph.labels, 4)
    none = np.nan
    np.testing.assert_array_equal(result.sources, [0, 1, 2, 3, 5])
    np.testing.assert_allclose(
        result.rates,
        [
            [1, 1 / 2, 0, 0, none],
            [1 / 2, 2 / 3, 0, 1 / 2, none],
            [2 / 3, 2 / 3, 0, 2 / 3, none],
            [2 / 3, 2 / 3, 0, 2 / 3, none],
        ],
    )
    np.testing.assert_allclose(result.mean(), [3 / 8, 5 / 12, 1 / 2, 1 / 2])
    np.testing.assert_allclose(result.dominant(), [1 / 4, 1 / 4, 3 / 4, 3 / 4])
    np.testing.assert_allclose(result.strongly_dominant(), [1 / 4, 1 / 4, 3 / 4, 3 / 4])
    np.testing.assert_array_equal(result.interval(), np.stack([result.mean()] * 2, axis=1))


def test_dominance_needs_the_plurality_and_strong_dominance_the_majority() -> None:
    """The own class has 2 of 5 against 1, 1, 1: dominant, not strongly."""
    edges = [(0, node) for node in range(1, 6)]
    graph = Graph.from_edges(edges, np.ones((6, 1)), labels=np.array([0, 0, 0, 1, 2, 3]))
    result = contextual_homophily(graph.adjacency, graph.labels, 1)
    assert result.dominant() == pytest.approx([3 / 6])
    assert result.strongly_dominant() == pytest.approx([2 / 6])


def test_nobody_in_scope_of_anybody() -> None:
    empty = sp.csr_array((3, 3))
    result = contextual_homophily(empty, np.array([0, 1, 0]), 2, sample=2)
    assert result.rates.shape == (2, 2)
    for values in (result.mean(), result.interval(), result.dominant(), result.strongly_dominant()):
        assert np.isnan(values).all()


def small_world() -> Graph:
    return sbm_graph(nodes=800, degree=3, classes=4, features=2, homophily=0.7, seed=3)


def test_a_sample_has_the_rates_of_its_nodes() -> None:
    graph = small_world()
    all_nodes = contextual_homophily(graph.adjacency, graph.labels, 5)
    drawn = contextual_homophily(graph.adjacency, graph.labels, 5, sample=100, seed=4)
    assert (drawn.sources.size, drawn.population) == (100, 800)
    assert (np.diff(drawn.sources) > 0).all()
    np.testing.assert_array_equal(drawn.rates, all_nodes.rates[:, drawn.sources])
    np.testing.assert_array_equal(drawn.plurality, all_nodes.plurality[:, drawn.sources])
    again = contextual_homophily(graph.adjacency, graph.labels, 1, sample=100, seed=4)
    other = contextual_homophily(graph.adjacency, graph.labels, 1, sample=100, seed=5)
    np.testing.assert_array_equal(again.sources, drawn.sources)
    assert not np.array_equal(other.sources, drawn.sources)


def test_small_graphs_are_counted_as_a_whole_and_large_ones_sampled() -> None:
    graph = small_world()
    arguments = (graph.adjacency, np.where(np.arange(800) < 100, UNLABELLED, graph.labels), 1)
    assert contextual_homophily(*arguments).sources.size == 700
    assert contextual_homophily(*arguments, sample=750).sources.size == 700
    with (
        patch("ugcl.scope.homophily.MAX_EXACT_NODES", 799),
        patch("ugcl.scope.homophily.SAMPLE_SIZE", 50),
    ):
        sampled = contextual_homophily(*arguments)
        assert (sampled.sources.size, sampled.sources.min() >= 100) == (50, True)
        assert contextual_homophily(*arguments, sample="all").sources.size == 700
    with (
        patch("ugcl.scope.homophily.MAX_EXACT_NODES", 800),
        patch("ugcl.scope.homophily.SAMPLE_SIZE", 50),
    ):
        assert contextual_homophily(*arguments).sources.size == 700


@pytest.mark.parametrize("size", [40, 400])
def test_the_interval_covers_the_exact_mean_19_times_out_of_20(size: int) -> None:
    """1,500 samples of a twentieth and of half of the nodes; chance moves coverage by 0.6 points.

    Half of the nodes tell the interval from one that forgets how few were left out: it would cover
    the mean in 99.4 %.
    """
    graph = small_world()
    truth = contextual_homophily(graph.adjacency, graph.labels, 4)
    covered = np.zeros(4)
    for seed in range(1500):
        chosen = np.random.default_rng(seed).choice(800, size, replace=False)
        part = ContextualHomophily(chosen, truth.rates[:, chosen], truth.plurality[:, chosen], 800)
        low, high = part.interval().T
        covered += (low <= truth.mean()) & (truth.mean() <= high)
    assert (covered / 1500 > 0.925).all()
    assert (covered / 1500 < 0.975).all()


def test_the_interval_of_a_drawn_sample_covers_the_exact_mean() -> None:
    """The draw itself is fair: 200 samples, coverage within five standard errors of 95 %."""
    graph = small_world()
    truth = contextual_homophily(graph.adjacency, graph.labels, 3).mean()
    covered = np.zeros(3)
    for seed in range(200):
        part = contextual_homophily(graph.adjacency, graph.labels, 3, sample=60, seed=seed)
        low, high = part.interval().T
        covered += (low <= truth) & (truth <= high)
    assert (covered / 200 > 0.95 - 5 * np.sqrt(0.05 * 0.95 / 200)).all()


def test_one_sampled_rate_has_no_known_error() -> None:
    result = contextual_homophily(sp.csr_array(1.0 - np.eye(3)), np.zeros(3, int), 1, sample=1)
    assert result.mean() == [1]
    assert np.isnan(result.interval()).all()


def test_progress_is_told() -> None:
    graph = small_world()
    told = []
    with patch("ugcl.scope.homophily.MAX_WORDS", 2):
        contextual_homophily(
            graph.adjacency, graph.labels, 1, sample=300, progress=lambda *done: told.append(done)
        )
    assert told == [(128, 300), (256, 300), (300, 300)]


def test_neighbours_are_fetched_a_few_at_a_time() -> None:
    """200,000 neighbours' bits for 2,048 sources would take 51 MB, those of all nodes 1.3 MB."""
    graph = sbm_graph(nodes=5000, degree=40, classes=4, features=2)
    tracemalloc.start()
    contextual_homophily(graph.adjacency, graph.labels, 2, sample=2048)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize(
    ("labels", "optional", "told"),
    [
        (np.zeros(2, int), {}, "there are 3 nodes but the labels have the shape"),
        (None, {}, "labels is None"),
        (np.full(3, UNLABELLED), {}, "all nodes are unlabelled"),
        (np.zeros(3, int), {"max_n": 0}, "max_n must be at least 1, not 0"),
        (np.zeros(3, int), {"sample": 0}, "`sample` must be at least 1 or 'all', not 0"),
    ],
)
def test_bad_input(labels: object, optional: dict[str, int], told: str) -> None:
    with pytest.raises(UGCLError, match=told):
        contextual_homophily(sp.csr_array(1.0 - np.eye(3)), labels, **optional)


@given(seed=st.integers(0, 10**6), size=st.integers(1, 40))
def test_edge_homophily_counts_edges(seed: int, size: int) -> None:
    adjacency, labels = random_graph(seed, size, 2)
    same = [
        labels[a] == labels[b]
        for a, b in np.argwhere(np.triu(adjacency.toarray(), k=1))
        if UNLABELLED not in (labels[a], labels[b])
    ]
    expected = pytest.approx(sum(same) / len(same)) if same else None
    assert edge_homophily(adjacency, labels) == expected
    looped = (adjacency + sp.eye_array(size)).tocsr()
    assert edge_homophily(looped, labels) == expected
    adjacency.data[:] = np.random.default_rng(seed).random(adjacency.nnz)
    assert edge_homophily(adjacency, labels) == expected


def test_edge_homophily_without_labelled_edges() -> None:
    adjacency = sp.csr_array(1.0 - np.eye(2))
    assert edge_homophily(adjacency, np.array([0, UNLABELLED])) is None
    assert edge_homophily(sp.csr_array((2, 2)), np.array([0, 0])) is None


def test_measured_rates_of_cora(real_graph: Callable[[str], Graph]) -> None:
    graph = real_graph("cora")
    check(graph.adjacency, graph.labels, 6, sample=150)


def test_photo_lies_below_the_bound(real_graph: Callable[[str], Graph]) -> None:
    graph = real_graph("amazon-photo")
    measured = contextual_homophily(graph.adjacency, graph.labels, 3).mean()
    homophily = edge_homophily(graph.adjacency, graph.labels)
    bounds = lower_bounds(homophily, average_degree(graph.adjacency), 3)
    np.testing.assert_allclose(measured, [0.8493, 0.6589, 0.4463], atol=5e-5)
    np.testing.assert_allclose(bounds, [0.8272, 0.6888, 0.5700], atol=5e-5)
    assert (measured[1:] < bounds[1:]).all()


def pair_errors(adjacency: sp.csr_array, values: np.ndarray, fraction: float) -> float:
    """Standard deviation of `sum values_uv / 2` over the entries uv among S = pN random nodes.

    With x_v whether v is drawn, x_u x_v = p^2 + p (x_u - p) + p (x_v - p) + (x_u - p)(x_v - p).
    The linear terms sum to p c_v (x_v - p) with c_v the row sums, of which the mean drops out
    since S is fixed; the others are nearly uncorrelated:

        SD^2 = p^3 (1 - p) sum_v (c_v - mean c)^2 + p^2 (1 - p)^2 sum_uv values_uv^2 / 2.
    """
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    sums = np.bincount(rows, values, adjacency.shape[0])
    linear = fraction**3 * (1 - fraction) * ((sums - sums.mean()) ** 2).sum()
    return float(np.sqrt(linear + fraction**2 * (1 - fraction) ** 2 * (values**2).sum() / 2))


@pytest.mark.parametrize("name", REAL)
def test_proposition_1(name: str, real_graph: Callable[[str], Graph]) -> None:
    """Half of the nodes have the sparsity and the homophily of all, but half of the degree.

    Deviations are measured in standard errors of the draw, so that a bias would show, and errors
    that are overestimated as well.
    """
    graph = real_graph(name)
    adjacency, labels = graph.adjacency, graph.labels
    sparse, homophily = sparsity(adjacency), edge_homophily(adjacency, labels)
    size = graph.num_nodes // 2
    fraction = size / graph.num_nodes
    expected_edges = fraction * (size - 1) / (graph.num_nodes - 1) * graph.num_edges
    same = labels[np.repeat(np.arange(graph.num_nodes), np.diff(adjacency.indptr))]
    excess = (same == labels[adjacency.indices]) - homophily
    error_sparsity = pair_errors(adjacency, np.ones(adjacency.nnz), fraction) / expected_edges
    error_homophily = pair_errors(adjacency, excess, fraction) / expected_edges
    assert error_sparsity < 0.06
    assert error_homophily < 0.02
    deviations = []
    for seed in range(40):
        nodes = sample_nodes(adjacency, size, "random", np.random.default_rng(seed))
        part = adjacency[nodes][:, nodes]
        deviations.append(
            [
                (sparsity(part) / sparse - 1) / error_sparsity,
                (edge_homophily(part, labels[nodes]) - homophily) / error_homophily,
            ]
        )
        halved = average_degree(part) / (average_degree(adjacency) * fraction)
        assert halved == pytest.approx(1, abs=5 * error_sparsity)
    assert np.abs(deviations).max() < 4.5
    assert np.abs(np.mean(deviations, axis=0)).max() < 4 / np.sqrt(40)
    spread = np.std(deviations, axis=0)
    assert spread.min() > 0.6
    assert spread.max() < 1.5
