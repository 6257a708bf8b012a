from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.nn import GCN
from ugcl.typing import Centrality, CSRMatrix, Features
from ugcl.views import AdaptiveAugmentation, RandomAugmentation, View, undirected_edges
from ugcl.views.augmentation import Probability
from ugcl.views.centrality import centrality, drop_probabilities, edge_weights, feature_weights
from view_helpers import dense, dense_features

SEEDS = st.integers(0, 10_000)
HALF: dict[str, Any] = {
    "drop_edges": (0.5, 0.3),
    "mask_features": (0.2, 0.6),
    "self_loops": 1.0,
}


class GivenProbabilities(RandomAugmentation):
    """Augmentation with given probabilities, one for all edges and columns or one for each."""

    def __init__(
        self,
        *,
        drop_edges: tuple[Probability, Probability] = (0.0, 0.0),
        mask_features: tuple[Probability, Probability] = (0.0, 0.0),
        self_loops: float = 1.0,
    ) -> None:
        super().__init__(drop_edges=(0.0, 0.0), mask_features=(0.0, 0.0), self_loops=self_loops)
        self.given = list(zip(drop_edges, mask_features, strict=True))

    def probabilities(
        self, adjacency: CSRMatrix, features: Features
    ) -> list[tuple[Probability, Probability]]:
        return self.given


def augmentation(graph: Graph, **params: Any) -> RandomAugmentation:
    return RandomAugmentation(**HALF | params).bind(graph.adjacency, graph.features)


def given_probabilities(graph: Graph, **params: Any) -> RandomAugmentation:
    return GivenProbabilities(**params).bind(graph.adjacency, graph.features)


def sample(views: RandomAugmentation, epoch: int = 0, seed: int = 3) -> tuple[View, View]:
    first, second = views.sample(np.random.default_rng([seed, epoch])).views
    return first, second


def kept(view: View) -> np.ndarray:
    """Which entries of A are kept, without the diagonal."""
    connected: np.ndarray = dense(view.adjacency) != 0
    np.fill_diagonal(connected, False)
    return connected


def columns_of(view: View) -> np.ndarray:
    assert view.feature_mask is not None
    return view.feature_mask.numpy()


def weighted_graph(size: int = 30) -> Graph:
    plain = make_graph(size)
    edges = np.argwhere(np.triu(plain.adjacency.toarray()))
    weights = np.random.default_rng(1).uniform(0.5, 4, len(edges))
    return Graph.from_edges(edges, plain.features, weights=weights)


def edges_of(adjacency: CSRMatrix) -> list[tuple[int, int]]:
    """The undirected edges, by loops."""
    connected = adjacency.toarray()
    size = len(connected)
    return [(i, j) for i in range(size) for j in range(i + 1, size) if connected[i, j]]


def backwards(adjacency: CSRMatrix) -> CSRMatrix:
    """The same matrix, each row stored from its last entry to its first, with 32-bit indices."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    order = np.lexsort((-adjacency.indices, rows))
    columns, starts = (part.astype(np.int32) for part in (adjacency.indices, adjacency.indptr))
    return sp.csr_array((adjacency.data[order], columns[order], starts), shape=adjacency.shape)


@given(seed=st.integers(0, 1000))
def test_an_edge_is_dropped_in_both_directions(seed: int) -> None:
    graph = make_graph(20)
    for view in sample(augmentation(graph), seed=seed):
        edges = kept(view)
        assert (edges == edges.T).all()
        assert (graph.adjacency.toarray()[edges] > 0).all()
        assert edges.sum() < graph.adjacency.nnz


@given(seed=st.integers(0, 1000))
def test_kept_edges_have_their_weights_and_are_normalised_by_their_degrees(seed: int) -> None:
    graph = weighted_graph(20)
    for view in sample(augmentation(graph, self_loops=2.0), seed=seed):
        remaining = graph.adjacency.toarray().astype(float) * kept(view)
        expected = reference.normalised_adjacency(remaining, 2.0)
        np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
        assert view.propagation is view.adjacency


@pytest.mark.parametrize("sparse", [True, False])
def test_edges_and_columns_are_dropped_with_their_probabilities(sparse: bool) -> None:
    """Each edge and each column within five standard deviations."""
    graph = make_graph(30, 15, sparse=sparse)
    views, epochs = augmentation(graph), 400
    edges, columns = np.zeros((2, 30, 30)), np.zeros((2, 15))
    for epoch in range(epochs):
        for which, view in enumerate(sample(views, epoch)):
            edges[which] += kept(view)
            assert set(np.unique(columns_of(view))) <= {0.0, 1.0}
            columns[which] += columns_of(view)
    connected = graph.adjacency.toarray() > 0
    for which in (0, 1):
        for counts, dropped in (
            (edges[which][connected], HALF["drop_edges"][which]),
            (columns[which], HALF["mask_features"][which]),
        ):
            deviation = np.sqrt(dropped * (1 - dropped) / epochs)
            assert np.abs(1 - counts / epochs - dropped).max() < 5 * deviation
            assert abs(1 - counts.mean() / epochs - dropped) < deviation


def test_probability_0_gives_the_graph_itself() -> None:
    graph = weighted_graph()
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    for view in sample(augmentation(graph, drop_edges=(0.0, 0.0), mask_features=(0.0, 0.0))):
        np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
        assert view.feature_mask is None
        weight = torch.randn(graph.num_features, 3)
        np.testing.assert_allclose(
            view.convolve(weight), expected @ graph.features.toarray() @ weight.numpy(), atol=1e-4
        )


def test_each_view_has_its_own_probabilities() -> None:
    graph = make_graph()
    first, second = sample(augmentation(graph, drop_edges=(0.0, 0.6), mask_features=(0.5, 0.0)))
    assert kept(first).sum() == graph.adjacency.nnz
    assert kept(second).sum() < 0.7 * graph.adjacency.nnz
    assert first.feature_mask is not None
    assert second.feature_mask is None


@pytest.mark.parametrize("sparse", [True, False])
def test_a_masked_column_is_zero_for_all_nodes(sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    features = dense_features(graph)
    weight = torch.randn(graph.num_features, 3)
    for view in sample(augmentation(graph)):
        assert view.feature_mask is not None
        assert 0 < view.feature_mask.sum() < graph.num_features
        expected = dense(view.adjacency) @ (features * view.feature_mask.numpy()) @ weight.numpy()
        np.testing.assert_allclose(view.convolve(weight), expected, atol=1e-4)
        encoder = GCN(graph.num_features, 3, torch.Generator())
        with torch.no_grad():
            encoder.weight.copy_(weight)
        hidden = np.where(expected > 0, expected, 0.25 * expected)
        np.testing.assert_allclose(encoder(view).detach(), hidden, atol=1e-4)


def test_views_are_a_function_of_the_random_generator() -> None:
    graph = make_graph()
    for epoch in (0, 7):
        repeated = (sample(augmentation(graph), epoch) for _ in range(2))
        for one, other in zip(*repeated, strict=True):
            np.testing.assert_array_equal(dense(one.adjacency), dense(other.adjacency))
            assert torch.equal(one.feature_mask, other.feature_mask)
    views = augmentation(graph)
    first, _ = sample(views)
    for other, _ in (sample(views, epoch=1), sample(views, seed=4)):
        assert (kept(first) != kept(other)).any()
        assert not torch.equal(first.feature_mask, other.feature_mask)


def test_the_two_views_of_a_sample_differ() -> None:
    same = {"drop_edges": (0.5, 0.5), "mask_features": (0.5, 0.5)}
    first, second = sample(augmentation(make_graph(), **same))
    assert (kept(first) != kept(second)).any()
    assert not torch.equal(first.feature_mask, second.feature_mask)


def test_isolated_nodes_keep_their_self_loop() -> None:
    """A node without edges, and nodes whose edges are all dropped."""
    graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(6, dtype=np.float32))
    views, isolated = augmentation(graph, drop_edges=(0.9, 0.5)), 0
    for epoch in range(10):
        for view in sample(views, epoch):
            single = ~kept(view).any(axis=1)
            isolated += single[:5].sum()
            assert single[5]
            np.testing.assert_allclose(dense(view.adjacency)[single], np.eye(6)[single], atol=1e-6)
    assert isolated > 10


def test_a_graph_without_edges_has_views() -> None:
    graph = Graph(sp.csr_array((4, 4)), np.eye(4, dtype=np.float32))
    for view in sample(augmentation(graph)):
        np.testing.assert_array_equal(dense(view.adjacency), np.eye(4))


@given(seed=SEEDS, size=st.integers(2, 25))
def test_undirected_edges_list_each_edge_once_in_ascending_order(seed: int, size: int) -> None:
    adjacency = make_graph(size, seed=seed).adjacency
    for matrix in (adjacency, backwards(adjacency)):
        before = matrix.indices.copy()
        first, second = undirected_edges(matrix)
        assert first.dtype == second.dtype == np.int64
        assert list(zip(first, second, strict=True)) == edges_of(adjacency)
        np.testing.assert_array_equal(matrix.indices, before)


def test_a_graph_without_edges_has_no_undirected_edges() -> None:
    first, second = undirected_edges(sp.csr_array((3, 3), dtype=np.float32))
    assert first.size == second.size == 0


@given(seed=SEEDS, reverse=st.booleans())
def test_edges_with_probability_0_are_kept_and_those_with_1_are_dropped(
    seed: int, reverse: bool
) -> None:
    """Probabilities are in the order of `undirected_edges`, and each view has its own."""
    graph = make_graph(20, seed=seed)
    adjacency = backwards(graph.adjacency) if reverse else graph.adjacency
    edges = edges_of(adjacency)
    dropped = np.random.default_rng(seed).integers(0, 2, (2, len(edges))).astype(float)
    sampler = GivenProbabilities(drop_edges=(dropped[0], dropped[1]))
    views = sampler.bind(adjacency, graph.features)
    for which, view in enumerate(sample(views, seed=seed)):
        remaining = np.zeros((20, 20))
        for (i, j), is_dropped in zip(edges, dropped[which], strict=True):
            remaining[i, j] = remaining[j, i] = not is_dropped
        expected = reference.normalised_adjacency(remaining)
        np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
        assert view.feature_mask is None


@given(seed=SEEDS)
def test_columns_with_probability_0_are_kept_and_those_with_1_are_masked(seed: int) -> None:
    graph = make_graph(10, 12)
    masked = np.random.default_rng(seed).integers(0, 2, (2, 12)).astype(float)
    masked[:, seed % 12] = 1
    views = given_probabilities(graph, mask_features=(masked[0], masked[1]))
    for which, view in enumerate(sample(views, seed=seed)):
        np.testing.assert_array_equal(columns_of(view), 1 - masked[which])


def test_columns_that_are_never_masked_need_no_mask() -> None:
    views = given_probabilities(make_graph(10, 12), mask_features=(np.zeros(12), 0.5))
    first, second = sample(views)
    assert first.feature_mask is None
    assert second.feature_mask is not None


def test_each_edge_and_each_column_is_dropped_with_its_probability() -> None:
    """Each within five standard deviations, their mean within three."""
    graph, epochs = make_graph(30, 15), 500
    rng = np.random.default_rng(1)
    first, second = undirected_edges(graph.adjacency)
    edges, columns = rng.random((2, first.size)), rng.random((2, 15))
    edges[:, :3], columns[:, :2] = 0, 0
    views = given_probabilities(
        graph, drop_edges=(edges[0], edges[1]), mask_features=(columns[0], columns[1])
    )
    kept_edges, kept_columns = np.zeros_like(edges), np.zeros_like(columns)
    for epoch in range(epochs):
        for which, view in enumerate(sample(views, epoch)):
            kept_edges[which] += dense(view.adjacency)[first, second] > 0
            kept_columns[which] += columns_of(view)
    for kept, dropped in ((kept_edges, edges), (kept_columns, columns)):
        frequency = 1 - kept / epochs
        deviation = np.sqrt(dropped * (1 - dropped) / epochs)
        assert (np.abs(frequency - dropped) <= 5 * deviation).all()
        overall = np.sqrt((deviation**2).sum()) / dropped.size
        assert abs(frequency.mean() - dropped.mean()) < 3 * overall
        assert (frequency[dropped == 0] == 0).all()


def test_equal_probabilities_give_the_views_of_one_probability() -> None:
    graph = make_graph(20, 12)
    count = len(edges_of(graph.adjacency))
    one = augmentation(graph, drop_edges=(0.4, 0.0), mask_features=(0.3, 0.6))
    each = given_probabilities(
        graph,
        drop_edges=(np.full(count, 0.4), np.zeros(count)),
        mask_features=(np.full(12, 0.3), np.full(12, 0.6)),
    )
    for epoch in range(3):
        for view, other in zip(sample(one, epoch), sample(each, epoch), strict=True):
            np.testing.assert_array_equal(dense(view.adjacency), dense(other.adjacency))
            np.testing.assert_array_equal(columns_of(view), columns_of(other))


def test_edges_kept_by_their_own_probabilities_have_their_weights() -> None:
    graph = weighted_graph(20)
    dropped = np.random.default_rng(2).random(graph.num_edges)
    views = given_probabilities(graph, drop_edges=(dropped, dropped), self_loops=2.0)
    for view in sample(views):
        remaining = graph.adjacency.toarray().astype(float) * (dense(view.adjacency) != 0)
        assert 0 < (remaining > 0).sum() < graph.adjacency.nnz
        expected = reference.normalised_adjacency(remaining, 2.0)
        np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)


def adaptive(graph: Graph, **params: Any) -> AdaptiveAugmentation:
    chosen = {"kind": "degree", "max_drop": 0.7, **HALF, **params}
    return AdaptiveAugmentation(**chosen).bind(graph.adjacency, graph.features)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("kind", get_args(Centrality))
def test_adaptive_probabilities_are_those_of_the_centralities(
    kind: Centrality, sparse: bool
) -> None:
    """Zhu et al., Section 3.1: edges by their endpoints, columns by the nodes that have them."""
    graph = make_graph(30, sparse=sparse)
    nodes = centrality(graph.adjacency, kind)
    edges = edge_weights(nodes, *undirected_edges(graph.adjacency))
    columns = feature_weights(nodes, graph.features)
    views = adaptive(graph, kind=kind)
    both = views.probabilities(graph.adjacency, graph.features)
    assert len(both) == 2
    for which, (drop, mask) in enumerate(both):
        rates = HALF["drop_edges"][which], HALF["mask_features"][which]
        np.testing.assert_array_equal(drop, drop_probabilities(edges, rates[0], 0.7))
        np.testing.assert_array_equal(mask, drop_probabilities(columns, rates[1], 0.7))
        assert np.ptp(drop) > 0.01
    expected = GivenProbabilities(
        drop_edges=(both[0][0], both[1][0]), mask_features=(both[0][1], both[1][1])
    ).bind(graph.adjacency, graph.features)
    for epoch in range(3):
        for view, other in zip(sample(views, epoch), sample(expected, epoch), strict=True):
            np.testing.assert_array_equal(dense(view.adjacency), dense(other.adjacency))
            np.testing.assert_array_equal(columns_of(view), columns_of(other))


def test_adaptive_views_keep_edges_of_central_nodes_more_often() -> None:
    """On a star with a path at one leaf, the edges of the hub against those of the path's end."""
    edges = [[0, leaf] for leaf in range(1, 12)] + [[11, 12], [12, 13]]
    graph = Graph.from_edges(edges, np.eye(14, dtype=np.float32))
    views, counts = adaptive(graph, drop_edges=(0.4, 0.4), mask_features=(0.0, 0.0)), np.zeros(2)
    for epoch in range(200):
        for view in sample(views, epoch):
            counts += kept(view)[0, 1], kept(view)[12, 13]
    assert counts[0] > 1.3 * counts[1]


@pytest.mark.parametrize("kind", get_args(Centrality))
def test_no_adaptive_probability_exceeds_the_maximum(kind: Centrality) -> None:
    graph = make_graph(30)
    views = adaptive(graph, kind=kind, max_drop=0.35)
    for drop, mask in views.probabilities(graph.adjacency, graph.features):
        assert np.max(drop) <= 0.35
        assert np.max(mask) <= 0.35
