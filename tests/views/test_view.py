from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph
from ugcl.scope import Power, WholeGraph, normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views import View, rows_to
from ugcl.views.view import features_to, views_of
from view_helpers import dense_features, graph_of, random_hidden

SEEDS = st.integers(0, 10_000)


def two_matrices(graph: Graph) -> tuple[Any, Any]:
    """The normalised adjacency, and another symmetric matrix with more entries."""
    other = normalised_adjacency(graph.adjacency, 5.0)
    return normalised_adjacency(graph.adjacency, 2.0), sp.csr_array(other @ other)


def test_convolution_has_the_gradient_of_its_formula() -> None:
    graph = make_graph(15)
    view = View.of(graph.adjacency, graph.features)
    weight = torch.randn(graph.num_features, 4, requires_grad=True)
    upstream = torch.randn(15, 4)
    (gradient,) = torch.autograd.grad(view.convolve(weight), weight, upstream)
    expected = (graph.adjacency @ graph.features).T @ upstream.numpy()
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("keep_features", [True, False])
def test_views_of_several_matrices_have_contexts_of_the_first(
    keep_features: bool, sparse: bool
) -> None:
    graph = graph_of(sparse)
    matrices = two_matrices(graph)
    views = views_of(matrices, graph.features, "cpu", keep_features=keep_features)
    hidden, weight = random_hidden(30), random_hidden(12)
    first = matrices[0].toarray().astype(float)
    expected = first @ first @ hidden.numpy()
    assert len(views) == 2
    for view, matrix in zip(views, matrices, strict=True):
        convolved = matrix.toarray().astype(float) @ dense_features(graph) @ weight.numpy()
        np.testing.assert_allclose(view.convolve(weight), convolved, atol=1e-4)
        np.testing.assert_allclose(view.contexts(Power(2))(hidden), expected, atol=1e-5)
        assert view.num_features == 12
        assert view.features is views[0].features
        assert (view.features is None) == (not sparse and not keep_features)
        assert (view.aggregated is None) == sparse
    assert views[0].propagation is views[0].adjacency


@given(seed=SEEDS)
def test_in_a_batch_of_graphs_the_scope_graph_is_the_mean_of_each_graph(seed: int) -> None:
    """In any order of the rows."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    _, graph_ids = np.unique(rng.integers(0, 4, size), return_inverse=True)
    hidden = torch.from_numpy(rng.normal(size=(size, 3))).requires_grad_()
    identity = SparseMatrix.from_scipy(sp.eye_array(size, format="csr"), dtype=torch.float64)
    view = View(identity, None, None, identity, graph_ids=torch.from_numpy(graph_ids))
    expected = np.empty((size, 3))
    for row in range(size):
        same = [other for other in range(size) if graph_ids[other] == graph_ids[row]]
        expected[row] = sum(hidden.detach().numpy()[other] for other in same) / len(same)
    contexts = view.contexts(WholeGraph())
    np.testing.assert_allclose(contexts(hidden).detach(), expected, atol=1e-12)
    assert torch.autograd.gradcheck(contexts, (hidden,))
    for n in (0, 2):
        torch.testing.assert_close(view.contexts(Power(n))(hidden), hidden)


def test_in_one_graph_it_is_the_mean_of_all_rows() -> None:
    graph = make_graph(30)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features)
    hidden = random_hidden(30)
    assert view.graph_ids is None
    expected = hidden.mean(dim=0).expand(30, 5)
    torch.testing.assert_close(view.contexts(WholeGraph())(hidden), expected)


def test_anchors_are_the_given_rows_or_all() -> None:
    graph = make_graph(30)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features)
    hidden = random_hidden(30)
    assert view.select_anchors(hidden) is hidden
    some = replace(view, anchors=torch.tensor([7, 0, 29]))
    assert torch.equal(some.select_anchors(hidden), torch.stack([hidden[7], hidden[0], hidden[29]]))


@pytest.mark.parametrize("sparse", [True, False])
def test_linear_is_the_product_with_the_masked_features(sparse: bool) -> None:
    graph = graph_of(sparse)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features, keep_features=True)
    weight = random_hidden(12)
    rows = dense_features(graph)
    np.testing.assert_allclose(view.linear(weight), rows @ weight.numpy(), atol=1e-5)
    mask = (np.arange(12) % 3 > 0).astype(np.float32)
    masked = replace(view, feature_mask=torch.from_numpy(mask))
    np.testing.assert_allclose(masked.linear(weight), (rows * mask) @ weight.numpy(), atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_convolution_uses_the_masked_features(sparse: bool) -> None:
    """With A X stored and with X alone."""
    graph, weight = graph_of(sparse), random_hidden(12)
    adjacency = normalised_adjacency(graph.adjacency)
    mask = (np.arange(12) % 3 > 0).astype(np.float32)
    view = replace(
        View.of(adjacency, graph.features, keep_features=True),
        feature_mask=torch.from_numpy(mask),
    )
    expected = adjacency.toarray() @ (dense_features(graph) * mask) @ weight.numpy()
    for variant in (view, replace(view, aggregated=None)):
        np.testing.assert_allclose(variant.convolve(weight), expected, atol=1e-5)


def test_contexts_use_the_propagation_matrix() -> None:
    graph, hidden = make_graph(30), random_hidden(30)
    first, second = two_matrices(graph)
    view = View.of(first, graph.features, propagation=second)
    matrix = second.toarray().astype(float)
    np.testing.assert_allclose(
        view.contexts(Power(2))(hidden), matrix @ matrix @ hidden.numpy(), atol=1e-5
    )
    np.testing.assert_allclose(view.adjacency.matrix.to_dense(), first.toarray(), atol=1e-6)


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_keep_their_form_and_features_are_dense_where_that_is_faster(sparse: bool) -> None:
    """Features of `make_graph` have too many non-zero entries to be stored sparse."""
    crowded, few = make_graph(30, sparse=sparse).features, graph_of(sparse).features
    assert isinstance(rows_to(crowded, "cpu"), SparseMatrix) == sparse
    assert isinstance(features_to(crowded, "cpu"), torch.Tensor)
    assert isinstance(features_to(few, "cpu"), SparseMatrix) == sparse
    for features in (rows_to(crowded, "cpu"), features_to(few, "cpu")):
        assert features_to(features, "cpu") is features


def test_dense_rows_are_copied() -> None:
    features = make_graph(30, sparse=False).features
    copied = rows_to(features, "cpu")
    assert isinstance(copied, torch.Tensor)
    np.testing.assert_array_equal(copied.numpy(), features)
    assert not np.shares_memory(copied.numpy(), features)
