"""Small linear-algebra helpers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy
import scipy.sparse as sp

from ugcl._utils.random import seed_of

RIDGE = (1e-4, 1e-3, 1e-2, 1e-1)
"""Penalties of `ridge_path`, relative to the total squared length of the inputs."""

OVERSAMPLES = 10
"""Directions of `randomized_svd` beyond those that are asked for."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy's and SciPy's BLAS use one thread; also a decorator.

    For many small products and decompositions: threads of OpenBLAS spin for a while after each and
    take the cores from PyTorch's threads, and from other processes. On two cores the choice of n
    for Cora took 16 s instead of 0.7 s, eigenvectors on a busy machine 19 s instead of 0.2 s.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield


def dense_rows(rows: Any) -> npt.NDArray[Any]:
    """Return rows of a dense or sparse matrix as an array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def normalize_rows(matrix: Any, norm: Literal["l1", "l2"] = "l2") -> Any:
    """Return rows of norm 1, dense or CSR; rows of zeros stay zeros.

    The same as scikit-learn's `normalize`, which takes most of a second to import, except for rows
    whose squares leave single precision: their norms are computed in double precision.
    """
    if sp.issparse(matrix):
        matrix = sp.csr_array(matrix)
        lengths = np.diff(matrix.indptr)
        row = np.repeat(np.arange(matrix.shape[0]), lengths)

        def norms_of(data: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
            values = np.abs(data) if norm == "l1" else data**2
            norms = np.bincount(row, values, matrix.shape[0])  # in double precision
            return np.asarray(np.sqrt(norms) if norm == "l2" else norms)

        with np.errstate(over="ignore"):
            norms = norms_of(matrix.data)
        if (extreme := _extreme(norms) & (lengths > 0)).any():
            norms = np.where(extreme, norms_of(matrix.data.astype(np.float64)), norms)
        divisors = np.repeat(np.where(norms > 0, norms, 1), lengths)
        data = np.divide(matrix.data, divisors, dtype=np.float64).astype(matrix.dtype)
        return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    with np.errstate(over="ignore"):
        norms = _norms(matrix, norm)
    rows = matrix / np.where(norms > 0, norms, 1)[:, None].astype(matrix.dtype)
    if (extreme := _extreme(norms)).any():
        exact = matrix[extreme].astype(np.float64)
        norms = _norms(exact, norm)
        rows[extreme] = exact / np.where(norms > 0, norms, 1)[:, None]
    return rows


def _norms(rows: npt.NDArray[Any], norm: Literal["l1", "l2"]) -> npt.NDArray[Any]:
    if norm == "l1":
        return np.asarray(np.abs(rows).sum(axis=1))
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _extreme(norms: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return where squares may have left single precision; zeros may have, too."""
    return np.asarray(~((norms > 1e-15) & (norms < 1e15)))


def randomized_svd(
    matrix: Any, rank: int, *seeds: int, iterations: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return U, S and V^T of the leading singular triplets (Halko et al., 2011).

    The algorithm, the random numbers and the signs are those of scikit-learn's `randomized_svd`.

    Args:
        matrix: dense, sparse, or anything with `@`, `T`, `shape` and `dtype`.
        rank: how many triplets.
        seeds: the seeds of the random start.
        iterations: power iterations, each of two products.
    """
    wide = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if wide else matrix
    start = np.random.RandomState(seed_of("svd", *seeds)).normal(
        size=(tall.shape[1], rank + OVERSAMPLES)
    )
    basis = start.astype(np.float32) if matrix.dtype == np.float32 else start
    for _ in range(iterations):
        for factor in (tall, tall.T):
            basis = factor @ basis
            exponent = int(np.frexp(np.abs(basis).max(initial=0))[1])
            basis = np.ldexp(basis, -exponent).astype(basis.dtype)  # exact, and cannot overflow
            if iterations > 2:
                basis, _ = scipy.linalg.lu(
                    basis, permute_l=True, check_finite=False, overwrite_a=True
                )
    basis, _ = scipy.linalg.qr(tall @ basis, mode="economic", check_finite=False, overwrite_a=True)
    left, values, right = scipy.linalg.svd(basis.T @ tall, full_matrices=False)
    left = basis @ left
    if wide:
        left, right = right.T, left.T
    left, values, right = left[:, :rank], values[:rank], right[:rank]
    largest = np.take_along_axis(left, np.abs(left).argmax(axis=0)[None], axis=0)[0]
    return left * np.sign(largest), values, right * np.sign(largest)[:, None]


def ridge_path(
    train: npt.NDArray[np.float32], targets: npt.NDArray[np.float32], test: npt.NDArray[np.float32]
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield ridge-regression predictions for `test` at every penalty of `RIDGE`.

    `test X^T (X X^T + p I)^-1 Y` or `test (X^T X + p I)^-1 X^T Y`, by the smaller Gram
    matrix, all centred.
    """
    mean, offset = train.mean(axis=0), targets.mean(axis=0)
    train, test, targets = train - mean, test - mean, targets - offset
    if train.shape[0] < train.shape[1]:
        gram, right, left = train @ train.T, targets, test @ train.T
    else:
        gram, right, left = train.T @ train, train.T @ targets, test
    scale = float(np.trace(gram)) or 1.0
    for penalty in RIDGE:
        shifted = gram + penalty * scale * np.eye(gram.shape[0], dtype=np.float32)
        yield left @ scipy.linalg.solve(shifted, right, assume_a="pos") + offset


def ridge_explained(
    gram: npt.NDArray[Any],
    right: npt.NDArray[Any],
    test_gram: npt.NDArray[Any],
    test_right: npt.NDArray[Any],
) -> float:
    """Return the squared length of the targets that ridge regression explains on test rows.

    `|Y|^2 - |Y - Z W|^2 = 2 <Z^T Y, W> - <W, Z^T Z W>` at the best penalty of `RIDGE`.

    Args:
        gram: `Z^T Z` of the training rows, D x D, centred by their mean.
        right: `Z^T Y` of the training rows, D x T.
        test_gram: `Z^T Z` of the test rows, centred by the mean of the training rows.
        test_right: `Z^T Y` of the test rows.
    """
    scale = float(np.trace(gram))
    penalties = np.multiply(RIDGE, scale) if scale > 0 else np.ones(1)
    shifted = gram.astype(np.float64) + penalties[:, None, None] * np.eye(len(gram))
    weights = np.linalg.solve(shifted, right)
    explained = ((2 * test_right - test_gram @ weights) * weights).sum(axis=(1, 2))
    return float(explained.max())
