from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from conftest import make_graph
from ugcl import Graph, load_graph, read_graph
from ugcl.bench.child import in_fresh_process
from ugcl.check import diagnose, estimate_cost, graph_warnings
from ugcl.data import sbm_graph
from ugcl.engine import resolve_settings
from ugcl.methods import TrainingSettings


def odd(graph: Graph) -> tuple[str, ...]:
    count, membership = sp.csgraph.connected_components(graph.adjacency, directed=False)
    return graph_warnings(graph, np.bincount(membership, minlength=count))


def test_a_graph_is_described() -> None:
    graph = make_graph(60)
    found = diagnose(graph)
    degrees = np.diff(graph.adjacency.indptr)
    assert found.degrees["mean"] == pytest.approx(degrees.mean())
    assert found.degrees["largest"] == degrees.max()
    assert found.isolated == (degrees == 0).sum()
    count, membership = sp.csgraph.connected_components(graph.adjacency, directed=False)
    assert (found.components, found.largest) == (count, np.bincount(membership).max())
    assert found.method == "ugcl"
    assert isinstance(found.scope, int)
    assert found.why
    assert found.cost is not None
    assert found.cost.seconds is not None
    assert found.cost.step_seconds is not None
    assert found.cost.seconds > 60 * found.cost.step_seconds
    plain = found.to_json()
    assert plain["labelled"] == 60
    assert plain["cost"]["fits"] is True


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [None, 100_000])
def test_memory_is_about_what_training_takes(nodes: int | None, tmp_path: Path) -> None:
    """A graph whose parameters are large, and one whose embeddings are."""
    name = "citeseer"
    if nodes is not None:
        name = str(tmp_path / "g.npz")
        sbm_graph(nodes=nodes, degree=8, features=32).save(name, compressed=False)
    graph, params = load_graph(name), {"hidden": 256, "scope": 2}
    settings, _ = resolve_settings("ugcl", graph, "fast", params)
    assert isinstance(settings, TrainingSettings)
    measured = in_fresh_process(
        "train", graph=name, preset="fast", params=params, threads=1, steps=2, then_embed=True
    )["peak_bytes"]
    if measured is None:
        pytest.skip("this system does not tell how much memory a process held")
    estimate = estimate_cost(graph, "ugcl", settings).memory_bytes
    assert 0.5 < estimate / measured < 2


def test_too_little_memory_is_told_and_nothing_is_tried(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.check.cost.available_memory", lambda: 1000)
    monkeypatch.setattr("ugcl.check.cost._step_seconds", lambda *_: pytest.fail("tried"))
    cost = diagnose(graph).cost
    assert cost is not None
    assert not cost.fits
    assert cost.seconds is None


def test_no_edges_leave_the_features_as_they_are() -> None:
    found = diagnose(Graph.from_edges([], np.eye(3)))
    assert (found.method, found.cost) == ("raw", None)
    assert "no edges" in found.graph_warnings[0]


def test_without_features_walks_are_suggested_up_to_a_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = read_graph(sp.coo_array(make_graph(60).adjacency))
    assert diagnose(graph).method == "deepwalk"
    monkeypatch.setattr("ugcl.check.diagnosis.MAX_WALK_NODES", 10)
    assert diagnose(graph).method == "ugcl"


def test_data_sets_look_right() -> None:
    assert odd(load_graph("citeseer")) == ()
    assert odd(sbm_graph(nodes=500)) == ()


def with_features(features: np.ndarray, **optional: object) -> Graph:
    return Graph(make_graph(60).adjacency, features, **optional)


def test_what_looks_wrong_about_features_is_named() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(60, 4))
    assert odd(with_features(good)) == ()
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
        found = odd(with_features(features, feature_names=names))
        assert any(message in told for told in found)
    assert "all nodes have the same features" in odd(with_features(np.ones((60, 2))))[0]
    empty = good * (np.arange(60) > 20)[:, None]
    assert "the features of 21 nodes are all zero" in odd(with_features(empty))[0]
    sparse = sp.csr_array(good * np.array([1, 1, 0, 1e6]))
    assert len(odd(with_features(sparse))) == 2


def test_what_looks_wrong_about_edges_is_named() -> None:
    features = np.random.default_rng(0).normal(size=(60, 4))
    few = Graph.from_edges([(0, 1)], features[:5])
    assert any("5 nodes are few" in told for told in odd(few))
    assert any("80%" in told or "60%" in told for told in odd(few))
    pairs = Graph.from_edges([(i, i + 1) for i in range(0, 60, 2)], features)
    assert any("30 components with edges" in told for told in odd(pairs))
    star = Graph.from_edges(
        [(0, i) for i in range(1, 60)], features, ids=[f"n{i}" for i in range(60)]
    )
    assert any("node n0 has 59 neighbours" in told for told in odd(star))
    ring = [(i, (i + 1) % 60) for i in range(60)]
    heavy = Graph.from_edges(ring, features, weights=[1e-3, 1e3] * 30)
    assert any("factor of 1,000,000" in told for told in odd(heavy))


def test_what_looks_wrong_about_labels_is_named() -> None:
    graph = make_graph(60)
    assert graph.labels is not None
    one = replace(graph, labels=np.zeros(60, dtype=int), class_names=["x"])
    assert "all labels are 'x'" in odd(one)[0]
    assert "60 classes for 60 nodes" in odd(replace(graph, labels=np.arange(60)))[0]
    rare = graph.labels.copy()
    rare[0] = 3
    assert "('3' has 1)" in odd(replace(graph, labels=rare, splits={}))[0]
    ring = pd.DataFrame({"source": range(60), "target": [(i + 1) % 60 for i in range(60)]})
    opposite = read_graph(ring, np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2)
    assert any("less often (0%) than random nodes (50%)" in told for told in odd(opposite))
