"""Leading directions by subspace iteration: fast, and exact enough to describe nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.linalg import OVERSAMPLES
from ugcl._utils.random import numpy_generator
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import Features
from ugcl.views.scaling import densify

ITERATIONS = 2
"""Power iterations."""

Rows = npt.NDArray[np.float32]


def reduce_columns(matrix: Features, num_components: int, max_rows: int | None = None) -> Rows:
    """Project rows onto the leading right singular directions, if there are more columns.

    The directions are found by subspace iteration and the Rayleigh-Ritz procedure (Halko et al.,
    2011). Cost: six products of X with `num_components` columns.

    Args:
        matrix: X, N x D.
        num_components: directions to keep.
        max_rows: rows from which the directions are computed, a random sample if there are more.
    """
    num_rows, width = matrix.shape
    if width <= num_components:
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        return dense.astype(np.float32, copy=False)
    some = matrix
    if max_rows is not None and num_rows > max_rows:
        some = matrix[np.sort(numpy_generator("svd", 1).choice(num_rows, max_rows, replace=False))]
    directions, projected = _leading(some, num_components)
    if some is matrix:
        return projected.numpy()
    return _product(_tensor(matrix), directions).numpy()


def column_directions(rows: Features, num_components: int) -> Rows | None:
    """Return the directions of `reduce_columns` from some rows; None if columns are as few."""
    if rows.shape[1] <= num_components:
        return None
    return _leading(rows, num_components)[0].numpy()


def _leading(some: Features, num_components: int) -> tuple[Tensor, Tensor]:
    """Return leading directions of rows, D x num_components, and the rows in these directions."""
    width = some.shape[1]
    rows, transposed = _tensor(some), _tensor(some.T)
    start = numpy_generator("svd").standard_normal((width, num_components + OVERSAMPLES), "float32")
    basis = torch.from_numpy(start)
    for _ in range(ITERATIONS):
        basis = _product(transposed, _product(rows, basis))
        basis /= basis.abs().max().clamp(min=1e-30)
    basis, _ = torch.linalg.qr(basis)
    projected = _product(rows, basis)
    _, rotation = np.linalg.eigh((projected.T @ projected).numpy().astype(np.float64))
    leading = torch.from_numpy(rotation[:, -num_components:].astype(np.float32))
    return basis @ leading, projected @ leading


def _tensor(features: Features) -> Tensor:
    """Return X for products, CSR if it is sparse."""
    features = densify(features)
    if sp.issparse(features):  # of which only products from the left are taken
        return SparseMatrix.from_scipy(features, symmetric=True).matrix
    return torch.from_numpy(np.array(features, dtype=np.float32))


def _product(matrix: Tensor, rows: Tensor) -> Tensor:
    return matrix @ rows if matrix.layout == torch.strided else multiply(matrix, rows)
