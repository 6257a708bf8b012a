from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from ugcl import Graph
from ugcl.check import components
from ugcl.check.components import component_sizes, hooked_labels


@given(seed=st.integers(0, 10**6), edges=st.integers(0, 90), rows=st.sampled_from([3, 1000]))
def test_hooked_labels_are_the_components(seed: int, edges: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(rng.integers(0, 60, (edges, 2)), np.eye(60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "ROWS", rows)
        labels = hooked_labels(graph.adjacency)
    expected = connected_components(graph.adjacency, directed=False)[1]
    lowest = np.array([np.flatnonzero(expected == each)[0] for each in expected])
    np.testing.assert_array_equal(labels, lowest)


def test_a_long_path_is_one_component() -> None:
    order = np.random.default_rng(0).permutation(5000)
    path = Graph.from_edges(np.stack([order[:-1], order[1:]], axis=1), np.ones((5000, 1)))
    assert (hooked_labels(path.adjacency) == 0).all()


def test_sizes_of_a_large_graph_are_those_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.random.default_rng(1).integers(0, 300, (200, 2))
    adjacency = Graph.from_edges(pairs, sp.csr_array(np.ones((300, 1)))).adjacency
    small = component_sizes(adjacency)
    monkeypatch.setattr(components, "LARGE_GRAPH", 100)
    np.testing.assert_array_equal(np.sort(component_sizes(adjacency)), np.sort(small))
