from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.data import sbm_graph
from ugcl.data.splits import resplits, selection_split
from ugcl.evaluation import Candidate, FeatureControls
from ugcl.evaluation.controls import (
    CANDIDATES,
    DENSE_SCALINGS,
    FEATURE_CONTROLS,
    SCALINGS,
    STRUCTURE,
    leading,
    ridge_validation,
    structure_candidates,
)
from ugcl.views import structural_embedding


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Rows scaled to L2 norm 1, row by row; zeros stay."""
    return np.array([row / (np.linalg.norm(row) or 1.0) for row in matrix])


@pytest.mark.parametrize("sparse", [True, False])
def test_every_candidate_equals_its_formula(sparse: bool) -> None:
    graph = make_graph(30, sparse=sparse)
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray(), 2)
    plain = dense(graph.features)
    structure = [
        Candidate("structure", "tfidf", (1, 3), 0.3),
        Candidate("structure", "none", (), 1),
    ]
    found = dict(FeatureControls(graph, None).candidates((*CANDIDATES, *structure)))
    scalings = SCALINGS if sparse else DENSE_SCALINGS
    tried = [candidate for candidate in CANDIDATES if candidate.scaling in scalings]
    assert set(found) == {*tried, *structure}
    assert {candidate.scaling for candidate in tried} == set(scalings)
    assert {candidate.control for candidate in found} == set(FEATURE_CONTROLS)
    block = unit_rows(structural_embedding(graph.adjacency, STRUCTURE))
    for candidate, matrix in found.items():
        if candidate.scaling == "tfidf":
            weights = 1 + np.log((1 + 30) / (1 + (plain != 0).sum(axis=0)))
            scaled = plain * weights
        elif candidate.scaling == "standard":
            scaled = StandardScaler().fit_transform(plain)
        else:
            scaled = plain
        if candidate.scaling in ("l2", "tfidf"):
            scaled = unit_rows(scaled)
        powers = [np.linalg.matrix_power(adjacency, k) for k in candidate.steps]
        if candidate.control == "pca":  # no more columns than components: nothing is lost
            hidden = adjacency @ scaled
            expected = (hidden + powers[0] @ hidden) / 2
        elif candidate.control in ("raw", "smooth"):
            expected = powers[0] @ scaled
        else:
            blocks = [unit_rows(power @ scaled) for power in powers]
            if candidate.weight is not None:
                blocks.append(candidate.weight * block)
            expected = np.hstack(blocks)
        np.testing.assert_allclose(dense(matrix), expected, atol=1e-5)


@given(
    num_features=st.integers(2, 30),
    columns=st.integers(8, 40),
    sparse=st.booleans(),
    seed=st.integers(0, 5),
)
@settings(max_examples=15)
def test_no_control_is_wider_than_the_limit(
    num_features: int, columns: int, sparse: bool, seed: int
) -> None:
    graph = make_graph(25, num_features, sparse=sparse, seed=seed)
    controls = FeatureControls(graph, columns)
    structure = structure_candidates(Candidate("sign", "tfidf", (0, 1, 2)))
    for candidate, matrix in controls.candidates((*CANDIDATES, *structure)):
        assert matrix.shape[1] <= columns
        assert np.isfinite(dense(matrix)).all()
        if candidate.control == "sign":
            blocks = np.split(dense(matrix), len(candidate.steps), axis=1)
            norms = np.array([np.linalg.norm(block, axis=1) for block in blocks])
            assert ((abs(norms - 1) < 1e-4) | (norms == 0)).all()


@given(seed=st.integers(0, 10))
@settings(max_examples=10)
def test_blocks_do_not_depend_on_the_order_of_nodes(seed: int) -> None:
    graph = make_graph(25, seed=seed, classes=2)
    order = np.random.default_rng(seed).permutation(25)
    place = np.argsort(order)
    edges = place[np.argwhere(np.triu(graph.adjacency.toarray()))]
    moved = Graph.from_edges(edges, graph.features[order])
    wanted = [Candidate("sign", "tfidf", (0, 2)), Candidate("structure", "tfidf", (0, 2), 0.3)]
    first, second = (dict(FeatureControls(each).candidates(wanted)) for each in (graph, moved))
    for candidate in wanted:  # columns may differ by a rotation, inner products may not
        rows, others = dense(first[candidate])[order], dense(second[candidate])
        np.testing.assert_allclose(rows @ rows.T, others @ others.T, atol=2e-3)


def test_blocks_take_leading_directions() -> None:
    graph = make_graph(60, 40)
    (_, found), *_ = FeatureControls(graph, 12).candidates([Candidate("sign", "none", (0, 1, 2))])
    left, values, _ = np.linalg.svd(dense(graph.features), full_matrices=False)
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray(), 2)
    features = (left * values)[:, :4]
    for k, block in enumerate(np.split(found, 3, axis=1)):
        expected = unit_rows(np.linalg.matrix_power(adjacency, k) @ features)
        np.testing.assert_allclose(abs(block), abs(expected), atol=1e-3)  # signs are arbitrary


def test_a_graph_without_edges_has_all_controls() -> None:
    graph = Graph.from_edges([], np.eye(12), labels=np.arange(12) % 2)
    split = {"train": np.arange(6), "val": np.arange(6, 12)}
    chosen = FeatureControls(graph).choose([split])
    assert list(chosen) == list(FEATURE_CONTROLS)


def test_candidates_survive_json() -> None:
    for candidate in (*CANDIDATES, *structure_candidates(Candidate("sign", "none", (0, 1)))):
        values = json.loads(json.dumps(candidate.to_json()))
        assert Candidate.from_json(candidate.control, values) == candidate


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


def test_wide_features_are_reduced() -> None:
    graph = make_graph(40, num_features=12)
    candidate = Candidate("smooth", "l2", 3)
    assert dict(FeatureControls(graph, 8).candidates([candidate]))[candidate].shape == (40, 8)
    assert dict(FeatureControls(graph).candidates([candidate]))[candidate].shape == (40, 12)
    assert dict(FeatureControls(graph, None).candidates([candidate]))[candidate].shape == (40, 12)


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
        assert list(chosen[-1]) == list(FEATURE_CONTROLS)
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
