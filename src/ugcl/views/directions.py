"""Leading directions of a matrix, from a sample of its rows where there are many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg

from ugcl._utils.linalg import OVERSAMPLES, one_thread, randomized_svd
from ugcl._utils.random import numpy_generator
from ugcl.typing import Features
from ugcl.views.scaling import densify

MAX_ROWS = 50_000
"""Rows from which directions are computed; more are sampled."""

MAX_EXACT = 2048
"""Columns up to which the Gram matrix is decomposed exactly."""

ITERATIONS = 3
"""Power iterations of `approximate_directions`."""


def sampled_rows(matrix: Features, seed: int = 0) -> Features:
    """Return the matrix, or `MAX_ROWS` of its rows at random if it has more."""
    rows = matrix.shape[0]
    if rows <= MAX_ROWS:
        return matrix
    return matrix[np.sort(numpy_generator("svd", seed).choice(rows, MAX_ROWS, replace=False))]


def leading_directions(
    matrix: Features, columns: int, seed: int = 0, iterations: int = 3
) -> npt.NDArray[np.float32]:
    """Return the right singular vectors of the largest singular values, D x columns.

    At most `min(D, columns)` of them, with signs that do not depend on the machine. Wide matrices
    are decomposed by a randomised SVD (Halko et al., 2011) with so many power `iterations`.
    """
    matrix = densify(sampled_rows(matrix, seed))
    width = matrix.shape[1]
    count = min(width, columns)
    if width <= MAX_EXACT:
        gram = matrix.T @ matrix
        gram = gram.toarray() if sp.issparse(gram) else gram
        wanted = width - count, width - 1
        with one_thread():
            _, vectors = linalg.eigh(gram.astype(np.float64), subset_by_index=wanted)
        vectors = vectors[:, ::-1]
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
        return np.ascontiguousarray(vectors * np.sign(largest), dtype=np.float32)
    rank = min(count, matrix.shape[0])
    _, _, right = randomized_svd(matrix, rank, seed, iterations=iterations)
    directions = np.zeros((width, count), dtype=np.float32)
    directions[:, :rank] = right.T
    return directions


def approximate_directions(
    matrix: Features, columns: int, seed: int = 0
) -> npt.NDArray[np.float32]:
    """Return `leading_directions` by subspace iteration where the matrix is sparse and wide.

    The last of them may be mixtures with the next. Every iteration multiplies by X and X^T and
    orthonormalises D rows (Halko et al., 2011, Algorithm 4.4), then X V is rotated to its principal
    axes (Rayleigh-Ritz). Cost: O((nnz + D columns) columns), a tenth of the exact ones on Cora.
    Dense and narrow matrices are decomposed exactly.
    """
    matrix = densify(sampled_rows(matrix, seed))
    width = matrix.shape[1]
    rank = columns + OVERSAMPLES
    if not sp.issparse(matrix) or width < 2 * columns or rank > matrix.shape[0]:
        return leading_directions(matrix, columns, seed)
    rng, transposed = numpy_generator("svd", seed), matrix.T
    basis = rng.standard_normal((width, rank), dtype=np.float32)
    with one_thread():
        for _ in range(ITERATIONS):
            basis, _ = np.linalg.qr(transposed @ (matrix @ basis))
        rows = matrix @ basis
        _, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))
        directions = basis @ axes[:, : -columns - 1 : -1].astype(np.float32)
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
    return np.ascontiguousarray(directions * np.sign(largest))
