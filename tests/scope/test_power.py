from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl.scope import lazy, normalised_adjacency, power, unit_radius
from ugcl.sparse import SparseMatrix


def test_unit_radius_scales_each_component_to_spectral_radius_1() -> None:
    """A triangle, a pair and two isolated nodes, one of them without a self-loop."""
    triangle, pair = 0.2 * np.ones((3, 3)), np.array([[0.3, 0.1], [0.1, 0.3]])
    matrix = sp.csr_array(sp.block_diag([triangle, pair, [[0.01]], [[0.0]]]))
    scaled = unit_radius(matrix).toarray()
    expected = sp.block_diag([triangle / 0.6, pair / 0.4, [[1.0]], [[0.0]]]).toarray()
    np.testing.assert_allclose(scaled, expected, atol=1e-9)


@given(seed=st.integers(0, 1000))
def test_unit_radius_is_symmetric_with_spectral_radius_near_1(seed: int) -> None:
    graph = make_graph(15, seed=seed, classes=6)
    sliced = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))[:9, :9]
    scaled = unit_radius(sp.csr_array(sliced)).toarray()
    np.testing.assert_allclose(scaled, scaled.T, atol=1e-12)
    np.testing.assert_array_equal(scaled != 0, sliced != 0)
    assert np.linalg.eigvalsh(scaled).max() == pytest.approx(1, abs=0.02)


def test_the_lazy_matrix_is_the_mean_of_identity_and_adjacency() -> None:
    matrix = sp.csr_array(np.array([[0.5, 0.25], [0.25, 0.0]], dtype=np.float32))
    mean = lazy(matrix)
    np.testing.assert_array_equal(mean.toarray(), [[0.75, 0.125], [0.125, 0.5]])
    assert mean.dtype == np.float32


def weighted(seed: int, size: int = 9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.3), k=1)
    return upper + upper.T


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


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_context_may_be_changed_in_place(n: int) -> None:
    matrix = SparseMatrix.from_scipy(sp.csr_array(np.eye(3)), dtype=torch.float64)
    hidden = torch.ones(3, 2, dtype=torch.float64)
    power(matrix, hidden, n).zero_()
    assert (hidden == 1).all()
