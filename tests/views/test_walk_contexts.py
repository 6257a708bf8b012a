from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph
from ugcl.sparse import SparseMatrix
from ugcl.views import Sample, WalkContexts, Walker, rows_view
from view_helpers import dense_features, graph_of

EDGES = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [5, 6]]
WEIGHTS = [1.0, 3.0, 0.5, 2.0, 0.25, 1.5]
"""Two components of five and two nodes; node 7 has no edges."""


def adjacency_of(weights: list[float] | None = None) -> Any:
    return Graph.from_edges(EDGES, np.eye(8), weights=weights).adjacency


def bound(graph: Graph, **params: Any) -> WalkContexts:
    values = {"size": 20, "scope": 2, "mask_features": 0.0, "self_loops": 1.0}
    return WalkContexts(**values | params).bind(graph.adjacency, graph.features)


def nodes_of(sample: Sample) -> list[np.ndarray]:
    assert sample.nodes is not None
    return [nodes.numpy() for nodes in sample.nodes]


def dense_rows_of(features: SparseMatrix | torch.Tensor | None) -> np.ndarray:
    assert features is not None
    full = features.matrix.to_dense() if isinstance(features, SparseMatrix) else features
    rows: np.ndarray = full.double().numpy()
    return rows


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("scope", [0, 1, 2, 5])
def test_ends_have_the_probabilities_of_a_power(scope: int, weights: list[float] | None) -> None:
    """Counts against `(D^-1 A)^n`, in units of their standard deviation."""
    adjacency, count = adjacency_of(weights), 20_000
    dense = adjacency.toarray().astype(float)
    dense[7, 7] = 1  # a walk from a node without edges stays
    expected = np.linalg.matrix_power(dense / dense.sum(axis=1, keepdims=True), scope)
    nodes = np.repeat(np.arange(8), count)
    ends = Walker(adjacency).ends(nodes, scope, np.random.default_rng(0)).reshape(8, count)
    seen = np.stack([np.bincount(row, minlength=8) for row in ends]) / count
    deviation = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(seen - expected) <= 4.5 * deviation + 1e-9).all()


def test_ends_of_steps_are_neighbours_and_do_not_change_the_nodes() -> None:
    graph = make_graph(60)
    nodes = np.random.default_rng(1).integers(0, 60, 500)
    before = nodes.copy()
    ends = Walker(graph.adjacency).ends(nodes, 1, np.random.default_rng(0))
    np.testing.assert_array_equal(nodes, before)
    moved = np.diff(graph.adjacency.indptr)[nodes] > 0
    assert (graph.adjacency.toarray()[nodes, ends] > 0)[moved].all()
    np.testing.assert_array_equal(ends[~moved], nodes[~moved])


def test_no_nodes_and_no_edges_are_walked_from() -> None:
    rng, none = np.random.default_rng(0), np.array([], dtype=np.int64)
    assert Walker(adjacency_of()).ends(none, 3, rng).size == 0
    empty = sp.csr_array((4, 4), dtype=np.float32)
    np.testing.assert_array_equal(Walker(empty).ends(np.arange(4), 3, rng), np.arange(4))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("size", [1, 20, 30, "all"])
def test_views_have_the_rows_of_nodes_and_of_their_contexts(size: int | str, sparse: bool) -> None:
    graph = graph_of(sparse)
    sample = bound(graph, size=size).sample(np.random.default_rng(0))
    anchors, contexts = nodes_of(sample)
    assert len(set(anchors.tolist())) == len(anchors) == (30 if size == "all" else size)
    for view, nodes in zip(sample.views, (anchors, contexts), strict=True):
        assert isinstance(view.features, SparseMatrix) == sparse
        np.testing.assert_array_equal(
            dense_rows_of(view.features), dense_features(graph)[nodes].astype(np.float32)
        )
        assert view.feature_mask is None
        assert view.adjacency.matrix.shape == (len(anchors), len(anchors))
        assert dense_rows_of(view.adjacency).max() == 0


def test_all_nodes_are_sampled_equally_often() -> None:
    views, rng = bound(make_graph(40), size=10), np.random.default_rng(0)
    counts = np.bincount(
        np.concatenate([nodes_of(views.sample(rng))[0] for _ in range(2000)]), minlength=40
    )
    assert np.abs(counts / 2000 - 0.25).max() < 4.5 * np.sqrt(0.25 * 0.75 / 2000)


@given(seed=st.integers(0, 1000), scope=st.integers(0, 6), mask=st.sampled_from([0.0, 0.4]))
def test_a_sample_is_a_function_of_the_generator_alone(seed: int, scope: int, mask: float) -> None:
    views = bound(make_graph(40), scope=scope, mask_features=mask)
    views.sample(np.random.default_rng(seed + 1))  # leaves nothing behind
    other = bound(make_graph(40), scope=scope, mask_features=mask)
    one, two = (each.sample(np.random.default_rng(seed)) for each in (views, other))
    for mine, theirs in zip(nodes_of(one), nodes_of(two), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(one.views, two.views, strict=True):
        np.testing.assert_array_equal(dense_rows_of(mine.features), dense_rows_of(theirs.features))


def test_two_generators_give_two_samples() -> None:
    views = bound(make_graph(60), size="all")
    one, two = (nodes_of(views.sample(np.random.default_rng(seed)))[1] for seed in (0, 1))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_masks_drop_their_fraction_of_entries_and_keep_the_mean(
    fraction: float, sparse: bool
) -> None:
    density = 0.1 if sparse else 1.0
    x = np.random.default_rng(1).random((60, 300))
    x[np.random.default_rng(2).random(x.shape) >= density] = 0
    features = sp.csr_array(x.astype(np.float32)) if sparse else x.astype(np.float32)
    views = WalkContexts(size="all", scope=0, mask_features=fraction, self_loops=1.0)
    views = views.bind(make_graph(60).adjacency, features)
    before = features.copy()
    sample = views.sample(np.random.default_rng(0))
    assert abs(before - features).sum() == 0  # X itself is not masked
    dropped = []
    for view, nodes in zip(sample.views, nodes_of(sample), strict=True):
        assert isinstance(view.features, SparseMatrix) == sparse
        assert view.feature_mask is None
        rows, full = dense_rows_of(view.features), x[nodes]
        kept = rows != 0
        if isinstance(view.features, SparseMatrix):  # masked entries are not stored
            assert view.features.matrix.values().numel() == kept.sum()
        np.testing.assert_allclose(rows[kept], full[kept] / (1 - fraction), rtol=1e-5)
        gone = ~kept[full != 0]
        error = np.sqrt(fraction * (1 - fraction) / gone.size)
        assert abs(gone.mean() - fraction) < 4.5 * error
        for axis in (0, 1):  # neither whole rows nor whole columns
            rates = (~kept & (full != 0)).sum(axis=axis) / (full != 0).sum(axis=axis).clip(1)
            assert 0 < np.std(rates) < 0.5 * np.sqrt(fraction * (1 - fraction)) + 0.1
        dropped.append(gone[:1000])
    same = (dropped[0] == dropped[1]).mean()  # views are masked on their own
    assert same == pytest.approx(fraction**2 + (1 - fraction) ** 2, abs=0.08)


def test_pairs_without_a_generator_are_not_masked() -> None:
    graph = make_graph(30)
    views = bound(graph, mask_features=0.5)
    nodes = np.array([3, 1, 4]), np.array([1, 5, 9])
    plain, masked = (views.pairs(*nodes, rng) for rng in (None, np.random.default_rng(0)))
    x = dense_features(graph).astype(np.float32)
    for index, each in enumerate(nodes):
        np.testing.assert_array_equal(nodes_of(masked)[index], each)
        np.testing.assert_array_equal(dense_rows_of(plain.views[index].features), x[each])
        assert not np.array_equal(dense_rows_of(masked.views[index].features), x[each])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scope", [0, 1, 4])
@pytest.mark.parametrize("size", [10, "all"])
def test_held_out_nodes_never_occur(size: int | str, scope: int, weighted: bool) -> None:
    graph = make_graph(60, seed=2)
    adjacency = graph.adjacency
    if weighted:
        scale = sp.diags_array(np.linspace(0.5, 2, 60))
        adjacency = sp.csr_array(scale @ adjacency @ scale)
    views = WalkContexts(size=size, scope=scope, mask_features=0.0, self_loops=1.0)
    views = views.bind(adjacency, graph.features)
    held_out = np.random.default_rng(1).choice(60, 20, replace=False)
    views.without(held_out)
    rng = np.random.default_rng(0)
    anchors, contexts = (
        np.concatenate(each)
        for each in zip(*(nodes_of(views.sample(rng)) for _ in range(50)), strict=True)
    )
    kept = np.setdiff1d(np.arange(60), held_out)
    np.testing.assert_array_equal(np.unique(anchors), kept)
    assert not np.isin(contexts, held_out).any()
    if scope == 1:  # all edges between the others are still walked
        inside = adjacency.toarray()[np.ix_(kept, kept)] > 0
        assert (adjacency.toarray()[anchors, contexts] > 0)[anchors != contexts].all()
        seen = np.zeros((60, 60), dtype=bool)
        seen[anchors, contexts] = True
        walked = seen[np.ix_(kept, kept)]
        np.testing.assert_array_equal(walked & inside, walked & ~np.eye(40, dtype=bool))
        assert walked[inside].mean() > 0.9 if size == "all" else walked[inside].any()


def test_holding_out_all_neighbours_leaves_a_node_its_own_context() -> None:
    star = Graph.from_edges([[0, i] for i in range(1, 6)], np.eye(6))
    views = bound(star, size="all")
    views.without(np.array([0]))
    anchors, contexts = nodes_of(views.sample(np.random.default_rng(0)))
    np.testing.assert_array_equal(np.sort(anchors), np.arange(1, 6))
    np.testing.assert_array_equal(anchors, contexts)


def test_holding_out_does_not_change_other_copies() -> None:
    graph = make_graph(40)
    sampler = WalkContexts(size="all", scope=1, mask_features=0.0, self_loops=1.0)
    one, two = (sampler.bind(graph.adjacency, graph.features) for _ in range(2))
    one.without(np.arange(20))
    assert nodes_of(one.sample(np.random.default_rng(0)))[0].size == 20
    assert nodes_of(two.sample(np.random.default_rng(0)))[0].size == 40


class CountingGenerator(np.random.Generator):
    """Counts the random numbers that it returns."""

    count = 0

    def random(self, size: Any = None, **rest: Any) -> Any:
        self.count += int(np.prod(size)) if size is not None else 1
        return super().random(size, **rest)


def ring(size: int) -> Graph:
    nodes = np.arange(size)
    features = np.random.default_rng(0).random((size, 4)).astype(np.float32)
    return Graph.from_edges(np.stack([nodes, (nodes + 1) % size], axis=1), features)


def test_the_cost_of_a_sample_does_not_depend_on_the_size_of_the_graph() -> None:
    """Random numbers, and bytes at the peak."""
    counts, peaks = [], []
    for size in (4_000, 400_000):
        views = bound(ring(size), size=100, scope=3, mask_features=0.5)
        views.sample(np.random.default_rng(1))
        rng = CountingGenerator(np.random.PCG64(0))
        tracemalloc.start()
        views.sample(rng)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        counts.append(rng.count)
    assert counts == [3 * 100 + 2 * 100 * 4] * 2
    assert peaks[1] < 1.5 * peaks[0] + 20_000 < 400_000


def test_the_view_of_rows_has_no_edges() -> None:
    view = rows_view(np.eye(3, dtype=np.float32), "cpu")
    assert dense_rows_of(view.adjacency).tolist() == np.zeros((3, 3)).tolist()
    assert dense_rows_of(view.propagation).tolist() == np.zeros((3, 3)).tolist()
    assert view.num_features == 3
