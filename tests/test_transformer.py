from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from conftest import make_graph
from ugcl import (
    GRACE,
    UGCL,
    Embedder,
    GCNClassifier,
    Graph,
    MultiScope,
    NodeTransformer,
    RawFeatures,
    SmoothedFeatures,
    UGCLError,
    transformer,
)

SMALL = UGCL(hidden=8, sample=30, negatives=10, epochs=5, scope=2)

ONE_COLUMN = "the check makes X one column of ids, as the tags say, and then indexes it as a table"
DO_NOT_APPLY = {
    "check_dont_overwrite_parameters": ONE_COLUMN,
    "check_f_contiguous_array_estimator": ONE_COLUMN,
    "check_transformer_general": ONE_COLUMN,
    "check_methods_sample_order_invariance": ONE_COLUMN,
    "check_methods_subset_invariance": ONE_COLUMN,
    "check_fit2d_1sample": ONE_COLUMN,
    "check_fit2d_1feature": ONE_COLUMN,
    "check_dict_unchanged": ONE_COLUMN,
    "check_estimator_sparse_array": "ids are no sparse matrix",
    "check_positive_only_tag_during_fit": "the check's negative numbers are ids of no node",
}


@contextmanager
def counted_fits() -> Iterator[list[Embedder]]:
    """The estimators that are trained."""
    fits: list[Embedder] = []
    train = Embedder.fit

    def record(self: Embedder, *arguments: Any, **named: Any) -> Embedder:
        fits.append(self)
        return train(self, *arguments, **named)

    with patch.object(Embedder, "fit", record):
        yield fits


def words(graph: Graph) -> np.ndarray:
    return np.array([f"node {i}" for i in range(graph.num_nodes)])


@pytest.fixture
def named() -> Graph:
    graph = make_graph(60)
    return make_graph(60, ids=words(graph))


def test_scikit_learns_own_checks_pass_where_they_apply() -> None:
    estimator = NodeTransformer(make_graph(), SMALL)
    found = check_estimator(
        estimator, on_skip=None, on_fail=None, expected_failed_checks=DO_NOT_APPLY
    )
    failed = [
        f"{each['check_name']}: {each['exception']}" for each in found if each["status"] == "failed"
    ]
    assert failed == []
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(DO_NOT_APPLY)
    assert sum(each["status"] == "passed" for each in found) >= 25


def test_the_page_lists_the_checks_that_do_not_apply() -> None:
    page = (Path(__file__).parents[1] / "docs/own-data.md").read_text("utf-8")
    for check, reason in DO_NOT_APPLY.items():
        assert f"`{check}`" in page
        assert reason in " ".join(page.split())


def test_rows_are_those_of_the_embedder_whatever_the_order(named: Graph) -> None:
    expected = clone(SMALL).fit(named).embed(named)
    ids = words(named)
    fitted = NodeTransformer(named, SMALL).fit(ids[:3])
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_array_equal(fitted.transform(ids[order]), expected[order])
    np.testing.assert_array_equal(fitted.transform(["node 7", "node 7"]), expected[[7, 7]])
    np.testing.assert_array_equal(fitted.transform(ids[[4]]), expected[[4]])
    before = copy.copy(fitted.__dict__)
    fitted.transform(ids)
    assert fitted.__dict__ == before


def test_ids_in_any_container(named: Graph) -> None:
    fitted = NodeTransformer(named, SMALL).fit(words(named))
    expected = fitted.transform(["node 2", "node 1"])
    series = pd.Series(["node 2", "node 1"])
    for ids in (series, series.to_frame(), series.to_numpy()[:, None], tuple(series)):
        np.testing.assert_array_equal(fitted.transform(ids), expected)


@pytest.mark.parametrize("kind", [np.int32, np.float64, np.str_])
def test_numbers_as_ids(kind: type) -> None:
    graph = make_graph(ids=np.arange(40)[::-1] * 3)
    fitted = NodeTransformer(graph, SMALL).fit([0])
    rows = fitted.transform(np.array([117, 0]).astype(kind))
    np.testing.assert_array_equal(rows, fitted.embeddings_[[0, 39]])


def test_a_pipeline_with_a_classifier_cross_validates_and_trains_once(named: Graph) -> None:
    pipeline = make_pipeline(NodeTransformer(named, SMALL), LogisticRegression())
    with counted_fits() as fits:
        scores = cross_val_score(pipeline, words(named), named.labels, cv=4)
    assert scores.shape == (4,)
    assert scores.mean() > 0.5
    assert len(fits) == 1


def test_settings_of_the_estimator_can_be_searched(named: Graph) -> None:
    steps = [("nodes", NodeTransformer(named, SMALL)), ("classify", LogisticRegression())]
    grid = {"nodes__estimator__hidden": [4, 8, 16], "classify__C": [0.1, 1.0]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3)
    with counted_fits() as fits:
        search.fit(words(named), named.labels)
    assert [fit.hidden for fit in fits] == [4, 8, 16]  # once for all folds and classifiers
    best = search.best_estimator_["nodes"]
    assert best.estimator_.hidden == search.best_params_["nodes__estimator__hidden"]
    assert best.embeddings_.shape == (60, best.estimator_.hidden)
    assert SMALL.hidden == 8
    assert not hasattr(SMALL, "fitted_")


def test_old_embeddings_make_room_for_new_ones(named: Graph) -> None:
    size = 60 * 8 * 4
    with patch.object(transformer, "MAX_CACHED", 2 * size), counted_fits() as fits:
        for seed in (0, 1, 0, 2, 1, 0):
            NodeTransformer(named, clone(SMALL).set_params(seed=seed)).fit(words(named))
    assert [fit.seed for fit in fits] == [0, 1, 2, 0]
    with patch.object(transformer, "MAX_CACHED", 0), counted_fits() as fits:
        for seed in (4, 4, 5, 4):
            NodeTransformer(named, clone(SMALL).set_params(seed=seed)).fit(words(named))
    assert [fit.seed for fit in fits] == [4, 5, 4]


def test_estimators_can_be_searched(named: Graph) -> None:
    pipeline = make_pipeline(NodeTransformer(named), LogisticRegression())
    choices = [RawFeatures(), GRACE(epochs=2, hidden=8), Embedder("smooth", scope=2)]
    search = GridSearchCV(pipeline, {"nodetransformer__estimator": choices}, cv=2)
    search.fit(words(named), named.labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_fitted_estimator_is_an_attribute_and_a_copy(named: Graph) -> None:
    first, second = (NodeTransformer(named, SMALL).fit(words(named)) for _ in range(2))
    assert isinstance(first.estimator_, UGCL)
    assert first.estimator_.loss_ == second.estimator_.loss_
    first.estimator_.set_params(hidden=4).fit(named)
    assert second.estimator_.embed(named).shape == (60, 8)
    third = NodeTransformer(named, SMALL).fit(words(named))
    assert third.estimator_.embed(named).shape == (60, 8)


def test_the_default_estimator_is_multiscope(named: Graph) -> None:
    with counted_fits() as fits:
        NodeTransformer(named).set_params(estimator=None).fit(words(named))
    assert [type(fit) for fit in fits] == [MultiScope]
    with pytest.raises(ValueError, match="Invalid parameter 'scope'"):
        NodeTransformer(named).set_params(scope=3)


def test_a_clone_shares_the_graph_and_not_the_fit(named: Graph) -> None:
    fitted = NodeTransformer(named, SMALL).fit(words(named))
    other = clone(fitted)
    assert other.graph is named
    assert repr(other.get_params()) == repr(fitted.get_params())
    with pytest.raises(NotFittedError):
        other.transform(words(named))


def test_what_is_shared_cannot_be_changed(named: Graph) -> None:
    fitted = NodeTransformer(named, SMALL).fit(words(named))
    with pytest.raises(ValueError, match="read-only"):
        fitted.embeddings_ *= 0
    fitted.transform(words(named))[:] = 0


@pytest.mark.parametrize("estimator", [SMALL, GRACE(epochs=1, hidden=8), SmoothedFeatures()])
def test_nothing_is_kept_of_a_graph_that_is_gone(estimator: Embedder) -> None:
    graph = make_graph(seed=99)
    NodeTransformer(graph, estimator).fit([0])
    assert graph in transformer._cache
    left = weakref.ref(graph)
    del graph
    gc.collect()
    assert left() is None
    assert all(kept.num_nodes for kept in transformer._cache)


def test_frames_come_out_where_they_are_asked_for(named: Graph) -> None:
    fitted = NodeTransformer(named, SMALL).set_output(transform="pandas").fit(words(named))
    frame = fitted.transform(pd.Series(["node 3", "node 1"], index=["a", "b"]))
    assert list(frame.columns) == [f"nodetransformer{i}" for i in range(8)]
    assert list(frame.index) == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["node 1", "nobody"], r"1 of 2 ids are not in the graph \(nobody\)"),
        ([["node 1", "node 2"]], "one id for each row"),
        ([], "has no ids"),
        (sp.eye_array(3), "sparse"),
    ],
)
def test_what_is_no_id_is_reported(named: Graph, ids: object, message: str) -> None:
    fitted = NodeTransformer(named, SMALL).fit(words(named))
    with pytest.raises(UGCLError, match=message):
        fitted.transform(ids)


def test_numbers_that_are_not_whole_are_reported(graph: Graph) -> None:
    fitted = NodeTransformer(graph, SMALL).fit([0])
    for ids in ([0.5], ["x"], [None], [True], np.array([1.7], dtype=object)):
        with pytest.raises(UGCLError, match="ids are integers"):
            fitted.transform(ids)


def test_what_is_no_graph_and_what_learns_from_labels_is_refused(graph: Graph) -> None:
    with pytest.raises(UGCLError, match="takes a Graph, not str"):
        NodeTransformer("citeseer").fit([0])
    for estimator in (GCNClassifier(), Embedder("gcn")):
        with pytest.raises(UGCLError, match="gcn learns from labels"):
            NodeTransformer(graph, estimator).fit([0])
    for strange in ("grace", GRACE, LogisticRegression()):
        with pytest.raises(UGCLError, match="must be an estimator of ugcl, for example GRACE"):
            NodeTransformer(graph, strange).fit([0])
