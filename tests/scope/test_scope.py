from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl.scope import lazy, normalised_adjacency, power
from ugcl.sparse import SparseMatrix


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


@given(seed=st.integers(0, 1000), n=st.integers(0, 12))
def test_powers_equal_matrix_powers(seed: int, n: int) -> None:
    dense = reference.normalised_adjacency(weighted(seed))
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense), symmetric=True, dtype=torch.float64)
    hidden = torch.from_numpy(np.random.default_rng(seed).normal(size=(9, 3)))
    expected = np.linalg.matrix_power(dense, n) @ hidden.numpy()
    np.testing.assert_allclose(power(matrix, hidden, n), expected, atol=1e-12)
    np.testing.assert_allclose(lazy(sp.csr_array(dense)).toarray(), (np.eye(9) + dense) / 2)


def test_a_lazy_power_does_not_overflow() -> None:
    adjacency = lazy(normalised_adjacency(make_graph().adjacency))
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True)
    assert adjacency.dtype == np.float32
    assert torch.isfinite(power(matrix, torch.ones(40, 2), 500)).all()


def test_contextual_view_has_gradients() -> None:
    dense = reference.normalised_adjacency(weighted(0))
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense), symmetric=True, dtype=torch.float64)
    hidden = torch.randn(9, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h: power(matrix, h, 3), (hidden,))
