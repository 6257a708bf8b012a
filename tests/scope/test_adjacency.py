from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl._utils.rows import induced
from ugcl.scope import degree_scale, normalised_adjacency, normalised_slice


def weighted(seed: int, size: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.3), k=1)
    return upper + upper.T


@given(seed=st.integers(0, 1000), self_loops=st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_normalised_adjacency_equals_the_formula(seed: int, self_loops: float) -> None:
    dense = weighted(seed)
    result = normalised_adjacency(sp.csr_array(dense), self_loops)
    assert result.dtype == np.float32
    expected = reference.normalised_adjacency(dense, self_loops)
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-6)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert eigenvalues.max() == pytest.approx(1)
    assert eigenvalues.min() > -1


def test_without_self_loops_an_isolated_node_has_no_context() -> None:
    adjacency = sp.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    result = normalised_adjacency(adjacency, 0).toarray()
    np.testing.assert_allclose(result, adjacency.toarray())


def test_a_stored_zero_is_no_edge() -> None:
    stored = sp.csr_array((np.array([1.0, 1.0, 0.0]), [1, 0, 2], [0, 1, 2, 3]), shape=(3, 3))
    result = normalised_adjacency(stored, 0).toarray()
    np.testing.assert_array_equal(result, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_by_default_self_loops_weigh_as_much_as_an_edge() -> None:
    """The paper's c = 1; the two nodes of an edge are then the same."""
    adjacency = sp.csr_array(np.array([[0, 1], [1, 0.0]]))
    np.testing.assert_allclose(normalised_adjacency(adjacency).toarray(), 0.5)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("self_loops", [0.0, 0.3, 1.0, 2.0])
def test_slices_have_the_bits_of_the_whole(
    has_weights: bool, self_loops: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.scope.adjacency.PIECE", 50)
    adjacency = make_graph(70).adjacency.copy()
    rows = np.repeat(np.arange(70), np.diff(adjacency.indptr))
    values = np.broadcast_to(np.float32(1), adjacency.nnz)  # as of a folder without weights
    if has_weights:
        values = ((rows + adjacency.indices) % 7 + 0.1).astype(np.float32)
    adjacency = sp.csr_array((values, adjacency.indices, adjacency.indptr), adjacency.shape)
    nodes = np.sort(np.random.default_rng(0).choice(70, 40, replace=False))
    whole = normalised_adjacency(adjacency, self_loops).toarray()[np.ix_(nodes, nodes)]
    scale = degree_scale(adjacency, self_loops)[nodes]
    sliced = normalised_slice(induced(adjacency, nodes), scale, self_loops)
    np.testing.assert_array_equal(sliced.toarray(), whole)
