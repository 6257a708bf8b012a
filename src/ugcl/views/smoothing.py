"""Powers of the adjacency times dense rows, by PyTorch's products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import CSRMatrix, Features
from ugcl.views.scaling import densify


def fast_smooth_features(
    adjacency: CSRMatrix, features: Features, powers: Sequence[int]
) -> Iterator[tuple[int, Features]]:
    """Yield k and `A^k X` for each of the ascending powers: `smooth_features` up to rounding.

    Products with dense rows take half the time of SciPy's. Rows that were yielded are not changed.
    """
    matrix: Tensor | None = None
    features, previous = densify(features), 0
    for k in powers:
        for _ in range(k - previous):
            if sp.issparse(features):
                features = densify(adjacency @ features)
                continue
            if matrix is None:
                matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
            dense = np.require(features, np.float32, ["C", "W"])  # PyTorch warns of read-only
            features = multiply(matrix, torch.from_numpy(dense)).numpy()
        previous = k
        yield k, features
