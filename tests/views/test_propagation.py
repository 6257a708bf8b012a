from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl._utils.linalg import normalize_rows
from ugcl.data import sbm_graph
from ugcl.views import structural_embedding
from ugcl.views.propagation import propagated_embedding, propagation_matrices


@pytest.fixture
def _large_from_the_first_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.views.structure.MAX_WALKED", 0)


def weighted_graph(seed: int, nodes: int = 30) -> Graph:
    graph = make_graph(nodes, seed=seed)
    pairs = np.argwhere(np.triu(graph.adjacency.toarray()))
    weights = np.random.default_rng(seed).uniform(0.5, 3, len(pairs))
    return Graph.from_edges(pairs, graph.features, weights=weights)


def dense_matrices(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """P and L, from the slow formulas."""
    adjacency = graph.adjacency.toarray().astype(float)
    weight = adjacency[adjacency > 0].mean()
    return reference.normalised_adjacency(adjacency, weight), reference.netmf(adjacency, 1)


def clustered_graph(nodes: int = 90) -> Graph:
    """Six clusters of unlike sizes, whose directions are far from those of noise."""
    rng = np.random.default_rng(0)
    classes = rng.choice(6, nodes, p=[0.3, 0.22, 0.17, 0.13, 0.1, 0.08])
    same = classes[:, None] == classes
    edges = np.argwhere(np.triu(rng.random((nodes, nodes)) < np.where(same, 0.6, 0.01), 1))
    return Graph.from_edges(edges, np.ones((nodes, 1)))


@given(seed=st.integers(0, 20), weighted=st.booleans())
def test_the_matrices_are_their_formulas(seed: int, weighted: bool) -> None:
    graph = weighted_graph(seed) if weighted else make_graph(30, seed=seed)
    for found, expected in zip(
        propagation_matrices(graph.adjacency), dense_matrices(graph), strict=True
    ):
        np.testing.assert_allclose(found.to_dense().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 4])
def test_columns_are_leading_singular_directions(columns: int) -> None:
    graph = clustered_graph()
    walk, log_edges = dense_matrices(graph)
    power = np.linalg.matrix_power
    left, values, _ = np.linalg.svd(power(walk, 4) @ log_edges @ power(walk, 3))
    found = propagated_embedding(graph.adjacency, columns)
    assert found.dtype == np.float32
    np.testing.assert_allclose((found**2).sum(axis=0), values[:columns], rtol=1e-3)
    expected = (left * values)[:, :columns] @ left[:, :columns].T
    np.testing.assert_allclose(found @ found.T, expected, atol=0.01 * np.abs(expected).max())


@given(columns=st.integers(1, 30), block=st.integers(1, 50), rows=st.integers(1, 50))
def test_blocks_do_not_matter(columns: int, block: int, rows: int) -> None:
    adjacency = make_graph(30).adjacency
    expected = propagated_embedding(adjacency, columns)
    with (
        patch("ugcl.views.propagation.BLOCK", block),
        patch("ugcl.views.propagation.ROWS", rows),
    ):
        found = propagated_embedding(adjacency, columns)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-3)


@given(seed=st.integers(0, 20))
def test_the_order_of_nodes_does_not_matter(seed: int) -> None:
    adjacency = make_graph(30, seed=seed).adjacency
    order = np.random.default_rng(seed).permutation(30)
    one = propagated_embedding(adjacency, 30)
    other = propagated_embedding(sp.csr_array(adjacency[order][:, order]), 30)
    np.testing.assert_allclose((one @ one.T)[order][:, order], other @ other.T, atol=1e-3)


@given(seed=st.integers(0, 20), scale=st.floats(1e-3, 1e3))
def test_the_unit_of_edge_weights_does_not_matter(seed: int, scale: float) -> None:
    adjacency = weighted_graph(seed).adjacency
    one, other = (propagated_embedding(each, 12) for each in (adjacency, adjacency * scale))
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-3)


@pytest.mark.usefixtures("_large_from_the_first_node")
@given(size=st.integers(1, 12), columns=st.integers(1, 16), seed=st.integers(0, 5))
def test_any_size_works_and_nodes_without_edges_are_zero(
    size: int, columns: int, seed: int
) -> None:
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < 0.15, k=1)
    adjacency = Graph.from_edges(np.argwhere(upper).reshape(-1, 2), np.ones((size, 2))).adjacency
    found = structural_embedding(adjacency, columns)
    assert found.shape == (size, columns)
    assert np.isfinite(found).all()
    assert not found[np.diff(adjacency.indptr) == 0].any()
    assert not found[:, size:].any()
    np.testing.assert_array_equal(found, structural_embedding(adjacency, columns))


def test_classes_of_a_block_model_are_found() -> None:
    """The row of nearly every node is closest to the mean of its class."""
    graph = sbm_graph(nodes=3000, degree=20, homophily=0.8, classes=4, seed=1)
    assert graph.labels is not None
    rows = normalize_rows(propagated_embedding(graph.adjacency, 8))
    means = np.stack([rows[graph.labels == c].mean(axis=0) for c in range(4)])
    nearest = ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == graph.labels).mean() > 0.9


def test_large_graphs_are_propagated(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = make_graph(30).adjacency
    walked, expected = structural_embedding(adjacency, 4), propagated_embedding(adjacency, 4, 5)
    monkeypatch.setattr("ugcl.views.structure.MAX_WALKED", 29)
    np.testing.assert_array_equal(structural_embedding(adjacency, 4, seed=5), expected)
    monkeypatch.setattr("ugcl.views.structure.MAX_WALKED", 30)
    np.testing.assert_array_equal(structural_embedding(adjacency, 4), walked)
