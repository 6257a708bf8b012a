from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from conftest import make_graph
from ugcl import Graph, UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.data import synthetic_graph
from ugcl.methods import METHODS, Shape
from ugcl.views import Reliability, auto_scaling, scale_features, split_half_reliability
from ugcl.views.reliability import RIDGE, canonical_agreement, debiased_cka, split_edges

SEEDS = st.integers(0, 1000)


def random_rows(size: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size, width)).astype(np.float32)


def slow_hsic(one: np.ndarray, two: np.ndarray) -> float:
    """Song et al. (2012), Equation 5: all pairs of nodes, kernels without their diagonals."""
    size = len(one)
    kernels = []
    for rows in (one.astype(float), two.astype(float)):
        kernel = rows @ rows.T
        np.fill_diagonal(kernel, 0)
        kernels.append(kernel)
    k, m = kernels
    ones = np.ones(size)
    total = np.trace(k @ m)
    total += (ones @ k @ ones) * (ones @ m @ ones) / ((size - 1) * (size - 2))
    total -= 2 / (size - 2) * (ones @ k @ m @ ones)
    return float(total / (size * (size - 3)))


def slow_cka(one: np.ndarray, two: np.ndarray) -> float:
    scale = np.sqrt(slow_hsic(one, one) * slow_hsic(two, two))
    return slow_hsic(one, two) / float(scale)


@given(size=st.integers(5, 25), widths=st.tuples(*[st.integers(1, 9)] * 2), seed=SEEDS)
def test_equals_the_formula_of_all_pairs(size: int, widths: tuple[int, int], seed: int) -> None:
    one, two = (random_rows(size, width, seed + i) for i, width in enumerate(widths))
    two[:, 0] += one[:, 0] + 3  # related, and not centred
    assert debiased_cka(one, two) == pytest.approx(slow_cka(one, two), rel=1e-4, abs=1e-5)


@given(scale=st.floats(1e-3, 1e3), seed=SEEDS)
def test_is_invariant_to_rotation_scale_and_shift(scale: float, seed: int) -> None:
    one, two = random_rows(40, 5, seed), random_rows(40, 3, seed + 1)
    two += one[:, :3]
    rotation, _ = np.linalg.qr(random_rows(5, 5, seed + 2).astype(float))
    moved = scale * one @ rotation + scale * random_rows(1, 5, seed + 3)
    expected = debiased_cka(one, two)
    assert debiased_cka(moved.astype(np.float32), two) == pytest.approx(expected, abs=1e-4)
    assert debiased_cka(two, one) == pytest.approx(expected, abs=1e-9)


@given(width=st.integers(1, 30), seed=SEEDS)
def test_identical_descriptions_have_1(width: int, seed: int) -> None:
    rows = random_rows(40, width, seed)
    assert debiased_cka(rows, rows) == pytest.approx(1)
    assert debiased_cka(rows, -2 * rows) == pytest.approx(1)


@pytest.mark.parametrize("width", [1, 10, 100, 1000])
def test_independent_noise_has_about_0_whatever_its_width(width: int) -> None:
    values = [
        debiased_cka(random_rows(100, width, seed), random_rows(100, width, seed + 1000))
        for seed in range(30)
    ]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(30) + 1e-3
    assert np.abs(values).max() < 0.2


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 1 / 3])
@pytest.mark.parametrize("size", [4, 100, 1001])
def test_constant_rows_have_0(value: float, size: int) -> None:
    """In double precision the mean of equal numbers of single precision is exact."""
    constant = np.full((size, 3), value, dtype=np.float32) * np.float32([1, 2, 7])
    assert debiased_cka(constant, constant) == 0
    assert debiased_cka(constant, random_rows(size, 3)) == 0


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_too_few_nodes_have_0(size: int) -> None:
    assert debiased_cka(random_rows(size, 2), random_rows(size, 2, 1)) == 0


# Canonical correlations.


def slow_agreement(one: np.ndarray, two: np.ndarray, parts: list[np.ndarray]) -> float:
    """The generalised eigenvalue problem of ridge CCA on one part, correlations on the other."""
    found = []
    for fitted, tested in (parts, parts[::-1]):
        x, y = (rows[fitted].astype(float) - rows[fitted].mean(axis=0) for rows in (one, two))
        within = [each.T @ each for each in (x, y)]
        within = [each + RIDGE * np.trace(each) / len(each) * np.eye(len(each)) for each in within]
        across = x.T @ y
        zeros = [np.zeros_like(each) for each in within]
        values, vectors = linalg.eigh(
            np.block([[zeros[0], across], [across.T, zeros[1]]]), linalg.block_diag(*within)
        )
        for vector in vectors[:, np.argsort(values)[::-1][: min(5, *across.shape)]].T:
            pair = one[tested] @ vector[: x.shape[1]], two[tested] @ vector[x.shape[1] :]
            found.append(np.corrcoef(*pair)[0, 1])
    return float(np.mean(found))


@given(size=st.integers(60, 90), widths=st.tuples(*[st.integers(1, 7)] * 2), seed=SEEDS)
def test_canonical_agreement_equals_the_eigenvalue_problem(
    size: int, widths: tuple[int, int], seed: int
) -> None:
    one, two = (random_rows(size, width, seed + i) for i, width in enumerate(widths))
    two[:, 0] += one[:, 0] + 3
    order = numpy_generator("reliability nodes", seed).permutation(size)
    parts = [order[: size // 2], order[size // 2 :]]
    expected = slow_agreement(one, two, parts)
    assert canonical_agreement(one, two, seed=seed) == pytest.approx(expected, abs=1e-5)


@given(scale=st.floats(1e-2, 1e2), seed=SEEDS)
def test_canonical_agreement_is_invariant_to_rotation_scale_and_shift(
    scale: float, seed: int
) -> None:
    one, two = random_rows(80, 5, seed), random_rows(80, 3, seed + 1)
    two += one[:, :3]
    rotation, _ = np.linalg.qr(random_rows(5, 5, seed + 2).astype(float))
    moved = (scale * (one @ rotation + random_rows(1, 5, seed + 3))).astype(np.float32)
    expected = canonical_agreement(one, two)
    assert canonical_agreement(moved, two) == pytest.approx(expected, abs=1e-3)


@given(width=st.integers(1, 20), seed=SEEDS)
def test_identical_descriptions_agree(width: int, seed: int) -> None:
    rows = random_rows(80, width, seed)
    assert canonical_agreement(rows, rows) == pytest.approx(1, abs=1e-5)
    assert canonical_agreement(rows, -2 * rows) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("width", [1, 10, 100])
def test_independent_noise_does_not_agree_whatever_its_width(width: int) -> None:
    values = [
        canonical_agreement(random_rows(300, width, seed), random_rows(300, width, seed + 1000))
        for seed in range(30)
    ]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(30) + 1e-3
    assert np.abs(values).max() < 0.25


def test_a_signal_in_few_of_many_columns_is_found_where_cka_is_near_0() -> None:
    signal = random_rows(2000, 3)
    one, two = (0.5 * random_rows(2000, 100, seed) for seed in (1, 2))
    for rows in (one, two):
        rows[:, :3] += 0.5 * signal
    assert debiased_cka(one, two) < 0.05
    assert canonical_agreement(one, two) > 0.2


@pytest.mark.parametrize("size", [0, 1, 2, 3, 30])
def test_constant_rows_and_too_few_nodes_do_not_agree(size: int) -> None:
    rows, constant = random_rows(size, 2), np.full((size, 3), 0.1, dtype=np.float32)
    assert canonical_agreement(constant, rows) == 0
    if size < 4:
        assert canonical_agreement(rows, rows) == 0


# Halves of the edges.


@given(size=st.integers(2, 40), seed=SEEDS, weighted=st.booleans())
def test_halves_partition_the_undirected_edges(size: int, seed: int, weighted: bool) -> None:
    adjacency = make_graph(size, seed=seed % 7).adjacency
    if weighted:
        scale = sp.diags_array(np.linspace(0.2, 3, size))
        adjacency = sp.csr_array(scale @ adjacency @ scale)
    halves = split_edges(adjacency, np.random.default_rng(seed))
    one, two = (half.toarray() for half in halves)
    np.testing.assert_array_equal(one + two, adjacency.toarray())
    assert not ((one > 0) & (two > 0)).any()
    for half in (one, two):
        np.testing.assert_array_equal(half, half.T)
    assert all(half.nnz == np.count_nonzero(half.toarray()) for half in halves)


def test_halves_are_about_equal_and_random() -> None:
    adjacency = make_graph(200).adjacency
    halves = [split_edges(adjacency, np.random.default_rng(seed))[0] for seed in (0, 0, 1)]
    edges = adjacency.nnz / 2
    for half in halves:
        assert abs(half.nnz / 2 - edges / 2) < 4 * np.sqrt(edges / 4)
    assert (halves[0] != halves[1]).nnz == 0
    assert (halves[0] != halves[2]).nnz > 0


# The reliability of the sources.


def test_weights_are_square_roots_and_the_largest_is_1() -> None:
    assert Reliability(0.04, 0.16, 0.0).weights() == pytest.approx((0.5, 1, 0))
    assert Reliability(0.04, 0.16, 0.0).weights(2000) == pytest.approx((0.5, 1, 0.25))
    assert Reliability(0.3, 0.3, 0.3).weights() == (1, 1, 1)
    assert Reliability(0.0, 0.0, 0.0).weights() == (1, 1, 1)


@given(values=st.tuples(*[st.floats(0, 1)] * 3))
def test_weights_keep_the_order(values: tuple[float, float, float]) -> None:
    weights = Reliability(*values).weights()
    assert max(weights) == 1
    assert min(weights) >= 0
    for one, other in ((0, 1), (1, 2), (0, 2)):
        if values[one] < values[other]:
            assert weights[one] <= weights[other]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "most", "least"),
    [
        ("features-only", "features", None),
        ("structure-only", "structure", None),
        ("heterophilous", None, "structure"),
        ("homophilous", None, "features"),
        ("noise-features", "structure", "features"),
        ("hub-dominated", "structure", "features"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_source_with_the_signal_is_the_most_reliable(
    family: str, most: str | None, least: str | None, seed: int
) -> None:
    graph = synthetic_graph(family, nodes=1500, seed=seed)
    features = scale_features(graph.features, "standard")
    values = split_half_reliability(graph.adjacency, features, seed)._asdict()
    assert min(values.values()) >= 0
    if most is not None:
        assert max(values, key=values.__getitem__) == most
    if least is not None:
        assert min(values, key=values.__getitem__) == least
    if family.endswith("-only"):  # the other sources are noise
        ordered = sorted(values.values())
        assert ordered[1] < 0.1 * ordered[2]


def test_without_structure_the_others_stay_the_same() -> None:
    graph = make_graph(80)
    both = [
        split_half_reliability(graph.adjacency, graph.features, 1, structure=structure)
        for structure in (True, False)
    ]
    assert both[0][:2] == both[1][:2]
    assert both[1].structure == 0


def test_one_seed_gives_one_result_and_two_seeds_two() -> None:
    graph = make_graph(80)
    one, again, other = (
        split_half_reliability(graph.adjacency, graph.features, seed) for seed in (1, 1, 2)
    )
    assert one == again != other


def test_sparse_and_dense_features_are_the_same() -> None:
    sparse, full = (make_graph(80, 30, sparse=sparse) for sparse in (True, False))
    one, other = (split_half_reliability(each.adjacency, each.features) for each in (sparse, full))
    assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize(
    ("edges", "features"),
    [
        ([[0, 1]], np.eye(2)),
        ([[0, 1]], np.ones((2, 1))),
        ([[0, 1], [1, 2]], np.eye(3)),
        ([[0, 1], [2, 3]], np.eye(5)),
        ([[2 * i, 2 * i + 1] for i in range(20)], np.random.default_rng(0).random((40, 6))),
        ([[0, i] for i in range(1, 30)], np.random.default_rng(0).random((30, 6))),
        ([[i, (i + 1) % 30] for i in range(30)], np.ones((30, 1))),
        ([[i, (i + 1) % 30] for i in range(30)], np.zeros((30, 3))),
        ([[i, (i + 1) % 30] for i in range(30)], np.ones((30, 3))),
        ([[i, j] for i in range(12) for j in range(i)], np.eye(12)),
    ],
    ids=[
        *("two nodes", "two equal nodes", "three nodes", "isolated node", "matching", "star"),
        *("one feature", "no features", "equal rows", "complete"),
    ],
)
def test_tiny_and_degenerate_graphs_are_measured(edges: list[list[int]], features: object) -> None:
    graph = Graph.from_edges(edges, features)
    for x in (graph.features, sp.csr_array(graph.features)):
        values = split_half_reliability(graph.adjacency, x)
        assert np.isfinite(values).all()
        assert min(values) >= 0
        assert max(values) <= 1 + 1e-6
        assert max(values.weights()) == 1


def test_a_graph_without_edges_is_measured() -> None:
    empty = sp.csr_array((40, 40), dtype=np.float32)
    values = split_half_reliability(empty, random_rows(40, 4))
    assert np.isfinite(values).all()


def test_edges_that_cannot_be_divided_count_as_much_as_features() -> None:
    """In a matching no node has edges in both halves: nothing is known about its edges."""
    features = random_rows(40, 2).repeat(4, axis=1)  # both halves say the same
    matching = Graph.from_edges([[2 * i, 2 * i + 1] for i in range(20)], features)
    values = split_half_reliability(matching.adjacency, matching.features)
    assert values.features > 0.5
    assert values.weights() == (1, 1, 1)


def test_a_single_feature_cannot_be_divided_and_counts_as_much_as_neighbourhoods() -> None:
    graph = make_graph(300, seed=1)
    values = split_half_reliability(
        graph.adjacency, np.asarray(graph.features.sum(axis=1))[:, None]
    )
    assert values.features == values.neighbourhoods


@pytest.mark.parametrize("width", [2, 3, 9, 30])
def test_a_class_in_every_column_is_reliable_whatever_their_number(width: int) -> None:
    """Also non-negative ones, whose single columns have no direction; as many correlations as in
    the neighbourhoods are compared."""
    graph = make_graph(400, seed=1)
    assert graph.labels is not None
    signal = (graph.labels == 0)[:, None] + 0.3 * np.abs(random_rows(400, width))
    assert split_half_reliability(graph.adjacency, signal.astype(np.float32)).features > 0.05


def test_constant_features_are_not_reliable() -> None:
    graph = make_graph(60)
    features = np.tile(np.float32([0.1, 0.7, 0.3, 0.2]), (60, 1))
    assert split_half_reliability(graph.adjacency, features).features == pytest.approx(0, abs=1e-6)


def test_no_matrix_of_all_pairs_is_stored() -> None:
    size = 6000
    nodes = np.arange(size)
    ends = np.concatenate([np.stack([nodes, (nodes + by) % size], axis=1) for by in (1, 2, 5)])
    graph = Graph.from_edges(ends, random_rows(size, 20))
    tracemalloc.start()
    split_half_reliability(graph.adjacency, graph.features, structure=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * size**2 / 8


# The automatic choice of the feature scaling.


def score(graph: Graph, scaling: str, seed: int = 0) -> float:
    features = scale_features(graph.features, scaling)
    values = split_half_reliability(graph.adjacency, features, seed, structure=False, measure="cka")
    return sum(values)


def in_unlike_units(size: int = 300) -> Graph:
    """Features with a signal in every column, but a few columns of noise dominate all rows."""
    graph = make_graph(size, 40, sparse=False)
    features = graph.features - 0.4
    features[:, :4] = 1000 * random_rows(size, 4)
    return replace(graph, features=features)


def of_unlike_lengths(size: int = 300) -> Graph:
    """Features whose directions have the signal; lengths of rows are noise."""
    graph = make_graph(size, 40, sparse=False)
    lengths = 10.0 ** (2 * random_rows(size, 1))
    return replace(graph, features=(graph.features - 0.4) * lengths.astype(np.float32))


@pytest.mark.parametrize(
    ("graph", "expected"),
    [(in_unlike_units(), "standard"), (of_unlike_lengths(), "l2")],
    ids=["unlike units", "unlike lengths"],
)
def test_the_scaling_with_the_more_reliable_features_is_chosen(graph: Graph, expected: str) -> None:
    assert auto_scaling(graph.adjacency, graph.features) == expected
    scores = {scaling: score(graph, scaling) for scaling in ("l2", "standard")}
    assert scores.pop(expected) > 1.05 * max(scores.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sparse", [True, False])
def test_counts_are_scaled_by_tfidf_or_to_norm_1(sparse: bool, seed: int) -> None:
    graph = make_graph(80, 30, sparse=sparse, seed=seed)
    chosen = auto_scaling(graph.adjacency, graph.features, seed)
    other = {"tfidf": "l2", "l2": "tfidf"}[chosen]
    assert score(graph, chosen, seed) >= score(graph, other, seed)


def test_where_nothing_is_measured_the_features_decide() -> None:
    """Zeros, a single feature, two nodes: TF-IDF for counts, else standardised."""
    ring = [[i, (i + 1) % 30] for i in range(30)]
    cases = [
        (ring, np.zeros((30, 3)), "tfidf"),
        (ring, -np.ones((30, 3)), "standard"),
        ([[0, 1]], np.eye(2), "tfidf"),
        ([[0, 1]], -np.eye(2), "standard"),
    ]
    for edges, features, expected in cases:
        graph = Graph.from_edges(edges, features)
        assert auto_scaling(graph.adjacency, graph.features) == expected


@pytest.mark.parametrize("name", ["ugcl", "multiscope", "raw", "smooth", "mlp"])
def test_settings_with_an_unresolved_scaling_are_an_error(name: str) -> None:
    graph, method = make_graph(12), METHODS[name]
    settings = method.resolve("fast", graph, {}).replace(feature_scaling="auto")
    if "scope" in settings.values():
        settings = settings.replace(scope=1)
    with pytest.raises(UGCLError, match=r"^the feature scaling 'auto' is not resolved yet: "):
        method.new_model(Shape.of(graph), settings, 0)
