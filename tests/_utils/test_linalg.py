from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import normalize
from sklearn.utils import extmath

from ugcl._utils.linalg import normalize_rows, randomized_svd, ridge_explained, ridge_path
from ugcl._utils.random import seed_of


def matrix_of(rows: int, columns: int, sparse: bool, seed: int) -> Any:
    """A float32 matrix with some zeros, and a first row of zeros."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)
    dense[0] = 0
    return sp.csr_array(dense.astype(np.float32)) if sparse else dense.astype(np.float32)


@given(
    rows=st.integers(1, 12),
    columns=st.integers(1, 9),
    norm=st.sampled_from(["l1", "l2"]),
    sparse=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_rows_are_those_of_scikit_learn(
    rows: int, columns: int, norm: Literal["l1", "l2"], sparse: bool, seed: int
) -> None:
    matrix = matrix_of(rows, columns, sparse, seed)
    before = matrix.copy()
    result, expected = normalize_rows(matrix, norm), normalize(matrix, norm=norm)
    assert type(result) is type(matrix)
    assert result.dtype == np.float32
    if sparse:
        result, expected, matrix, before = (
            each.toarray() for each in (result, expected, matrix, before)
        )
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(matrix, before)  # is not changed


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("iterations", [2, 4])
def test_singular_triplets_are_those_of_scikit_learn(
    shape: tuple[int, int], sparse: bool, iterations: int
) -> None:
    matrix = matrix_of(*shape, sparse, 0)
    triplets = randomized_svd(matrix, 5, 3, iterations=iterations)
    expected = extmath.randomized_svd(matrix, 5, n_iter=iterations, random_state=seed_of("svd", 3))
    for one, two in zip(triplets, expected, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)
    large = randomized_svd(matrix * np.float32(2**30), 5, 3, iterations=iterations)
    np.testing.assert_array_equal(large[0], triplets[0])
    np.testing.assert_array_equal(large[1], triplets[1] * 2**30)
    left, values, right = triplets
    exact = np.linalg.svd(matrix.toarray() if sparse else matrix, compute_uv=False)
    np.testing.assert_allclose(values, exact[:5], rtol=0.01)
    np.testing.assert_allclose(left.T @ left, np.eye(5), atol=1e-5)
    np.testing.assert_allclose(right @ right.T, np.eye(5), atol=1e-5)


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_ridge_explains_what_the_errors_of_its_predictions_lack(offset: float) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(80, 6)) + offset).astype(np.float32)
    targets = (rows[:, :3] + rng.normal(size=(80, 3))).astype(np.float32)
    train, test = slice(50), slice(50, None)
    centred, shifted = rows - rows[train].mean(axis=0), targets - targets[train].mean(axis=0)
    products = [
        product
        for nodes in (train, test)
        for product in (
            centred[nodes].T @ centred[nodes],
            centred[nodes].T @ shifted[nodes],
        )
    ]
    errors = [
        ((targets[test] - predicted) ** 2).sum()
        for predicted in ridge_path(rows[train], targets[train], rows[test])
    ]
    expected = (shifted[test] ** 2).sum() - min(errors)
    assert ridge_explained(*products) == pytest.approx(expected, rel=1e-4)
    assert ridge_explained(*(np.zeros_like(product) for product in products)) == 0


@pytest.mark.parametrize("factor", [1e38, 1e20, 1e-20, 1e-38])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("sparse", [True, False])
def test_rows_of_any_size_have_norm_1(
    factor: float, norm: Literal["l1", "l2"], sparse: bool
) -> None:
    """Squares of their entries, or their sum, leave single precision."""
    matrix = np.array([[3, 2, 1], [0, 0, 0], [0, 3, -1]], dtype=np.float32)
    large = (matrix * np.float32(factor))[[0, 1, 2, 2]]
    large[3] = matrix[2]
    expected = normalize(matrix[[0, 1, 2, 2]], norm=norm)
    result = normalize_rows(sp.csr_array(large) if sparse else large, norm)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.toarray() if sparse else result, expected, rtol=1e-6)
