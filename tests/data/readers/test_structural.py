"""Structural features of graphs without features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from friends import FRAME, WEIGHTED
from ugcl import Graph
from ugcl.data import hold_out_edges, read_graph
from ugcl.data.readers.nodes import ExpectedFeatures
from ugcl.data.readers.structural import steps_of, structural_features


def test_structural_features_are_the_formula() -> None:
    graph = read_graph(WEIGHTED)
    assert any(note.startswith("no features: computed 129") for note in graph.notes)
    assert graph.ids is not None
    walk = graph.adjacency.toarray()
    walk /= walk.sum(axis=1, keepdims=True)
    alone = sp.csr_array(np.eye(4, dtype=np.float32))  # one step from a node ends there
    signs = np.sign(structural_features(alone, graph.ids.tolist(), 1)[0][:, 1:])
    expected = 0
    for k in range(1, 9):
        ended = np.linalg.matrix_power(walk, k) @ signs
        expected = expected + ended / np.linalg.norm(ended, axis=1, keepdims=True) / 8
    np.testing.assert_allclose(graph.features[:, 1:], expected, atol=1e-5)
    assert graph.features[0, 0] == pytest.approx(np.log(3) / np.log(256))
    assert steps_of(graph.feature_names) == 8
    assert steps_of(("x", "y")) is None


def test_structural_features_follow_a_node_into_a_grown_graph() -> None:
    graph = read_graph(WEIGHTED)
    more = pd.DataFrame({"source": ["zoe", "eve"], "target": ["yan", "zoe"], "weight": [1.0, 2.0]})
    grown = read_graph(pd.concat([WEIGHTED, more]))
    assert grown.ids is not None
    where = [grown.ids.tolist().index(name) for name in graph.ids]
    np.testing.assert_array_equal(grown.features[where], graph.features)
    few = structural_features(graph.adjacency, graph.ids, 3)
    again = read_graph(WEIGHTED, expected=ExpectedFeatures(129, few[1]))
    np.testing.assert_array_equal(again.features, few[0])


def test_a_large_graph_gets_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.readers.structural.MAX_ENTRIES", 24)
    assert steps_of(read_graph(FRAME).feature_names) == 3
    monkeypatch.setattr("ugcl.data.readers.structural.MAX_ENTRIES", 1)
    assert steps_of(read_graph(FRAME).feature_names) == 1


@pytest.mark.parametrize("nodes", [50, 400])
def test_structural_features_keep_common_neighbours(nodes: int) -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array((rng.random((nodes, nodes)) < 0.2).astype(np.float32))
    features = structural_features(matrix, range(nodes), 1)[0][:, 1:]
    rows = matrix.toarray()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    error = features @ features.T - rows @ rows.T
    assert np.abs(error).mean() < 1.5 / np.sqrt(128)


def test_held_out_edges_are_not_in_the_features() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 200, (400, 2))
    graph = read_graph(pairs[pairs[:, 0] != pairs[:, 1]])
    seen, held = hold_out_edges(graph, 0.2)
    bare = Graph(seen.adjacency, np.ones((graph.num_nodes, 1)))
    features, columns = structural_features(bare.adjacency, graph.ids.tolist(), 8)
    np.testing.assert_array_equal(seen.features, features)
    assert seen.feature_names == columns
    assert len(held)
