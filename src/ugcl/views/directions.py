"""Leading directions of a matrix, from a sample of its rows where there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows, one_thread, randomized_svd
from ugcl._utils.random import numpy_generator
from ugcl.typing import Features
from ugcl.views.scaling import ScaledRows, densify

MAX_ROWS = 50_000
"""Rows from which directions are computed; more are sampled."""

MAX_EXACT = 2048
"""Columns up to which the Gram matrix is decomposed exactly."""


def sampled_rows(matrix: Features | ScaledRows, seed: int = 0) -> Features:
    """Return the matrix, or `MAX_ROWS` of its rows at random if it has more."""
    rows = matrix.shape[0]
    if rows <= MAX_ROWS:
        return matrix.all() if isinstance(matrix, ScaledRows) else matrix
    return matrix[np.sort(numpy_generator("svd", seed).choice(rows, MAX_ROWS, replace=False))]


def leading_directions(
    matrix: Features,
    columns: int,
    seed: int = 0,
    iterations: int = 3,
    precision: npt.DTypeLike = np.float64,
) -> npt.NDArray[np.float32]:
    """Return the right singular vectors of the largest singular values, D x columns.

    At most `min(D, columns)` of them, with signs that do not depend on the machine; NaN where the
    matrix is not finite. Wide matrices are decomposed by a randomised SVD (Halko et al., 2011) with
    so many power `iterations`.

    Args:
        matrix: X, N x D.
        columns: how many directions.
        seed: seed of the sampled rows and of the randomised SVD.
        iterations: power iterations of the randomised SVD.
        precision: of the eigenvectors of a Gram matrix; in single precision they take half the
            time. Subspace iteration takes a third, but `sign` lost half a point by it on Cora.
    """
    matrix = densify(sampled_rows(matrix, seed))
    width = matrix.shape[1]
    count = min(width, columns)
    if width <= MAX_EXACT:
        gram = _gram(matrix)
        if np.isnan(gram).any():
            return np.full((width, count), np.nan, dtype=np.float32)
        wanted = width - count, width - 1
        with one_thread():
            _, vectors = scipy.linalg.eigh(gram.astype(precision), subset_by_index=wanted)
        vectors = vectors[:, ::-1]
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
        return np.ascontiguousarray(vectors * np.sign(largest), dtype=np.float32)
    rank = min(count, matrix.shape[0])
    _, _, right = randomized_svd(matrix, rank, seed, iterations=iterations)
    directions = np.zeros((width, count), dtype=np.float32)
    directions[:, :rank] = right.T
    return directions


def _gram(matrix: Features) -> npt.NDArray[Any]:
    """Return `X^T X`, of a multiple of X where its squares would leave single precision."""
    with np.errstate(over="ignore", invalid="ignore"):
        gram = dense_rows(matrix.T @ matrix)
    if not 1e-30 < np.trace(gram) < 1e30:  # nor NaN
        entries = matrix.data if sp.issparse(matrix) else matrix
        largest = max(entries.max(initial=0), -entries.min(initial=0))
        if not np.isfinite(largest):
            return np.full_like(gram, np.nan)
        matrix = matrix / (largest or 1)
        gram = dense_rows(matrix.T @ matrix)
    return gram
