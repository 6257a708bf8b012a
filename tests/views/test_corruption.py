from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.scope import (
    Power,
    diffusion,
    heat_coefficients,
    normalised_adjacency,
    pagerank_coefficients,
    with_self_loops,
)
from ugcl.typing import CSRMatrix, Diffusion
from ugcl.views import Corruption, DiffusionViews, Sample
from view_helpers import dense, dense_features, graph_of, random_hidden


class TwoMatrices(Corruption):
    """Views by the normalised adjacency and by another symmetric matrix with more entries."""

    def matrices(self, adjacency: CSRMatrix) -> Sequence[CSRMatrix]:
        other = normalised_adjacency(adjacency, 5.0)
        return [*super().matrices(adjacency), sp.csr_array(other @ other)]


def two_matrices(graph: Graph, mask_features: float = 0.0) -> TwoMatrices:
    sampler = TwoMatrices(self_loops=2.0, mask_features=mask_features)
    return sampler.bind(graph.adjacency, graph.features)


def sampled(views: Corruption, epoch: int = 0, seed: int = 3) -> Sample:
    return views.sample(np.random.default_rng([seed, epoch]))


@pytest.mark.parametrize("sparse", [True, False])
def test_a_corrupted_view_has_the_rows_of_x_permuted_and_the_adjacency_as_it_is(
    sparse: bool,
) -> None:
    rng = np.random.default_rng(0)
    features = rng.random((40, 12)) * (rng.random((40, 12)) < (0.1 if sparse else 0.9))
    features[:, 0] = np.arange(40)  # identifies nodes
    given_features = sp.csr_array(features) if sparse else features
    graph = Graph(make_graph().adjacency, given_features)
    views = Corruption(self_loops=2.0).bind(graph.adjacency, graph.features)
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float), 2.0)
    weight = torch.eye(12)
    orders = []
    for epoch in (0, 1, 0):
        sample = sampled(views, epoch)
        (view,) = sample.views
        np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
        np.testing.assert_allclose(view.convolve(weight), expected @ features, atol=1e-3)
        (corrupted,) = sample.corrupted
        assert corrupted.propagation is view.propagation
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


def orders(sample: Sample) -> list[list[int]]:
    """For each view, the node whose features each node has in the corrupted version."""
    permutations = []
    for view, corrupted in zip(sample.views, sample.corrupted, strict=True):
        moved = np.linalg.solve(dense(view.adjacency), dense(corrupted.adjacency))
        np.testing.assert_allclose(moved, np.rint(moved), atol=1e-2)
        assert (np.rint(moved).sum(axis=1) == 1).all()
        permutations.append(moved.argmax(axis=1).tolist())
    return permutations


@pytest.mark.parametrize("sparse", [True, False])
def test_all_corrupted_views_have_the_same_permutation(sparse: bool) -> None:
    graph = graph_of(sparse)
    views = two_matrices(graph)
    matrices = views.matrices(graph.adjacency)
    first, second = orders(sampled(views))
    assert first == second
    assert sorted(first) == list(range(30))
    assert sum(at != node for node, at in enumerate(first)) > 20
    assert orders(sampled(views))[0] == first
    assert orders(sampled(views, epoch=1))[0] != first
    assert orders(sampled(views, seed=4))[0] != first
    sample, weight = sampled(views), random_hidden(12)
    for view, corrupted, matrix in zip(sample.views, sample.corrupted, matrices, strict=True):
        rows = dense_features(graph) @ weight.numpy()
        exact = matrix.toarray().astype(float)
        np.testing.assert_allclose(view.convolve(weight), exact @ rows, atol=1e-4)
        np.testing.assert_allclose(corrupted.convolve(weight), exact @ rows[first], atol=1e-4)
        assert corrupted.features is view.features is sample.views[0].features


def test_contexts_of_all_views_are_powers_of_the_first_matrix() -> None:
    graph = make_graph(30)
    views = two_matrices(graph)
    sample, hidden = sampled(views), random_hidden(30)
    first = views.matrices(graph.adjacency)[0].toarray().astype(float)
    assert len(sample.views) == len(sample.corrupted) == 2
    for view in sample.views + sample.corrupted:
        for n in (1, 3):
            expected = np.linalg.matrix_power(first, n) @ hidden.numpy()
            np.testing.assert_allclose(view.contexts(Power(n))(hidden), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_all_views_and_their_corrupted_versions_have_one_feature_mask(sparse: bool) -> None:
    graph = graph_of(sparse)
    views = two_matrices(graph, mask_features=0.4)
    matrices = views.matrices(graph.adjacency)
    sample, weight = sampled(views), random_hidden(12)
    mask = sample.views[0].feature_mask
    assert mask is not None
    assert set(mask.tolist()) == {0.0, 1.0}
    rows = (dense_features(graph) * mask.numpy()) @ weight.numpy()
    order, _ = orders(sample)
    for view, corrupted, matrix in zip(sample.views, sample.corrupted, matrices, strict=True):
        exact = matrix.toarray().astype(float)
        np.testing.assert_allclose(view.convolve(weight), exact @ rows, atol=1e-4)
        np.testing.assert_allclose(corrupted.convolve(weight), exact @ rows[order], atol=1e-4)


def test_columns_are_masked_with_their_probability() -> None:
    """Within five standard deviations; a mask is a function of the random generator."""
    graph, epochs = make_graph(10), 500
    sampler = Corruption(self_loops=1.0, mask_features=0.3)
    views = sampler.bind(graph.adjacency, graph.features)
    masks = [sampled(views, epoch).views[0].feature_mask for epoch in (*range(epochs), 0)]
    kept = np.array([mask.numpy() for mask in masks if mask is not None])
    np.testing.assert_array_equal(kept[-1], kept[0])
    assert np.abs(0.7 - kept[:-1].mean(axis=0)).max() < 5 * np.sqrt(0.3 * 0.7 / epochs)


def test_with_probability_0_there_is_no_mask() -> None:
    sample = sampled(two_matrices(make_graph()))
    assert all(view.feature_mask is None for view in sample.views + sample.corrupted)


def diffusion_views(kind: Diffusion, **params: Any) -> DiffusionViews:
    chosen: dict[str, Any] = {
        "teleport": 0.2,
        "heat_time": 3.0,
        "neighbours": 8,
        "self_loops": 1.0,
    }
    return DiffusionViews(kind=kind, **chosen | params)


def slow_diffusion(kind: Diffusion, matrix: np.ndarray) -> np.ndarray:
    """`alpha (I - (1 - alpha) A)^-1` with alpha = 0.2, or `exp(t (A - I))` with t = 3."""
    identity = np.eye(len(matrix))
    if kind == "pagerank":
        return 0.2 * np.linalg.inv(identity - 0.8 * matrix)
    values, vectors = np.linalg.eigh(3 * (matrix - identity))
    return vectors @ np.diag(np.exp(values)) @ vectors.T


@pytest.mark.parametrize("self_loops", [1.0, 2.0])
@pytest.mark.parametrize("kind", get_args(Diffusion))
def test_the_second_view_is_the_diffusion_of_the_normalised_adjacency(
    kind: Diffusion, self_loops: float
) -> None:
    graph = make_graph(30)
    views = diffusion_views(kind, neighbours=30, self_loops=self_loops)
    first, second = (
        dense(view.adjacency) for view in sampled(views.bind(graph.adjacency, graph.features)).views
    )
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float), self_loops)
    np.testing.assert_allclose(first, expected, atol=1e-6)
    np.testing.assert_allclose(second, slow_diffusion(kind, expected), atol=1e-3)
    np.testing.assert_array_equal(second, second.T)


@pytest.mark.parametrize("kind", get_args(Diffusion))
def test_the_diffusion_has_the_chosen_coefficients_and_neighbours(kind: Diffusion) -> None:
    graph = make_graph(30)
    looped = with_self_loops(graph.adjacency, 1.0)
    coefficients = pagerank_coefficients(0.2) if kind == "pagerank" else heat_coefficients(3.0)
    _, matrix = diffusion_views(kind).matrices(graph.adjacency)
    assert (matrix != diffusion(looped, coefficients, 8)).nnz == 0
    _, fewer = diffusion_views(kind, neighbours=2).matrices(graph.adjacency)
    assert fewer.nnz < matrix.nnz


def test_the_diffusion_is_computed_once_for_a_graph_and_its_parameters() -> None:
    graph, other = make_graph(30), make_graph(30, seed=1)
    _, matrix = diffusion_views("pagerank").matrices(graph.adjacency)
    assert diffusion_views("pagerank").matrices(graph.adjacency)[1] is matrix
    changed = (
        diffusion_views("heat"),
        diffusion_views("pagerank", teleport=0.3),
        diffusion_views("pagerank", neighbours=4),
        diffusion_views("pagerank", self_loops=2.0),
    )
    for views in changed:
        assert (views.matrices(graph.adjacency)[1] != matrix).nnz > 0
    assert diffusion_views("pagerank").matrices(other.adjacency)[1] is not matrix


@pytest.mark.parametrize("sparse", [True, False])
def test_both_views_of_a_diffusion_are_embedded(sparse: bool) -> None:
    graph, weight = graph_of(sparse), random_hidden(12)
    views = diffusion_views("pagerank")
    embedded = views.inference_views(graph.adjacency, graph.features, "cpu")
    trained = sampled(views.bind(graph.adjacency, graph.features)).views
    assert len(embedded) == len(trained) == 2
    for view, other in zip(embedded, trained, strict=True):
        torch.testing.assert_close(view.convolve(weight), other.convolve(weight))
        torch.testing.assert_close(
            view.contexts(Power(2))(random_hidden(30)), other.contexts(Power(2))(random_hidden(30))
        )


def test_corruption_embeds_the_graph_itself() -> None:
    graph = make_graph(30)
    views = Corruption(self_loops=2.0)
    (view,) = views.inference_views(graph.adjacency, graph.features, "cpu")
    expected = reference.normalised_adjacency(graph.adjacency.toarray().astype(float), 2.0)
    np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
