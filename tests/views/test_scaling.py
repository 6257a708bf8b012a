from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from conftest import make_graph
from ugcl import Graph
from ugcl.engine import fit
from ugcl.scope import normalised_adjacency
from ugcl.views import densify, idf_weights, scale_features, smooth_features
from ugcl.views.scaling import MAX_DENSITY


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaling", ["none", "row", "l2", "tfidf"])
def test_scaled_features_equal_the_formula(scaling: str, sparse: bool) -> None:
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


def test_tfidf_of_another_graph_uses_the_weights_of_the_first() -> None:
    graph = make_graph(30)
    fitted = fit("ugcl", graph, device="cpu", hidden=4, epochs=1, feature_scaling="tfidf")
    part = Graph.from_edges([[0, 1]], graph.features[:10])
    expected = scale_features(graph.features, "tfidf")[:10]
    scaled = fitted.model.scaled(part)
    np.testing.assert_allclose(scaled.toarray(), expected.toarray(), rtol=1e-6)
    assert abs(scaled - scale_features(part.features, "tfidf")).max() > 0.01


@pytest.mark.parametrize("sparse", [True, False])
def test_weights_of_tfidf_are_those_of_scikit_learn(sparse: bool) -> None:
    features = make_graph(30, sparse=sparse).features
    weights = idf_weights(features)
    assert weights.dtype == np.float32
    expected = TfidfTransformer().fit(sp.csr_array(features)).idf_
    np.testing.assert_allclose(weights, expected, rtol=1e-6)


@pytest.mark.parametrize("entries", [14, 15, 16])
def test_only_matrices_with_many_entries_become_dense(entries: int) -> None:
    flat = np.zeros(100, dtype=np.float32)
    flat[:entries] = 1
    matrix = sp.csr_array(flat.reshape(10, 10))
    densified = densify(matrix)
    assert MAX_DENSITY == 0.15
    if entries <= 15:
        assert densified is matrix
    else:
        np.testing.assert_array_equal(densified, matrix.toarray())
        assert densify(densified) is densified


@pytest.mark.parametrize("sparse", [True, False])
def test_smoothed_features_are_powers_of_the_adjacency_times_x(sparse: bool) -> None:
    graph = make_graph(30, sparse=sparse)
    adjacency = normalised_adjacency(graph.adjacency)
    smoothed = dict(smooth_features(adjacency, graph.features, [0, 1, 2, 5]))
    assert list(smoothed) == [0, 1, 2, 5]
    assert smoothed[0] is graph.features
    rows = graph.features.toarray() if sparse else graph.features
    for k, features in smoothed.items():
        expected = np.linalg.matrix_power(adjacency.toarray().astype(float), k) @ rows
        smooth = features.toarray() if sp.issparse(features) else features
        np.testing.assert_allclose(smooth, expected, atol=1e-5)
    assert not sp.issparse(smoothed[5])
