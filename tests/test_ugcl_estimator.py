"""The estimator `UGCL`: scikit-learn's conventions, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import make_graph
from ugcl import UGCL, Graph, UGCLError

SMALL = {"scope": 2, "hidden": 8, "sample": 30, "negatives": 10, "epochs": 12, "lr": 0.01}


def test_the_estimator_refuses_invalid_arguments(graph: Graph) -> None:
    with pytest.raises(UGCLError, match="fit takes a Graph, not ndarray"):
        UGCL().fit(np.eye(3))
    with pytest.raises(UGCLError, match="`seed` must be an integer of at least 0, not -1"):
        UGCL(seed=-1).fit(graph)
    with pytest.raises(UGCLError, match="no device 'tpu'"):
        UGCL(device="tpu").fit(graph)


def test_the_estimator_refuses_graphs_with_nothing_to_contrast() -> None:
    with pytest.raises(UGCLError, match="has one node"):
        UGCL().fit(Graph.from_edges([], [[1.0]]))
    with pytest.raises(UGCLError, match="has no edges"):
        UGCL().fit(Graph.from_edges([], [[1.0], [2.0]]))


def test_the_estimator_follows_scikit_learn(graph: Graph) -> None:
    estimator = UGCL("paper", scope=3, hidden=8, epochs=2)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(scope=4).scope == 4
    assert estimator.scope == 3
    with pytest.raises(NotFittedError, match="call fit"):
        estimator.embed(graph)
    assert estimator.fit(graph) is estimator
    assert estimator.n_features_in_ == graph.num_features
    assert repr(estimator).startswith("UGCL(")


def test_unseen_graphs_can_be_embedded(graph: Graph) -> None:
    estimator = UGCL(**SMALL).fit(graph)
    assert estimator.embed(make_graph(25, seed=9)).shape == (25, 8)
    with pytest.raises(UGCLError, match="5 features but training saw 12"):
        estimator.embed(make_graph(25, num_features=5))
