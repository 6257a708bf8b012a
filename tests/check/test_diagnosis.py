from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import make_graph
from ugcl import Graph, read_graph
from ugcl.check import diagnose
from ugcl.methods import DEFAULT_METHOD


def test_describes_a_graph() -> None:
    graph = make_graph(60)
    found = diagnose(graph)
    degrees = np.diff(graph.adjacency.indptr)
    assert found.degrees["mean"] == pytest.approx(degrees.mean())
    assert found.degrees["largest"] == degrees.max()
    assert found.isolated == (degrees == 0).sum()
    count, membership = sp.csgraph.connected_components(graph.adjacency, directed=False)
    assert (found.components, found.largest) == (count, np.bincount(membership).max())
    assert found.method == DEFAULT_METHOD
    assert isinstance(found.scope, int)
    assert found.why
    assert found.cost is not None
    assert found.cost.seconds is not None
    assert found.cost.step_seconds is not None
    assert found.cost.seconds > 60 * found.cost.step_seconds
    plain = found.to_json()
    assert plain["labelled"] == 60
    assert plain["cost"]["fits"] is True


def test_graph_without_edges_suggests_raw() -> None:
    found = diagnose(Graph.from_edges([], np.eye(3)))
    assert (found.method, found.cost) == ("raw", None)
    assert "no edges" in found.graph_warnings[0]


def test_graph_without_features_suggests_walks_up_to_a_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = read_graph(sp.coo_array(make_graph(60).adjacency))
    assert diagnose(graph).method == "deepwalk"
    monkeypatch.setattr("ugcl.check.diagnosis.MAX_WALK_NODES", 10)
    assert diagnose(graph).method == DEFAULT_METHOD
