from __future__ import annotations

import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.data import sbm_graph
from ugcl.views import structural_embedding
from ugcl.views.structure import walk_matrix


def weighted_graph(seed: int) -> Graph:
    graph = make_graph(30, seed=seed)
    pairs = np.argwhere(np.triu(graph.adjacency.toarray()))
    weights = np.random.default_rng(seed).uniform(0.5, 3, len(pairs))
    return Graph.from_edges(pairs, graph.features, weights=weights)


@given(seed=st.integers(0, 20), window=st.integers(1, 7), weighted=st.booleans())
def test_the_matrix_equals_dense_netmf(seed: int, window: int, weighted: bool) -> None:
    graph = weighted_graph(seed) if weighted else make_graph(30, seed=seed)
    with patch("ugcl.views.structure.TOLERANCE", 0):
        found = walk_matrix(graph.adjacency, window).toarray()
    expected = reference.netmf(graph.adjacency.toarray().astype(float), window)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("columns", [4, 40])
def test_columns_are_leading_singular_directions(columns: int) -> None:
    adjacency = make_graph(40).adjacency
    left, values, _ = np.linalg.svd(reference.netmf(adjacency.toarray().astype(float), 5))
    found = structural_embedding(adjacency, columns)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=0) ** 2, values[:columns], atol=0.05)
    expected = (left * values)[:, :columns] @ left[:, :columns].T
    np.testing.assert_allclose(found @ found.T, expected, atol=0.05)


@given(seed=st.integers(0, 20))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    adjacency = make_graph(30, seed=seed).adjacency
    order = np.random.default_rng(seed).permutation(30)
    one = structural_embedding(adjacency, 30)
    other = structural_embedding(sp.csr_array(adjacency[order][:, order]), 30)
    np.testing.assert_allclose((one @ one.T)[order][:, order], other @ other.T, atol=1e-3)


@given(size=st.integers(1, 12), columns=st.integers(1, 16), seed=st.integers(0, 5))
def test_any_size_works_and_nodes_without_edges_are_zero(
    size: int, columns: int, seed: int
) -> None:
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < 0.15, k=1)
    adjacency = Graph.from_edges(np.argwhere(upper).reshape(-1, 2), np.ones((size, 2))).adjacency
    found = structural_embedding(adjacency, columns)
    assert found.shape == (size, columns)
    assert np.isfinite(found).all()
    isolated = np.diff(adjacency.indptr) == 0
    assert not found[isolated].any()
    assert not found[:, size:].any()
    again = structural_embedding(adjacency, columns)
    np.testing.assert_array_equal(found, again)


def test_rows_keep_their_largest_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = make_graph(60).adjacency
    full = walk_matrix(adjacency).toarray()
    monkeypatch.setattr("ugcl.views.structure.ENTRIES", 5)
    found = walk_matrix(adjacency).toarray()
    np.testing.assert_allclose(found[found > 0], full[found > 0], atol=1e-6)
    np.testing.assert_allclose(np.sort(found)[:, -5:], np.sort(full)[:, -5:], atol=1e-6)
    assert (found > 0).sum() <= 2 * 5 * 60


def test_memory_grows_with_nodes_not_pairs() -> None:
    peaks = []
    for nodes in (3000, 6000):
        adjacency = sbm_graph(nodes=nodes, classes=4, features=4).adjacency
        tracemalloc.start()
        structural_embedding(adjacency, 16)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.5 * peaks[0]  # 4 times for pairs
    assert peaks[1] < 6000 * 6000 * 4  # one dense matrix in single precision
