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
    """Rows of a dense or sparse matrix, as an array."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def ridge_path(
    train: npt.NDArray[np.float32], targets: npt.NDArray[np.float32], held: npt.NDArray[np.float32]
) -> Iterator[npt.NDArray[np.float32]]:
    """Predictions for `held` at every penalty, by the smaller of the two Gram matrices.

    `held X^T (X X^T + p I)^-1 Y` or `held (X^T X + p I)^-1 X^T Y`, all centred.
    """
    mean, offset = train.mean(axis=0), targets.mean(axis=0)
    train, held, targets = train - mean, held - mean, targets - offset
    if train.shape[0] < train.shape[1]:
        gram, right, left = train @ train.T, targets, held @ train.T
    else:
        gram, right, left = train.T @ train, train.T @ targets, held
    scale = float(np.trace(gram)) or 1.0
    for penalty in RIDGE:
        shifted = gram + penalty * scale * np.eye(gram.shape[0], dtype=np.float32)
        yield left @ linalg.solve(shifted, right, assume_a="pos") + offset
