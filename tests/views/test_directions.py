from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ugcl.views import leading_directions


def matrix_of(rows: int, width: int, rank: int, seed: int = 0) -> np.ndarray:
    """A random matrix whose singular values are 2^-k, far apart, up to the rank."""
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.standard_normal((rows, rank)))
    right, _ = np.linalg.qr(rng.standard_normal((width, rank)))
    product: np.ndarray = ((left * 2.0 ** -np.arange(rank)) @ right.T).astype(np.float32)
    return product


def assert_same_directions(one: np.ndarray, other: np.ndarray, atol: float = 1e-3) -> None:
    """Equal up to signs."""
    assert one.shape == other.shape
    np.testing.assert_allclose(np.abs((one * other).sum(axis=0)), 1, atol=atol)


@pytest.fixture(params=["exact", "randomised"])
def _algorithm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "randomised":
        monkeypatch.setattr("ugcl.views.directions.MAX_EXACT", 0)


@pytest.mark.usefixtures("_algorithm")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("rows", "width"), [(60, 12), (12, 60), (20, 20)])
@pytest.mark.parametrize("columns", [1, 4])
def test_equals_the_svd(rows: int, width: int, columns: int, kind: type) -> None:
    matrix = matrix_of(rows, width, 6)
    directions = leading_directions(kind(matrix), columns)
    assert directions.shape == (width, columns)
    assert directions.dtype == np.float32
    assert directions.flags.c_contiguous
    _, _, right = np.linalg.svd(matrix.astype(float))
    assert_same_directions(directions, right[:columns].T)


@pytest.mark.usefixtures("_algorithm")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("rows", "width"), [(60, 12), (12, 60)])
def test_directions_are_orthonormal(rows: int, width: int, kind: type) -> None:
    matrix = np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32)
    directions = leading_directions(kind(matrix), 9)
    np.testing.assert_allclose(directions.T @ directions, np.eye(9), atol=1e-5)


@pytest.mark.usefixtures("_algorithm")
@pytest.mark.parametrize(("rows", "width"), [(30, 8), (5, 8)])
def test_there_are_at_most_as_many_as_columns(rows: int, width: int) -> None:
    matrix = np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32)
    directions = leading_directions(matrix, 100)
    assert directions.shape == (width, width)
    np.testing.assert_allclose(matrix @ directions @ directions.T, matrix, atol=1e-5)


@pytest.mark.usefixtures("_algorithm")
def test_more_columns_than_the_rank_lose_nothing() -> None:
    matrix = matrix_of(30, 20, 3)
    directions = leading_directions(matrix, 10)
    assert directions.shape == (20, 10)
    assert np.isfinite(directions).all()
    projected = matrix @ directions
    np.testing.assert_allclose(projected @ directions.T, matrix, atol=1e-5)
    assert np.abs(projected[:, 3:]).max() < 1e-3


@pytest.mark.usefixtures("_algorithm")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_matrix_of_zeros_has_directions(kind: type) -> None:
    directions = leading_directions(kind(np.zeros((9, 6), dtype=np.float32)), 4)
    assert directions.shape == (6, 4)
    assert np.isfinite(directions).all()


@pytest.mark.parametrize("width", [1, 2048, 2049])
def test_wide_and_narrow_matrices(width: int) -> None:
    """On both sides of the largest width that is decomposed exactly."""
    matrix = sp.random_array((40, width), density=0.2, rng=np.random.default_rng(0), format="csr")
    matrix = sp.csr_array(matrix.astype(np.float32))
    directions = leading_directions(matrix, 3)
    _, values, right = np.linalg.svd(matrix.toarray().astype(float), full_matrices=False)
    kept = np.linalg.norm(matrix @ directions, axis=0)
    np.testing.assert_allclose(kept, values[: directions.shape[1]], rtol=0.05)
    assert directions.shape == (width, min(width, 3))
    assert_same_directions(directions[:, :1], right[:1].T, atol=0.02)


@given(seed=st.integers(0, 200))
def test_signs_are_fixed(seed: int) -> None:
    """A matrix and its negative have the same Gram matrix, and the entry of largest size is > 0."""
    matrix = np.random.default_rng(seed).standard_normal((20, 6)).astype(np.float32)
    directions = leading_directions(matrix, 4)
    np.testing.assert_array_equal(directions, leading_directions(-matrix, 4))
    assert (directions[np.abs(directions).argmax(axis=0), np.arange(4)] > 0).all()


def test_many_rows_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.views.directions.MAX_ROWS", 400)
    rng = np.random.default_rng(0)
    matrix = (rng.standard_normal((3000, 5)) * [8, 4, 2, 1, 0.5]).astype(np.float32)
    one, again, other = (leading_directions(matrix, 2, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    assert_same_directions(one, np.eye(5)[:, :2], atol=0.02)


@given(seed=st.integers(0, 50), columns=st.integers(1, 30))
def test_single_precision_keeps_as_much(seed: int, columns: int) -> None:
    matrix = sp.random_array((70, 30), density=0.2, rng=np.random.default_rng(seed), format="csr")
    matrix = sp.csr_array(matrix.astype(np.float32))
    single, double = (
        leading_directions(matrix, columns, precision=dtype) for dtype in (np.float32, np.float64)
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.T @ single, np.eye(columns), atol=1e-4)
    kept = [np.square(matrix @ each).sum() for each in (single, double)]
    np.testing.assert_allclose(kept[0], kept[1], rtol=1e-4)


@pytest.mark.parametrize("factor", [1e30, 1e-30])
@pytest.mark.parametrize("sparse", [True, False])
def test_directions_do_not_depend_on_the_scale(factor: float, sparse: bool) -> None:
    """Not even where squares leave single precision."""
    rows = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    large = rows * np.float32(factor)
    expected = leading_directions(rows, 3)
    found = leading_directions(sp.csr_array(large) if sparse else large, 3)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_directions_of_numbers_that_are_not_finite_are_nan() -> None:
    rows = np.full((4, 3), np.inf, dtype=np.float32)
    assert np.isnan(leading_directions(rows, 2)).all()
