from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import torch

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.nn import GCN
from ugcl.scope import Component, Power, Scope
from ugcl.typing import Normalisation, Sampling
from ugcl.views import Subsampler, View, sample_nodes
from view_helpers import dense, dense_features, random_hidden


def subsampler(graph: Graph, scope: Scope | None, size: int, **params: Any) -> Subsampler:
    chosen: dict[str, Any] = {
        "size": size,
        "sampling": "random",
        "normalisation": "graph",
        "self_loops": 1.0,
        "scope": scope,
    }
    return Subsampler(**chosen | params).bind(graph.adjacency, graph.features)


def rng_of(epoch: int, seed: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, epoch])


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("normalisation", get_args(Normalisation))
@pytest.mark.parametrize("sampling", get_args(Sampling))
def test_a_view_is_the_induced_subgraph(sampling: str, normalisation: str, sparse: bool) -> None:
    graph = make_graph(50, sparse=sparse)
    views = subsampler(
        graph, None, 30, sampling=sampling, normalisation=normalisation, self_loops=2.0
    )
    adjacency, features = graph.adjacency.toarray(), dense_features(graph)
    for epoch in (0, 1):
        nodes = sample_nodes(graph.adjacency, 30, sampling, rng_of(epoch))
        block = np.ix_(nodes, nodes)
        expected = (
            reference.normalised_adjacency(adjacency, 2.0)[block]
            if normalisation == "graph"
            else reference.normalised_adjacency(adjacency[block], 2.0)
        )
        (view,) = views.sample(rng_of(epoch)).views
        np.testing.assert_allclose(view.adjacency.matrix.to_dense(), expected, atol=1e-6)
        weight = torch.randn(graph.num_features, 3)
        np.testing.assert_allclose(
            view.convolve(weight), expected @ features[nodes] @ weight.numpy(), atol=1e-4
        )


@pytest.mark.parametrize("size", ["all", 40])
@pytest.mark.parametrize("normalisation", get_args(Normalisation))
def test_a_sample_of_all_nodes_is_the_graph(normalisation: Normalisation, size: Any) -> None:
    graph = make_graph()
    views = subsampler(graph, None, size, normalisation=normalisation)
    view = views.sample(rng_of(0)).views[0]
    assert view is views.sample(rng_of(1)).views[0]
    expected = reference.normalised_adjacency(graph.adjacency.toarray())
    np.testing.assert_allclose(view.adjacency.matrix.to_dense(), expected, atol=1e-6)


def sampled(graph: Graph, views: Subsampler, epoch: int) -> tuple[np.ndarray, View]:
    """A of the sampled nodes, sliced out of the graph's normalised adjacency; and their view."""
    nodes = sample_nodes(graph.adjacency, views.num_sampled, views.sampling, rng_of(epoch))
    whole = reference.normalised_adjacency(
        graph.adjacency.toarray().astype(float), views.self_loops
    )
    return whole[np.ix_(nodes, nodes)], views.sample(rng_of(epoch)).views[0]


def directions(rows: Any) -> np.ndarray:
    array = np.asarray(rows, dtype=np.float64)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_the_component_of_a_sliced_sample_uses_the_degrees_of_the_subgraph(context: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Component(), 25, self_loops=2.0, context=context)
    for epoch in range(3):
        nodes = sample_nodes(graph.adjacency, 25, "random", rng_of(epoch))
        sliced, view = sampled(graph, views, epoch)
        own = reference.normalised_adjacency(
            graph.adjacency.toarray()[np.ix_(nodes, nodes)].astype(float), 2.0
        )
        assert np.abs(own - sliced).max() > 0.1
        np.testing.assert_allclose(dense(view.adjacency), sliced, atol=1e-6)
        np.testing.assert_allclose(dense(view.propagation), own, atol=1e-6)
        hidden = random_hidden(25)
        limit = np.linalg.matrix_power(own, 100_000) @ hidden.double().numpy()
        np.testing.assert_allclose(Component().on(view.propagation)(hidden), limit, atol=1e-5)


@pytest.mark.parametrize(("size", "normalisation"), [(25, "subgraph"), (60, "graph")])
def test_a_component_is_the_limit_of_lazy_powers(size: int, normalisation: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Component(), size, context="lazy", normalisation=normalisation)
    view = views.sample(rng_of(0)).views[0]
    hidden = random_hidden(size)
    connected = (dense(view.adjacency) != 0).astype(float)
    np.fill_diagonal(connected, 0)
    own = reference.normalised_adjacency(connected)
    limit = np.linalg.matrix_power(own, 100_000) @ hidden.double().numpy()
    np.testing.assert_allclose(Component().on(view.propagation)(hidden), limit, atol=1e-5)


def deep_contexts_keep_their_directions(n: int, context: str) -> None:
    """On samples of a graph with a mean degree near 30, in which most nodes are isolated."""
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((600, 600)) < 0.05, k=1))
    graph = Graph.from_edges(edges, np.eye(600, 4, dtype=np.float32))
    views = subsampler(graph, Power(n), 30, context=context)
    isolated = connected = 0
    for epoch in range(3):
        sliced, view = sampled(graph, views, epoch)
        alone = (sliced != 0).sum(axis=1) == 1
        isolated, connected = isolated + alone.sum(), connected + (~alone).sum()
        matrix = (np.eye(30) + sliced) / 2 if context == "lazy" else sliced
        np.testing.assert_allclose(dense(view.adjacency), sliced, atol=1e-6)
        hidden = random_hidden(30)
        expected = np.linalg.matrix_power(matrix, n) @ hidden.double().numpy()
        contexts = Power(n).on(view.propagation)(hidden)
        assert (contexts.norm(dim=1) > 0).all()  # in float32, which is what losses divide by
        units = contexts / contexts.norm(dim=1, keepdim=True)
        np.testing.assert_allclose(units, directions(expected), atol=1e-4)
    assert isolated > 3
    assert connected > 10


@pytest.mark.parametrize("context", ["power", "lazy"])
@pytest.mark.parametrize("n", [1, 5, 21, 100])
def test_contexts_of_a_sliced_sample_have_the_directions_of_the_power(n: int, context: str) -> None:
    deep_contexts_keep_their_directions(n, context)


@pytest.mark.parametrize("n", [10, 15, 20])
def test_contexts_of_lower_powers_keep_their_directions_where_degrees_are_high(n: int) -> None:
    deep_contexts_keep_their_directions(n, "power")


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_contexts_of_an_encoder_have_the_directions_of_the_power(context: str) -> None:
    graph = make_graph(60, classes=12)
    views = subsampler(graph, Power(100), 20, context=context)
    encoder = GCN(graph.num_features, 6, torch.Generator().manual_seed(0))
    sliced, view = sampled(graph, views, 0)
    assert ((sliced != 0).sum(axis=1) == 1).any()
    matrix = (np.eye(20) + sliced) / 2 if context == "lazy" else sliced
    hidden = encoder(view).detach().double().numpy()
    expected = directions(np.linalg.matrix_power(matrix, 100) @ hidden)
    contexts = directions(encoder.context(view, Power(100)).detach())
    np.testing.assert_allclose(contexts, expected, atol=1e-4)


@pytest.mark.parametrize("scope", [3, "component"])
def test_a_scope_may_be_given_by_name(scope: Any) -> None:
    named = subsampler(make_graph(), scope, 20).scope
    assert named == (Power(3) if scope == 3 else Component())


def test_the_position_of_nodes_is_reset_after_each_sample() -> None:
    """Samples do not depend on those before them."""
    graph = make_graph(50)
    for normalisation in get_args(Normalisation):
        views = subsampler(graph, None, 20, normalisation=normalisation)
        first = dense(views.sample(rng_of(0)).views[0].adjacency)
        views.sample(rng_of(1))
        np.testing.assert_array_equal(dense(views.sample(rng_of(0)).views[0].adjacency), first)
