from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import reference
from conftest import make_graph
from ugcl.data import sbm_graph
from ugcl.data.splits import resplits, selection_split
from ugcl.evaluation import CONTROLS, Candidate, FeatureControls
from ugcl.evaluation.controls import DENSE_SCALINGS, SCALINGS, SMOOTHING, leading, ridge_validation


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("sparse", [True, False])
def test_every_candidate_equals_its_formula(sparse: bool) -> None:
    graph = make_graph(30, sparse=sparse)
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray(), 2)
    plain = dense(graph.features)
    found = dict(FeatureControls(graph).candidates())
    scalings = SCALINGS if sparse else DENSE_SCALINGS
    assert {candidate.scaling for candidate in found} == set(scalings)
    assert len(found) == len(scalings) * sum(map(len, SMOOTHING.values()))
    assert {candidate.control for candidate in found} == set(CONTROLS) - {"untrained"}
    for candidate, matrix in found.items():
        if candidate.scaling == "tfidf":
            weights = 1 + np.log((1 + 30) / (1 + (plain != 0).sum(axis=0)))
            scaled = plain * weights
        elif candidate.scaling == "standard":
            scaled = StandardScaler().fit_transform(plain)
        else:
            scaled = plain
        if candidate.scaling in ("l2", "tfidf"):
            scaled = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
        power = np.linalg.matrix_power(adjacency, candidate.k)
        if candidate.control == "pca":  # no more columns than components: nothing is lost
            hidden = adjacency @ scaled
            expected = (hidden + power @ hidden) / 2
        else:
            expected = power @ scaled
        np.testing.assert_allclose(dense(matrix), expected, atol=1e-5)


def test_only_what_is_wanted_is_made() -> None:
    wanted = frozenset({Candidate("smooth", "l2", 5), Candidate("pca", "none", 2)})
    controls = FeatureControls(make_graph(30))
    everything = dict(controls.candidates())
    some = dict(controls.candidates(wanted))
    assert set(some) == wanted
    for candidate, matrix in some.items():
        np.testing.assert_array_equal(dense(matrix), dense(everything[candidate]))


@pytest.mark.parametrize("shape", [(60, 20), (60, 2100)])
@pytest.mark.parametrize("sparse", [True, False])
def test_leading_directions_are_the_best_of_their_number(
    shape: tuple[int, int], sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    low = rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1]))
    matrix = low + 0.01 * rng.normal(size=shape)
    matrix[rng.random(shape) < 0.8] = 0
    found = leading(sp.csr_array(matrix) if sparse else matrix, 6)
    exact = np.linalg.svd(matrix, compute_uv=False)[:6]
    assert found.shape == (60, 6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), exact, rtol=0.02)


def test_wide_features_are_reduced_only_where_probes_would_suffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = make_graph(40, num_features=12)
    split = {"train": np.arange(20)}
    assert FeatureControls.for_split(graph, split).max_columns is None
    monkeypatch.setattr("ugcl.evaluation.controls.MAX_COLUMNS", 8)
    assert FeatureControls.for_split(graph, split).max_columns == 8
    assert FeatureControls.for_split(graph, {"train": np.arange(5)}).max_columns is None
    matrices = dict(FeatureControls(graph, 8).candidates())
    assert matrices[Candidate("smooth", "l2", 3)].shape == (40, 8)


@pytest.mark.parametrize("width", [4, 200])
def test_the_screening_is_ridge_regression(width: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=90)
    matrix = rng.normal(size=(90, width)).astype(np.float32)
    matrix[np.arange(90), labels] += 1.5
    split = {"train": np.arange(40), "val": np.arange(40, 90)}
    best = 0.0
    for normalised in (False, True):
        rows = matrix / np.linalg.norm(matrix, axis=1, keepdims=True) if normalised else matrix
        train, targets = rows[:40].astype(float), np.eye(3)[labels[:40]]
        centred = train - train.mean(axis=0)
        for penalty in (1e-4, 1e-3, 1e-2, 1e-1):
            shift = penalty * (centred**2).sum() * np.eye(width)
            weights = np.linalg.solve(
                centred.T @ centred + shift, centred.T @ (targets - targets.mean(axis=0))
            )
            predicted = (rows[40:] - train.mean(axis=0)) @ weights + targets.mean(axis=0)
            best = max(best, 100 * float((predicted.argmax(axis=1) == labels[40:]).mean()))
    assert ridge_validation(matrix, labels, split) == pytest.approx(best, abs=2.1)


def test_the_choice_smooths_the_more_the_noisier_the_features() -> None:
    clear, noisy = (
        sbm_graph(nodes=600, homophily=0.95, classes=3, features=8, signal=signal)
        for signal in (8.0, 0.3)
    )
    chosen = []
    for graph in (clear, noisy):
        assert graph.labels is not None
        redrawn = resplits(graph.labels, selection_split(graph), 3)
        chosen.append(FeatureControls(graph).choose(redrawn))
        assert list(chosen[-1]) == ["raw", "smooth", "pca"]
        assert all(candidate.control == name for name, candidate in chosen[-1].items())
    assert chosen[0]["smooth"].k < chosen[1]["smooth"].k


def test_the_choice_does_not_see_test_nodes() -> None:
    graph = make_graph(120)
    assert graph.labels is not None
    redrawn = resplits(graph.labels, dict(graph.splits), 3)
    labels = graph.labels.copy()
    labels[graph.splits["test"]] = np.random.default_rng(0).permutation(
        labels[graph.splits["test"]]
    )
    other = make_graph(120, labels=labels)
    assert FeatureControls(graph).choose(redrawn) == FeatureControls(other).choose(redrawn)
