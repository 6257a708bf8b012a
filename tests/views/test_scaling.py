from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from conftest import make_graph
from ugcl import Embedder, Graph
from ugcl._utils.linalg import dense_rows
from ugcl.engine import fit
from ugcl.scope import normalised_adjacency
from ugcl.typing import FeatureScaling
from ugcl.views import densify, fit_scaling, idf_weights, scale_features, smooth_features
from ugcl.views.scaling import MAX_DENSITY, is_counts

statistics = partial(fit_scaling, scaling="standard")


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaling", get_args(FeatureScaling))
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
        "standard": StandardScaler(with_mean=not sparse).fit_transform(dense),
    }[scaling]
    np.testing.assert_allclose(scaled.toarray() if sparse else scaled, expected, rtol=1e-6)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaling", ["tfidf", "standard"])
def test_another_graph_is_scaled_by_the_statistics_of_the_first(scaling: str, sparse: bool) -> None:
    graph = make_graph(30, sparse=sparse)
    fitted = fit("ugcl", graph, device="cpu", hidden=4, epochs=1, feature_scaling=scaling)
    part = Graph.from_edges([[0, 1]], graph.features[:10])
    expected = scale_features(graph.features, scaling)[:10]
    scaled = fitted.model.scaled(part)
    np.testing.assert_allclose(dense_rows(scaled), dense_rows(expected), rtol=1e-6)
    assert abs(scaled - scale_features(part.features, scaling)).max() > 0.01


@pytest.mark.parametrize(
    ("method", "params"), [("ugcl", {"hidden": 4, "epochs": 1}), ("smooth", {})]
)
def test_means_and_deviations_are_saved_with_the_model(
    method: str, params: dict[str, int], tmp_path: Path
) -> None:
    graph, other = make_graph(30, sparse=False), make_graph(20, sparse=False, seed=3)
    settings: dict[str, Any] = {"scope": 1, "feature_scaling": "standard", **params}
    estimator = Embedder(method, device="cpu", **settings).fit(graph)
    estimator.save(tmp_path / "model.safetensors")
    loaded = Embedder.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.embed(other), estimator.embed(other))
    assert not np.allclose(loaded.embed(other), clone(estimator).fit_embed(other), atol=1e-3)


@pytest.mark.parametrize("sparse", [True, False])
def test_constant_columns_become_zeros(sparse: bool) -> None:
    """Also 0.1, whose mean is rounded, and in a new graph, where the column may vary."""
    dense = np.tile(np.array([0.1, 0, -7e30, 1e-30], dtype=np.float32), (1001, 1))
    dense = np.hstack([dense, np.arange(1001, dtype=np.float32)[:, None]])
    kind = sp.csr_array if sparse else np.array
    scaled = dense_rows(scale_features(kind(dense), "standard"))
    np.testing.assert_array_equal(scaled[:, :4], 0)
    assert scaled[:, 4].std() == pytest.approx(1)
    new = dense_rows(scale_features(kind(dense[:9] + 3), "standard", statistics(kind(dense))))
    np.testing.assert_array_equal(new[:, :4], 0)
    assert dense_rows(scale_features(kind(dense[:1]), "standard")).any() == 0


def test_large_means_do_not_cost_accuracy() -> None:
    rng = np.random.default_rng(0)
    features = (rng.normal(size=(20_000, 3)) * [1, 30, 1e-4] + [1e6, 1e4, 10]).astype(np.float32)
    scaled = scale_features(features, "standard")
    exact = features.astype(np.longdouble)
    exact = (exact - exact.mean(axis=0)) / exact.std(axis=0)
    np.testing.assert_allclose(scaled, exact.astype(np.float64), rtol=1e-6, atol=1e-7)


def test_columns_are_standardised_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    features = make_graph(30, sparse=False).features
    whole = scale_features(features, "standard")
    monkeypatch.setattr("ugcl.views.scaling.BLOCK_SIZE", 50)
    np.testing.assert_allclose(scale_features(features, "standard"), whole, rtol=1e-6)


def test_sparse_features_are_centred_by_a_model_of_dense_ones() -> None:
    graph = make_graph(30)
    dense = graph.features.toarray()
    fitted = statistics(dense)
    of_sparse = scale_features(graph.features, "standard", fitted)
    np.testing.assert_array_equal(of_sparse, scale_features(dense, "standard", fitted))


@given(
    seed=st.integers(0, 1000),
    factors=st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
    shifts=st.lists(st.floats(-100, 100), min_size=3, max_size=3),
)
def test_units_of_columns_do_not_count(
    seed: int, factors: list[float], shifts: list[float]
) -> None:
    """Shifts are in deviations; float32 keeps the rest."""
    features = np.random.default_rng(seed).normal(size=(40, 3))
    in_other_units = ((features + shifts) * factors).astype(np.float32)
    np.testing.assert_allclose(
        scale_features(in_other_units, "standard"),
        scale_features(features.astype(np.float32), "standard"),
        atol=1e-4,
    )
    sparse = sp.csr_array(features * (features > 0.5), dtype=np.float32)
    rescaled = (sparse @ sp.diags_array(np.array(factors, dtype=np.float32))).tocsr()
    np.testing.assert_allclose(
        scale_features(rescaled, "standard").toarray(),
        scale_features(sparse, "standard").toarray(),
        rtol=1e-5,
    )


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


# Counts, for the automatic choice.


def with_density(density: float, size: int = 20) -> np.ndarray:
    """A matrix of counts with this fraction of entries that are not zero."""
    entries = np.zeros(size * size, dtype=np.float32)
    entries[: round(density * size * size)] = 3
    return entries.reshape(size, size)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (with_density(0.1), True),
        (with_density(0.5), True),
        (with_density(0.51), False),
        (with_density(1), False),
        (-with_density(0.1), False),
        (with_density(0), True),
        (np.eye(6, dtype=np.float32), True),
        (np.ones((5, 1), dtype=np.float32), False),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_counts_are_never_negative_and_mostly_zero(
    features: np.ndarray, expected: bool, kind: type
) -> None:
    assert is_counts(kind(features)) is expected


def test_one_negative_value_is_enough_and_stored_zeros_count_as_zeros() -> None:
    features = with_density(0.2)
    features[0, 0] = -1e-3
    assert not is_counts(features)
    assert not is_counts(sp.csr_array(features))
    stored = sp.csr_array(np.ones((10, 10), dtype=np.float32))
    stored.data[:80] = 0
    assert stored.nnz == 100
    assert is_counts(stored)
