from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from conftest import make_graph
from ugcl import Graph, load_graph, read_graph
from ugcl.check.graph_warnings import graph_warnings, too_many_classes
from ugcl.data import sbm_graph


def warnings_of(graph: Graph) -> tuple[str, ...]:
    count, membership = sp.csgraph.connected_components(graph.adjacency, directed=False)
    return graph_warnings(graph, np.bincount(membership, minlength=count))


def test_data_sets_have_no_warnings() -> None:
    assert warnings_of(load_graph("citeseer")) == ()
    assert warnings_of(sbm_graph(nodes=500)) == ()


def with_features(features: np.ndarray, **optional: object) -> Graph:
    return Graph(make_graph(60).adjacency, features, **optional)


def test_the_larger_of_two_features_is_named() -> None:
    rng = np.random.default_rng(0)
    features = np.stack([rng.normal(40, 8, 60), rng.normal(25_000, 4_000, 60)], axis=1)
    (warning,) = warnings_of(with_features(features, feature_names=("age", "income")))
    assert "1 feature(s) are over 10 times as large as others ('income')" in warning


def test_warnings_about_features() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(60, 4))
    assert warnings_of(with_features(good)) == ()
    names = ("age", "income", "row", "fixed")
    constant, numbered, large = good.copy(), good.copy(), good.copy()
    constant[:, 3] = 7
    numbered[:, 2] = rng.permutation(60) + 1
    large[:, 1] *= 1e6
    for features, message in (
        (constant, r"1 feature(s) are constant ('fixed')"),
        (numbered, "1 feature(s) number the nodes ('row'): is it an id?"),
        (large, "1 feature(s) are over 10 times as large as others ('income')"),
    ):
        found = warnings_of(with_features(features, feature_names=names))
        assert any(message in warning for warning in found)
    assert "all nodes have the same features" in warnings_of(with_features(np.ones((60, 2))))[0]
    empty = good * (np.arange(60) > 20)[:, None]
    assert "the features of 21 nodes are all zero" in warnings_of(with_features(empty))[0]
    sparse = sp.csr_array(good * np.array([1, 1, 0, 1e6]))
    assert len(warnings_of(with_features(sparse))) == 2


def test_warnings_about_edges() -> None:
    features = np.random.default_rng(0).normal(size=(60, 4))
    few = Graph.from_edges([(0, 1)], features[:5])
    assert any("5 nodes are few" in warning for warning in warnings_of(few))
    assert any("80%" in warning or "60%" in warning for warning in warnings_of(few))
    pairs = Graph.from_edges([(i, i + 1) for i in range(0, 60, 2)], features)
    assert any("30 components with edges" in warning for warning in warnings_of(pairs))
    star = Graph.from_edges(
        [(0, i) for i in range(1, 60)], features, ids=[f"n{i}" for i in range(60)]
    )
    assert any("node n0 has 59 neighbours" in warning for warning in warnings_of(star))
    ring = [(i, (i + 1) % 60) for i in range(60)]
    heavy = Graph.from_edges(ring, features, weights=[1e-3, 1e3] * 30)
    assert any("factor of 1,000,000" in warning for warning in warnings_of(heavy))


def test_warnings_about_labels() -> None:
    graph = make_graph(60)
    assert graph.labels is not None
    one = replace(graph, labels=np.zeros(60, dtype=int), class_names=["x"])
    assert "all labels are 'x'" in warnings_of(one)[0]
    assert "60 classes for 60 nodes" in warnings_of(replace(graph, labels=np.arange(60)))[0]
    rare = graph.labels.copy()
    rare[0] = 3
    assert "('3' has 1)" in warnings_of(replace(graph, labels=rare, splits={}))[0]
    ring = pd.DataFrame({"source": range(60), "target": [(i + 1) % 60 for i in range(60)]})
    opposite = read_graph(ring, np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2)
    assert any(
        "less often (0%) than random nodes (50%)" in warning for warning in warnings_of(opposite)
    )


def test_labels_that_are_ids_are_warned_about() -> None:
    edges = [(i, i + 1) for i in range(39)]
    assert too_many_classes(read_graph(edges, labels={i: i for i in range(40)})) == (
        "there are 40 classes for 40 nodes: is the column of labels an id? Name another with "
        "`label`"
    )
    assert too_many_classes(read_graph(edges, labels={i: i % 4 for i in range(40)})) is None
    assert too_many_classes(read_graph(edges)) is None
