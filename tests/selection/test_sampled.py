from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl import Graph
from ugcl._utils.linalg import ridge_path
from ugcl.data import sbm_graph
from ugcl.selection import Readouts, choose_scope, label_free, masked, sampled
from ugcl.selection.masked import masked_features
from ugcl.selection.sampled import Moments, group_columns, sampled_masked_features
from ugcl.selection.stopping import one_standard_error_rule


def sbm(homophily: float, degree: float, nodes: int = 6000) -> Graph:
    return sbm_graph(
        nodes=nodes, degree=degree, homophily=homophily, features=32, signal=5, classes=4
    )


def test_the_score_is_that_of_ridge_regression_on_the_rows() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 20)).astype(np.float32)
    rows = (features @ rng.normal(size=(20, 20)) + 3).astype(np.float32)
    features -= features.mean(axis=0)
    gram = (features.T @ features).astype(np.float64)
    repeat = sampled._Repeat.sample(np.arange(20), features, gram, rng)
    folds = np.array_split(np.arange(400), sampled.NUM_FOLDS)
    train = np.concatenate([fold for fold, used in zip(folds, repeat.train, strict=True) if used])
    test = np.setdiff1d(np.arange(400), train)
    targets = (features[:, ~repeat.visible] @ repeat.targets).astype(np.float32)
    seen = rows[:, repeat.visible]
    total = ((targets[test] - targets[train].mean(axis=0)) ** 2).sum()
    errors = [
        ((targets[test] - predicted) ** 2).sum()
        for predicted in ridge_path(seen[train], targets[train], seen[test])
    ]
    score = repeat.score(Moments.of(rows, rows, features))
    assert score == pytest.approx(1 - min(errors) / total, abs=1e-4)


def test_independent_errors_cancel_in_the_gram_matrix() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50_000, 3)).astype(np.float32)
    one, two = (rows + rng.normal(size=rows.shape).astype(np.float32) for _ in range(2))
    exact = Moments.of(rows, rows, rows).zz.sum(axis=0)
    np.testing.assert_allclose(Moments.of(one, two, rows).zz.sum(axis=0), exact, atol=1500)
    assert Moments.of(one, one, rows).zz[:, 0, 0].sum() > 1.8 * exact[0, 0]


@pytest.mark.parametrize(
    ("homophily", "degree", "tolerance"), [(0.9, 20, 1), (0.7, 20, 0), (0.25, 8, 0)]
)
def test_the_sample_gives_the_choice_of_the_whole_graph(
    homophily: float, degree: float, tolerance: int
) -> None:
    readouts = Readouts(sbm(homophily, degree))
    whole = one_standard_error_rule(masked_features(readouts))[1]
    chosen = one_standard_error_rule(sampled_masked_features(readouts))[1]
    assert abs(chosen - whole) <= tolerance  # the maximum is flat at a homophily of 0.9


def test_scores_before_the_stop_are_those_of_all_scores() -> None:
    readouts = Readouts(sbm(0.7, 20, 2000), max_n=8)
    stopped = sampled_masked_features(readouts)
    every = sampled_masked_features(readouts, stop=False)
    assert stopped.shape[1] < every.shape[1] == 9
    np.testing.assert_array_equal(stopped, every[:, : stopped.shape[1]])


def test_wide_features_are_masked_in_groups() -> None:
    rng = np.random.default_rng(0)
    features = sp.random_array((500, 900), density=0.1, rng=rng, format="csr", dtype=np.float32)
    projection, groups = group_columns(features, np.random.default_rng(1))
    assert projection is not None
    assert projection.shape == (900, sampled.MAX_COLUMNS) == (900, groups.size)
    used = np.array([[projection[:, groups == g].any(axis=1)] for g in range(groups.max() + 1)])
    assert (used.sum(axis=0) == 1).all()  # every feature is in one group
    np.testing.assert_allclose(projection.T @ projection, np.eye(groups.size), atol=1e-4)
    nothing, own = group_columns(features[:, :20], rng)
    assert nothing is None
    assert own.tolist() == list(range(20))


@pytest.mark.parametrize("wide", [False, True])
def test_large_graphs_are_sampled(monkeypatch: pytest.MonkeyPatch, wide: bool) -> None:
    graph = sbm(0.9, 20, 2000)
    features = graph.features
    if wide:
        features = np.hstack([features, np.random.default_rng(0).normal(size=(2000, 300))])
    graph = Graph(graph.adjacency, sp.csr_array(features) if wide else features)
    monkeypatch.setattr(masked, "LARGE_GRAPH", 1000)
    monkeypatch.setattr(label_free, "LARGE_GRAPH", 1000)
    monkeypatch.setattr(label_free, "SAMPLE", 800)
    monkeypatch.setattr(Readouts, "for_each_n", lambda *a, **k: pytest.fail("whole graph"))
    choice = choose_scope(graph, max_n=10)
    assert choice.n is not None
    assert 2 <= choice.n <= 5
    label_free._cache.clear()
    assert choose_scope(graph, max_n=10) == choice


def test_held_out_links_of_large_graphs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).normal(size=(2000, 16))
    graph = Graph(sbm(0.9, 8, 2000).adjacency, noise)
    sizes = []
    scored = label_free.held_out_links
    monkeypatch.setattr(masked, "LARGE_GRAPH", 1000)
    monkeypatch.setattr(label_free, "LARGE_GRAPH", 1000)
    monkeypatch.setattr(label_free, "SAMPLE", 800)
    monkeypatch.setattr(
        label_free, "held_out_links", lambda r: sizes.append(r.graph.num_nodes) or scored(r)
    )
    assert "the features do not predict one another" in choose_scope(graph).why
    assert sizes == [800]
