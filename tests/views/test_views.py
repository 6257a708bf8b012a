from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

import reference
from conftest import make_graph
from ugcl import UGCL, Graph
from ugcl.sparse import SparseMatrix
from ugcl.views import Subsampler, View, sample_nodes, scale_features

SAMPLINGS = ("random", "window", "ball")


def test_sparse_products_and_gradients_equal_the_dense_ones() -> None:
    dense = np.random.default_rng(0).random((7, 5)) * (np.arange(35).reshape(7, 5) % 3 == 0)
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense), dtype=torch.float64)
    other = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    assert matrix.shape == (7, 5)
    torch.testing.assert_close(matrix @ other, torch.from_numpy(dense) @ other)
    assert torch.autograd.gradcheck(lambda x: matrix @ x, (other,))


@given(sampling=st.sampled_from(SAMPLINGS), size=st.integers(1, 60), seed=st.integers(0, 1000))
def test_samples_are_distinct_sorted_and_of_the_size_asked(
    sampling: str, size: int, seed: int
) -> None:
    graph = make_graph(60)
    nodes = sample_nodes(graph.adjacency, size, sampling, np.random.default_rng(seed))
    assert nodes.size == size
    assert (np.diff(nodes) > 0).all()
    assert nodes[0] >= 0
    assert nodes[-1] < 60


def test_random_samples_reach_every_node_equally() -> None:
    adjacency = make_graph(20).adjacency
    counts = np.zeros(20)
    for seed in range(2000):
        counts[sample_nodes(adjacency, 5, "random", np.random.default_rng(seed))] += 1
    assert counts.min() > 0.85 * 500
    assert counts.max() < 1.15 * 500


def test_windows_are_consecutive_and_reach_both_ends() -> None:
    adjacency = make_graph(20).adjacency
    drawn = [sample_nodes(adjacency, 6, "window", np.random.default_rng(s)) for s in range(200)]
    assert all((np.diff(nodes) == 1).all() for nodes in drawn)
    assert {int(nodes[0]) for nodes in drawn} == set(range(15))


def test_balls_hold_whole_neighbourhoods() -> None:
    """A ball that has not been cut is closed up to its last hop: far more edges than by chance."""
    graph = make_graph(400, seed=1, classes=40)
    ball, random = (
        np.mean(
            [
                graph.adjacency[nodes][:, nodes].nnz
                for seed in range(10)
                for nodes in [
                    sample_nodes(graph.adjacency, 80, sampling, np.random.default_rng(seed))
                ]
            ]
        )
        for sampling in ("ball", "random")
    )
    assert ball > 1.2 * random


def test_a_ball_around_one_node_is_its_neighbourhood() -> None:
    star = sp.csr_array(np.pad(np.ones((1, 9)), ((0, 9), (1, 0))))
    star = (star + star.T).tocsr()
    nodes = sample_nodes(star, 10, "ball", np.random.default_rng(0))
    assert nodes.tolist() == list(range(10))


def test_all_but_one_neighbourhood_of_a_hop_is_whole() -> None:
    """On a graph so dense that the first hop is cut, the seeds' neighbourhoods stay whole."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((1000, 1000)) < 0.03, k=1)
    dense = sp.csr_array((upper | upper.T).astype(np.float32))
    nodes = sample_nodes(dense, 400, "ball", np.random.default_rng(1))
    inside = np.isin(np.arange(1000), nodes)
    whole = [node for node in nodes if inside[dense[[node]].indices].all()]
    assert len(whole) >= 12


def test_balls_cross_components_where_they_must() -> None:
    pairs = sp.block_diag([np.array([[0, 1], [1, 0]])] * 10, format="csr")
    for seed in range(20):
        assert sample_nodes(pairs, 17, "ball", np.random.default_rng(seed)).size == 17


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("normalisation", ["graph", "subgraph"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_view_is_the_induced_subgraph(sampling: str, normalisation: str, sparse: bool) -> None:
    graph = make_graph(50, sparse=sparse)
    subsampler = Subsampler(
        graph.adjacency,
        graph.features,
        size=30,
        sampling=sampling,
        normalisation=normalisation,
        self_loops=2.0,
        seed=4,
    )
    dense = graph.adjacency.toarray()
    features = graph.features.toarray() if sparse else graph.features
    for epoch in (0, 1):
        rng = np.random.default_rng([4, epoch])
        nodes = sample_nodes(graph.adjacency, 30, sampling, rng)
        block = np.ix_(nodes, nodes)
        expected = (
            reference.normalised_adjacency(dense, 2.0)[block]
            if normalisation == "graph"
            else reference.normalised_adjacency(dense[block], 2.0)
        )
        view = subsampler.draw(subsampler.rng(epoch)).views[0]
        np.testing.assert_allclose(view.adjacency.matrix.to_dense(), expected, atol=1e-6)
        weight = torch.randn(graph.num_features, 3)
        np.testing.assert_allclose(
            view.convolve(weight), expected @ features[nodes] @ weight.numpy(), atol=1e-4
        )


def test_a_sample_of_all_nodes_is_the_graph() -> None:
    graph = make_graph()
    subsampler = Subsampler(
        graph.adjacency,
        graph.features,
        size=graph.num_nodes,
        sampling="random",
        normalisation="subgraph",
        self_loops=1.0,
        seed=0,
    )
    view = subsampler.draw(subsampler.rng(0)).views[0]
    assert view is subsampler.draw(subsampler.rng(1)).views[0]
    expected = reference.normalised_adjacency(graph.adjacency.toarray())
    np.testing.assert_allclose(view.adjacency.matrix.to_dense(), expected, atol=1e-6)


def test_convolution_has_the_gradient_of_its_formula() -> None:
    graph = make_graph(15)
    view = View.of(graph.adjacency, graph.features)
    weight = torch.randn(graph.num_features, 4, requires_grad=True)
    upstream = torch.randn(15, 4)
    (gradient,) = torch.autograd.grad(view.convolve(weight), weight, upstream)
    expected = (graph.adjacency @ graph.features).T @ upstream.numpy()
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_tfidf_of_another_graph_uses_the_weights_of_the_first() -> None:
    graph = make_graph(30)
    model = UGCL(hidden=4, epochs=1, feature_scaling="tfidf").fit(graph)
    part = Graph.from_edges([[0, 1]], graph.features[:10])
    expected = scale_features(graph.features, "tfidf")[:10]
    np.testing.assert_allclose(model.model_.raw(part).toarray(), expected.toarray(), rtol=1e-6)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaling", ["none", "row", "l2", "tfidf"])
def test_feature_scaling(scaling: str, sparse: bool) -> None:
    dense = np.array([[1, 0, 2], [0, 0, 0], [3, 1, 0], [0, 1, 0]], dtype=np.float32)
    scaled = scale_features(sp.csr_array(dense) if sparse else dense, scaling)
    assert sp.issparse(scaled) == sparse
    assert scaled.dtype == np.float32
    expected = {
        "none": dense,
        "row": dense / np.maximum(dense.sum(axis=1, keepdims=True), 1),
        "l2": dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1),
        "tfidf": TfidfTransformer().fit_transform(sp.csr_array(dense)).toarray(),
    }[scaling]
    np.testing.assert_allclose(scaled.toarray() if sparse else scaled, expected, rtol=1e-6)
