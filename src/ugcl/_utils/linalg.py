"""Small linear-algebra helpers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg

RIDGE = (1e-4, 1e-3, 1e-2, 1e-1)
"""Penalties of `ridge_path`, relative to the total squared length of the inputs."""


def dense_rows(rows: Any) -> npt.NDArray[Any]:
    """Return rows of a dense or sparse matrix as an array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


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
        yield left @ linalg.solve(shifted, right, assume_a="pos") + offset
