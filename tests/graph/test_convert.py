from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graph_helpers import TRIANGLE, X, assert_same
from ugcl import Graph


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
def test_to_and_from_pyg(weights: list[float] | None) -> None:
    graph = Graph.from_edges(
        TRIANGLE,
        X,
        weights=weights,
        labels=[0, 1, 2, 0],
        splits={"train": [0], "val": [2], "test": [1, 3]},
    )
    data = graph.to_pyg()
    data.validate()
    assert data.num_edges == 6
    assert data.is_undirected()
    assert_same(graph, Graph.from_pyg(data))


def test_to_and_from_networkx() -> None:
    source = nx.Graph()
    source.add_nodes_from(["d", "a", "b", "c"])
    source.add_edge("a", "b", weight=2.0)
    source.add_edge("c", "a")
    graph = Graph.from_networkx(source, X)
    assert graph.ids is not None
    assert graph.ids.tolist() == ["d", "a", "b", "c"]
    assert graph.adjacency[1, 2] == 2
    assert graph.adjacency[1, 3] == 1
    back = graph.to_networkx()
    assert set(back.nodes) == set(source.nodes)
    assert {frozenset(edge) for edge in back.edges} == {frozenset("ab"), frozenset("ac")}
    assert back["a"]["b"]["weight"] == 2


def test_opposite_edges_of_a_directed_network_are_distinct() -> None:
    network = nx.DiGraph()
    network.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 2.0)])
    graph = Graph.from_networkx(network, np.eye(2))
    assert graph.adjacency[0, 1] == 4
    assert Graph.from_networkx(network, np.eye(2), weight=None).adjacency[0, 1] == 1
