from __future__ import annotations

from typing import Any

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
from ugcl.scope import Component, Power, Scope, lazy, normalised_adjacency, unit_radius
from ugcl.views import Augmenter, Corrupter, Subsampler, View, sample_nodes

HALF = {"drop_edges": (0.5, 0.3), "mask_features": (0.2, 0.6), "self_loops": 1.0, "seed": 3}


def augmenter(graph: Graph, **changes: Any) -> Augmenter:
    return Augmenter(graph.adjacency, graph.features, **{**HALF, **changes})


def drawn(views: Augmenter, epoch: int = 0) -> tuple[View, View]:
    first, second = views.draw(views.rng(epoch)).views
    return first, second


def dense(view: View) -> np.ndarray:
    return view.adjacency.matrix.to_dense().double().numpy()


def kept(view: View) -> np.ndarray:
    """Which entries of A are left, without the diagonal."""
    joined = dense(view) != 0
    np.fill_diagonal(joined, False)
    return joined


def weighted_graph(size: int = 30) -> Graph:
    plain = make_graph(size)
    edges = np.argwhere(np.triu(plain.adjacency.toarray()))
    weights = np.random.default_rng(1).uniform(0.5, 4, len(edges))
    return Graph.from_edges(edges, plain.features, weights=weights)


@given(seed=st.integers(0, 1000))
def test_an_edge_is_dropped_in_both_directions(seed: int) -> None:
    graph = make_graph(20)
    for view in drawn(augmenter(graph, seed=seed)):
        left = kept(view)
        assert (left == left.T).all()
        assert (graph.adjacency.toarray()[left] > 0).all()
        assert left.sum() < graph.adjacency.nnz


@given(seed=st.integers(0, 1000))
def test_what_is_left_keeps_its_weights_and_is_normalised_by_the_degrees_left(seed: int) -> None:
    graph = weighted_graph(20)
    for view in drawn(augmenter(graph, seed=seed, self_loops=2.0)):
        remaining = graph.adjacency.toarray().astype(float) * kept(view)
        expected = reference.normalised_adjacency(remaining, 2.0)
        np.testing.assert_allclose(dense(view), expected, atol=1e-6)
        assert view.steps is view.adjacency


@pytest.mark.parametrize("sparse", [True, False])
def test_edges_and_columns_are_dropped_with_their_probabilities(sparse: bool) -> None:
    """Each of them, so that none is dropped always or never; within five standard deviations."""
    graph = make_graph(30, 15, sparse=sparse)
    views, epochs = augmenter(graph), 400
    edges, columns = np.zeros((2, 30, 30)), np.zeros((2, 15))
    for epoch in range(epochs):
        for which, view in enumerate(drawn(views, epoch)):
            edges[which] += kept(view)
            assert view.mask is not None
            assert set(view.mask.unique().tolist()) <= {0.0, 1.0}
            columns[which] += view.mask.numpy()
    there = graph.adjacency.toarray() > 0
    for which in (0, 1):
        for counts, dropped in (
            (edges[which][there], HALF["drop_edges"][which]),
            (columns[which], HALF["mask_features"][which]),
        ):
            deviation = np.sqrt(dropped * (1 - dropped) / epochs)
            assert np.abs(1 - counts / epochs - dropped).max() < 5 * deviation
            assert abs(1 - counts.mean() / epochs - dropped) < deviation


def test_probability_0_gives_the_graph_itself() -> None:
    graph = weighted_graph()
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    for view in drawn(augmenter(graph, drop_edges=(0.0, 0.0), mask_features=(0.0, 0.0))):
        np.testing.assert_allclose(dense(view), expected, atol=1e-6)
        assert view.mask is None
        weight = torch.randn(graph.num_features, 3)
        np.testing.assert_allclose(
            view.convolve(weight), expected @ graph.features.toarray() @ weight.numpy(), atol=1e-4
        )


def test_each_view_has_its_own_probabilities() -> None:
    graph = make_graph()
    first, second = drawn(augmenter(graph, drop_edges=(0.0, 0.6), mask_features=(0.5, 0.0)))
    assert kept(first).sum() == graph.adjacency.nnz
    assert kept(second).sum() < 0.7 * graph.adjacency.nnz
    assert first.mask is not None
    assert second.mask is None


@pytest.mark.parametrize("sparse", [True, False])
def test_a_masked_column_is_zero_for_all_nodes(sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    features = graph.features.toarray() if sparse else graph.features
    weight = torch.randn(graph.num_features, 3)
    for view in drawn(augmenter(graph)):
        assert view.mask is not None
        assert 0 < view.mask.sum() < graph.num_features
        expected = dense(view) @ (features * view.mask.numpy()) @ weight.numpy()
        np.testing.assert_allclose(view.convolve(weight), expected, atol=1e-4)
        encoder = GCN(graph.num_features, 3, torch.Generator())
        with torch.no_grad():
            encoder.weight.copy_(weight)
        hidden = np.where(expected > 0, expected, 0.25 * expected)
        np.testing.assert_allclose(encoder(view).detach(), hidden, atol=1e-4)


def test_views_are_a_function_of_seed_and_epoch() -> None:
    graph = make_graph()
    for epoch in (0, 7):
        for one, other in zip(
            drawn(augmenter(graph), epoch), drawn(augmenter(graph), epoch), strict=True
        ):
            np.testing.assert_array_equal(dense(one), dense(other))
            assert torch.equal(one.mask, other.mask)
    views = augmenter(graph)
    for other in (drawn(views, 1), drawn(augmenter(graph, seed=4), 0)):
        assert (kept(drawn(views, 0)[0]) != kept(other[0])).any()
        assert not torch.equal(drawn(views, 0)[0].mask, other[0].mask)


def test_the_two_views_of_an_epoch_differ() -> None:
    same = {"drop_edges": (0.5, 0.5), "mask_features": (0.5, 0.5)}
    first, second = drawn(augmenter(make_graph(), **same))
    assert (kept(first) != kept(second)).any()
    assert not torch.equal(first.mask, second.mask)


def test_isolated_nodes_keep_themselves() -> None:
    """One isolated from the start, and others once their edges are dropped."""
    graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(6, dtype=np.float32))
    views, alone = augmenter(graph, drop_edges=(0.9, 0.5)), 0
    for epoch in range(10):
        for view in drawn(views, epoch):
            single = ~kept(view).any(axis=1)
            alone += single[:5].sum()
            assert single[5]
            np.testing.assert_allclose(dense(view)[single], np.eye(6)[single], atol=1e-6)
    assert alone > 10


def test_a_graph_without_edges_has_views() -> None:
    graph = Graph(sp.csr_array((4, 4)), np.eye(4, dtype=np.float32))
    for view in drawn(augmenter(graph)):
        np.testing.assert_array_equal(dense(view), np.eye(4))


@pytest.mark.parametrize("sparse", [True, False])
def test_a_corrupted_view_has_the_rows_of_x_permuted_and_the_adjacency_as_it_is(
    sparse: bool,
) -> None:
    rng = np.random.default_rng(0)
    features = rng.random((40, 12)) * (rng.random((40, 12)) < (0.1 if sparse else 0.9))
    features[:, 0] = np.arange(40)  # tells nodes apart
    given_features = sp.csr_array(features) if sparse else features
    graph = Graph(make_graph().adjacency, given_features)
    views = Corrupter([normalised_adjacency(graph.adjacency, 2.0)], graph.features, seed=3)
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float), 2.0)
    weight = torch.eye(12)
    orders = []
    for epoch in (0, 1, 0):
        found = views.draw(views.rng(epoch))
        (view,) = found.views
        np.testing.assert_allclose(dense(view), expected, atol=1e-6)
        np.testing.assert_allclose(view.convolve(weight), expected @ features, atol=1e-3)
        (corrupted,) = found.corrupted
        assert corrupted.steps is view.steps
        assert corrupted.features is view.features
        convolved = corrupted.convolve(weight).numpy().astype(float)
        rows = np.linalg.solve(expected, convolved)
        order = np.rint(rows[:, 0]).astype(int)
        assert sorted(order) == list(range(40))
        assert (order != np.arange(40)).sum() > 20
        np.testing.assert_allclose(convolved, expected @ features[order], atol=1e-3)
        hidden = torch.from_numpy(rng.random((40, 5), dtype=np.float32))
        transposed = corrupted.adjacency.transpose @ hidden
        torch.testing.assert_close(corrupted.adjacency.matrix.to_dense().T @ hidden, transposed)
        orders.append(order.tolist())
    assert orders[0] == orders[2] != orders[1]


def subsampler(graph: Graph, scope: Scope, size: int, **changes: Any) -> Subsampler:
    chosen: dict[str, Any] = {
        "size": size,
        "sampling": "random",
        "normalisation": "graph",
        "self_loops": 1.0,
        "scope": scope,
        "seed": 0,
    }
    return Subsampler(graph.adjacency, graph.features, **{**chosen, **changes})


def sampled(graph: Graph, views: Subsampler, epoch: int) -> tuple[np.ndarray, View]:
    """A of the sample's nodes, cut out of the normalised adjacency of the graph; and its view."""
    nodes = sample_nodes(graph.adjacency, views.size, views.sampling, views.rng(epoch))
    whole = reference.normalised_adjacency(
        graph.adjacency.toarray().astype(float), views.self_loops
    )
    return whole[np.ix_(nodes, nodes)], views.draw(views.rng(epoch)).views[0]


def random_hidden(size: int) -> torch.Tensor:
    return torch.randn(size, 6, generator=torch.Generator().manual_seed(0))


def directions(rows: Any) -> np.ndarray:
    array = np.asarray(rows, dtype=np.float64)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_the_component_of_a_sliced_sample_is_that_of_the_subgraph_itself(context: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Component(), 25, self_loops=2.0, context=context)
    for epoch in range(3):
        nodes = sample_nodes(graph.adjacency, 25, "random", views.rng(epoch))
        sliced, view = sampled(graph, views, epoch)
        own = reference.normalised_adjacency(
            graph.adjacency.toarray()[np.ix_(nodes, nodes)].astype(float), 2.0
        )
        assert np.abs(own - sliced).max() > 0.1
        np.testing.assert_allclose(dense(view), sliced, atol=1e-6)
        np.testing.assert_allclose(view.steps.matrix.to_dense(), own, atol=1e-6)
        hidden = random_hidden(25)
        limit = np.linalg.matrix_power(own, 100_000) @ hidden.double().numpy()
        np.testing.assert_allclose(Component().on(view.steps)(hidden), limit, atol=1e-5)


@pytest.mark.parametrize(("size", "normalisation"), [(25, "subgraph"), (60, "graph")])
def test_a_component_is_the_limit_of_lazy_steps_too(size: int, normalisation: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Component(), size, context="lazy", normalisation=normalisation)
    view = views.draw(views.rng(0)).views[0]
    hidden = random_hidden(size)
    own = reference.normalised_adjacency(kept(view).astype(float))
    limit = np.linalg.matrix_power(own, 100_000) @ hidden.double().numpy()
    np.testing.assert_allclose(Component().on(view.steps)(hidden), limit, atol=1e-5)


def deep_contexts_keep_their_directions(n: int, context: str) -> None:
    """On a sample of a graph of degree near 30, in which most nodes are isolated."""
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((600, 600)) < 0.05, k=1))
    graph = Graph.from_edges(edges, np.eye(600, 4, dtype=np.float32))
    views = subsampler(graph, Power(n), 30, context=context)
    isolated = joined = 0
    for epoch in range(3):
        sliced, view = sampled(graph, views, epoch)
        alone = (sliced != 0).sum(axis=1) == 1
        isolated, joined = isolated + alone.sum(), joined + (~alone).sum()
        walk = (np.eye(30) + sliced) / 2 if context == "lazy" else sliced
        np.testing.assert_allclose(dense(view), sliced, atol=1e-6)
        hidden = random_hidden(30)
        expected = np.linalg.matrix_power(walk, n) @ hidden.double().numpy()
        found = Power(n).on(view.steps)(hidden)
        assert (found.norm(dim=1) > 0).all()  # in float32, which is what objectives divide by
        units = found / found.norm(dim=1, keepdim=True)
        np.testing.assert_allclose(units, directions(expected), atol=1e-4)
    assert isolated > 3
    assert joined > 10


@pytest.mark.parametrize("context", ["power", "lazy"])
@pytest.mark.parametrize("n", [1, 5, 21, 100])
def test_contexts_of_a_sliced_sample_have_the_directions_of_the_power(n: int, context: str) -> None:
    deep_contexts_keep_their_directions(n, context)


@pytest.mark.parametrize("n", [10, 15, 20])
def test_so_have_those_of_fewer_steps_where_degrees_are_high(n: int) -> None:
    deep_contexts_keep_their_directions(n, "power")


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_the_encoders_contexts_have_them_too(context: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Power(100), 20, context=context)
    encoder = GCN(graph.num_features, 6, torch.Generator().manual_seed(0))
    sliced, view = sampled(graph, views, 0)
    assert ((sliced != 0).sum(axis=1) == 1).any()
    walk = (np.eye(20) + sliced) / 2 if context == "lazy" else sliced
    hidden = encoder(view).detach().double().numpy()
    expected = directions(np.linalg.matrix_power(walk, 100) @ hidden)
    found = directions(encoder.context(view, Power(100)).detach())
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_unit_radius_scales_each_component_to_the_eigenvalue_1() -> None:
    """A triangle, a pair and two nodes alone, one of them without a loop."""
    triangle, pair = 0.2 * np.ones((3, 3)), np.array([[0.3, 0.1], [0.1, 0.3]])
    matrix = sp.csr_array(sp.block_diag([triangle, pair, [[0.01]], [[0.0]]]))
    found = unit_radius(matrix).toarray()
    expected = sp.block_diag([triangle / 0.6, pair / 0.4, [[1.0]], [[0.0]]]).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(seed=st.integers(0, 1000))
def test_unit_radius_is_symmetric_and_nearly_of_radius_1(seed: int) -> None:
    graph = make_graph(15, seed=seed, classes=6)
    sliced = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))[:9, :9]
    found = unit_radius(sp.csr_array(sliced)).toarray()
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    np.testing.assert_array_equal(found != 0, sliced != 0)
    assert np.linalg.eigvalsh(found).max() == pytest.approx(1, abs=0.02)


def test_lazy_steps_are_half_of_the_identity_and_half_of_a() -> None:
    matrix = sp.csr_array(np.array([[0.5, 0.25], [0.25, 0.0]], dtype=np.float32))
    found = lazy(matrix)
    np.testing.assert_array_equal(found.toarray(), [[0.75, 0.125], [0.125, 0.5]])
    assert found.dtype == np.float32
