# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.views import Augmenter, View, edge_ends

SEEDS = st.integers(0, 10_000)


def augmenter(graph: Graph, **changes: Any) -> Augmenter:
    chosen: dict[str, Any] = {
        "drop_edges": (0.0, 0.0),
        "mask_features": (0.0, 0.0),
        "self_loops": 1.0,
        "seed": 3,
    }
    return Augmenter(graph.adjacency, graph.features, **{**chosen, **changes})


def drawn(views: Augmenter, epoch: int = 0) -> tuple[View, View]:
    first, second = views.draw(views.rng(epoch)).views
    return first, second


def dense(view: View) -> np.ndarray:
    found: np.ndarray = view.adjacency.matrix.to_dense().double().numpy()
    return found


def columns_of(view: View) -> np.ndarray:
    assert view.mask is not None
    return view.mask.numpy()


def pairs(adjacency: Any) -> list[tuple[int, int]]:
    """The edges, by loops."""
    joined = adjacency.toarray()
    size = len(joined)
    return [(i, j) for i in range(size) for j in range(i + 1, size) if joined[i, j]]


def backwards(adjacency: Any) -> Any:
    """The same matrix, each row stored from its last entry to its first, by numbers of 32 bits."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    order = np.lexsort((-adjacency.indices, rows))
    columns, starts = (held.astype(np.int32) for held in (adjacency.indices, adjacency.indptr))
    return sp.csr_array((adjacency.data[order], columns[order], starts), shape=adjacency.shape)


@given(seed=SEEDS, size=st.integers(2, 25))
def test_edge_ends_are_those_of_each_edge_once_in_ascending_order(seed: int, size: int) -> None:
    adjacency = make_graph(size, seed=seed).adjacency
    for given_adjacency in (adjacency, backwards(adjacency)):
        before = given_adjacency.indices.copy()
        first, second = edge_ends(given_adjacency)
        assert first.dtype == second.dtype == np.int64
        assert list(zip(first, second, strict=True)) == pairs(adjacency)
        np.testing.assert_array_equal(given_adjacency.indices, before)


def test_without_edges_there_are_no_ends() -> None:
    first, second = edge_ends(sp.csr_array((3, 3), dtype=np.float32))
    assert first.size == second.size == 0


@given(seed=SEEDS, turned=st.booleans())
def test_edges_of_probability_0_are_kept_and_those_of_1_are_dropped(
    seed: int, turned: bool
) -> None:
    """So the order of probabilities is that of the ends, and each view has its own."""
    graph = make_graph(20, seed=seed)
    adjacency = backwards(graph.adjacency) if turned else graph.adjacency
    edges = pairs(adjacency)
    dropped = np.random.default_rng(seed).integers(0, 2, (2, len(edges))).astype(float)
    views = Augmenter(
        adjacency,
        graph.features,
        drop_edges=(dropped[0], dropped[1]),
        mask_features=(0.0, 0.0),
        self_loops=1.0,
        seed=seed,
    )
    for which, view in enumerate(drawn(views)):
        left = np.zeros((20, 20))
        for (i, j), gone in zip(edges, dropped[which], strict=True):
            left[i, j] = left[j, i] = not gone
        np.testing.assert_allclose(dense(view), reference.normalised_adjacency(left), atol=1e-6)
        assert view.mask is None


@given(seed=SEEDS)
def test_columns_of_probability_0_are_kept_and_those_of_1_are_masked(seed: int) -> None:
    graph = make_graph(10, 12)
    masked = np.random.default_rng(seed).integers(0, 2, (2, 12)).astype(float)
    masked[:, seed % 12] = 1
    views = augmenter(graph, mask_features=(masked[0], masked[1]), seed=seed)
    for which, view in enumerate(drawn(views)):
        np.testing.assert_array_equal(columns_of(view), 1 - masked[which])


def test_columns_that_are_never_masked_need_no_mask() -> None:
    first, second = drawn(augmenter(make_graph(10, 12), mask_features=(np.zeros(12), 0.5)))
    assert first.mask is None
    assert second.mask is not None


def test_each_edge_and_each_column_is_dropped_with_its_probability() -> None:
    """Within five standard deviations, and the mean within three of its own."""
    graph, epochs = make_graph(30, 15), 500
    rng = np.random.default_rng(1)
    first, second = edge_ends(graph.adjacency)
    edges, columns = rng.random((2, first.size)), rng.random((2, 15))
    edges[:, :3], columns[:, :2] = 0, 0
    views = augmenter(
        graph, drop_edges=(edges[0], edges[1]), mask_features=(columns[0], columns[1])
    )
    kept_edges, kept_columns = np.zeros_like(edges), np.zeros_like(columns)
    for epoch in range(epochs):
        for which, view in enumerate(drawn(views, epoch)):
            kept_edges[which] += dense(view)[first, second] > 0
            kept_columns[which] += columns_of(view)
    for kept, dropped in ((kept_edges, edges), (kept_columns, columns)):
        found = 1 - kept / epochs
        deviation = np.sqrt(dropped * (1 - dropped) / epochs)
        assert (np.abs(found - dropped) <= 5 * deviation).all()
        overall = np.sqrt((deviation**2).sum()) / dropped.size
        assert abs(found.mean() - dropped.mean()) < 3 * overall
        assert (found[dropped == 0] == 0).all()


def test_equal_probabilities_are_one_for_all() -> None:
    graph = make_graph(20, 12)
    count = len(pairs(graph.adjacency))
    one = augmenter(graph, drop_edges=(0.4, 0.0), mask_features=(0.3, 0.6))
    each = augmenter(
        graph,
        drop_edges=(np.full(count, 0.4), np.zeros(count)),
        mask_features=(np.full(12, 0.3), np.full(12, 0.6)),
    )
    for epoch in range(3):
        for view, other in zip(drawn(one, epoch), drawn(each, epoch), strict=True):
            np.testing.assert_array_equal(dense(view), dense(other))
            np.testing.assert_array_equal(columns_of(view), columns_of(other))


def test_what_is_left_keeps_its_weights() -> None:
    plain = make_graph(20)
    edges = np.argwhere(np.triu(plain.adjacency.toarray()))
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(edges, plain.features, weights=rng.uniform(0.5, 4, len(edges)))
    dropped = rng.random(len(edges))
    for view in drawn(augmenter(graph, drop_edges=(dropped, dropped), self_loops=2.0)):
        left = graph.adjacency.toarray().astype(float) * (dense(view) != 0)
        assert 0 < (left > 0).sum() < graph.adjacency.nnz
        expected = reference.normalised_adjacency(left, 2.0)
        np.testing.assert_allclose(dense(view), expected, atol=1e-6)
