from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import sparse
from ugcl.sparse import SparseMatrix, multiply


def test_sparse_products_and_gradients_equal_the_dense_ones() -> None:
    dense = np.random.default_rng(0).random((7, 5)) * (np.arange(35).reshape(7, 5) % 3 == 0)
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense), dtype=torch.float64)
    other = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    assert matrix.shape == (7, 5)
    torch.testing.assert_close(matrix @ other, torch.from_numpy(dense) @ other)
    assert torch.autograd.gradcheck(lambda x: matrix @ x, (other,))


def test_second_derivatives_are_an_error() -> None:
    matrix = SparseMatrix.from_scipy(sp.csr_array(np.eye(3, dtype=np.float32)))
    other = torch.ones(3, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad((matrix @ other).square().sum(), other, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.square().sum().backward()


@given(
    seed=st.integers(0, 10_000),
    gathers=st.booleans(),
    into=st.booleans(),
    block=st.integers(1, 40),
    index=st.sampled_from([torch.int32, torch.int64]),
)
def test_products_equal_the_dense_ones_by_any_kernel(
    seed: int, gathers: bool, into: bool, block: int, index: torch.dtype
) -> None:
    """With empty rows, or no entries at all, into fresh and into existing memory."""
    rng = np.random.default_rng(seed)
    rows, columns, width = *rng.integers(1, 9, 2), rng.integers(0, 9)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < rng.random())
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense.astype(np.float32))).matrix
    matrix = sparse.csr_tensor(
        matrix.crow_indices().to(index),
        matrix.col_indices().to(index),
        matrix.values(),
        (rows, columns),
    )
    other = torch.from_numpy(rng.normal(size=(width, columns)).astype(np.float32)).T
    other.requires_grad_()  # products have no gradient of their own
    out = torch.full((rows, width), torch.nan) if into else None
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(sparse, "_GATHERS", gathers)
        patch.setattr(sparse, "GATHERED", block)
        product = multiply(matrix, other, out=out)
    assert out is None or product is out
    np.testing.assert_allclose(product, dense @ other.detach().numpy(), atol=1e-5)


@given(seed=st.integers(0, 10_000))
def test_permuted_columns_equal_permuted_rows_of_the_factor(seed: int) -> None:
    """For matrices that are not square, with empty rows and columns."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 9, 2)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense), dtype=torch.float64)
    order = torch.from_numpy(rng.permutation(columns))
    permuted = matrix.permute_columns(order)
    other = torch.from_numpy(rng.normal(size=(columns, 3))).requires_grad_()
    expected = torch.from_numpy(dense) @ other[order]
    torch.testing.assert_close(permuted @ other, expected)
    upstream = torch.from_numpy(rng.normal(size=(rows, 3)))
    gradient = torch.autograd.grad(permuted @ other, other, upstream)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, other, upstream))
    torch.testing.assert_close(permuted.transpose.to_dense(), permuted.matrix.to_dense().T)
    torch.testing.assert_close(matrix.matrix.to_dense(), torch.from_numpy(dense))
    again = permuted.permute_columns(order)
    torch.testing.assert_close(again @ other, torch.from_numpy(dense) @ other[order][order])


@pytest.mark.parametrize("symmetric", [True, False])
def test_permuting_columns_leaves_a_symmetric_matrix_unchanged(symmetric: bool) -> None:
    graph = make_graph(30)
    matrix = SparseMatrix.from_scipy(graph.adjacency, symmetric=symmetric)
    permuted = matrix.permute_columns(torch.arange(29, -1, -1))
    hidden = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(matrix.matrix.to_dense(), graph.adjacency.toarray())
    torch.testing.assert_close(permuted @ hidden, matrix @ hidden.flip(0))
    torch.testing.assert_close(permuted.transpose @ hidden, (matrix @ hidden).flip(0))


def test_block_diagonal_repeats_the_matrix() -> None:
    matrix = sp.random_array((4, 6), density=0.4, rng=np.random.default_rng(0), format="csr")
    stacked = SparseMatrix.from_scipy(matrix, dtype=torch.float64).block_diagonal(3)
    expected = sp.block_diag([matrix] * 3).toarray()
    np.testing.assert_array_equal(stacked.matrix.to_dense(), expected)
    np.testing.assert_array_equal(stacked.transpose.to_dense(), expected.T)
