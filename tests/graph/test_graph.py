from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import make_graph
from graph_helpers import TRIANGLE, X, assert_same
from ugcl import Graph


def test_counts() -> None:
    graph = Graph.from_edges(TRIANGLE, X, labels=[0, 1, 2, -1])
    assert (graph.num_nodes, graph.num_edges) == (4, 3)
    assert (graph.num_features, graph.num_classes) == (4, 3)
    assert repr(graph) == "<Graph unnamed: 4 nodes, 3 edges, 4 dense features, 3 classes>"


def test_is_immutable() -> None:
    graph = Graph.from_edges(TRIANGLE, X, labels=[0, 1, 2, 0], splits={"train": [0]})
    with pytest.raises(AttributeError):
        graph.features = X
    for array in (graph.features, graph.adjacency.data, graph.labels, graph.splits["train"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        graph.splits["val"] = np.array([1])


def test_does_not_touch_or_follow_the_arrays_it_was_given() -> None:
    features, labels = X.astype(np.float32), np.array([0, 1, 2, 0])
    sparse = sp.csr_array(features)
    graph = Graph.from_edges(TRIANGLE, features, labels=labels)
    other = Graph.from_edges(TRIANGLE, sparse)
    features[0, 0] = labels[0] = sparse.data[0] = 7
    assert graph.features[0, 0] == other.features[0, 0] == 1
    assert graph.labels is not None
    assert graph.labels[0] == 0


def test_sparse_features_stay_sparse() -> None:
    graph = Graph.from_edges(TRIANGLE, sp.coo_matrix(X))
    assert sp.issparse(graph.features)
    assert graph.features.dtype == np.float32


def test_weights() -> None:
    assert not Graph.from_edges(TRIANGLE, X).weighted
    graph = Graph.from_edges(TRIANGLE, X, weights=[1, 2, 3])
    assert graph.weighted
    assert graph.adjacency[1, 2] == graph.adjacency[2, 1] == 2
    assert Graph(sp.csr_array(2 * (1 - X)), X).weighted
    assert not Graph(sp.csr_array(1 - X), X).weighted


def test_copies_and_pickles() -> None:
    graph = make_graph(ids=[f"n{i}" for i in range(40)])
    assert_same(graph, copy.deepcopy(graph))
    assert_same(graph, pickle.loads(pickle.dumps(graph)))


def test_ids_of_any_kind() -> None:
    for names, kept in (
        ([1, "a", (1, 2), None], ["1", "a", "(1, 2)", "None"]),
        ([2**53 + 1, 2**53, 5, 6], [2**53 + 1, 2**53, 5, 6]),
        ([(0, 0), (0, 1), (1, 0), (1, 1)], ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]),
    ):
        ids = Graph.from_edges(TRIANGLE, X, ids=names).ids
        assert ids is not None
        assert ids.tolist() == kept


def test_fingerprint_sees_edges_weights_and_features() -> None:
    base = Graph.from_edges(TRIANGLE, X)
    assert base.fingerprint == Graph.from_edges(TRIANGLE[::-1], X, labels=[0, 1, 1, 1]).fingerprint
    others = [
        Graph.from_edges(TRIANGLE[:2], X),
        Graph.from_edges(TRIANGLE, X, weights=[1, 2, 1]),
        Graph.from_edges(TRIANGLE, X * 2),
    ]
    assert len({graph.fingerprint for graph in [base, *others]}) == 4


def test_one_node_and_no_edges_can_be_built() -> None:
    assert Graph.from_edges([], [[1.0, 2.0]]).num_edges == 0
