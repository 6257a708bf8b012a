"""A view: the adjacency and the features that an encoder convolves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl.scope import Context, lazy
from ugcl.sparse import SparseMatrix
from ugcl.views.features import dense_if_crowded


@dataclass(frozen=True)
class View:
    """A normalised adjacency and the features that go with it, ready to be convolved.

    Attributes:
        adjacency: the normalised adjacency, S x S.
        features: X, S x D, where it is sparse; None where `aggregated` is held instead.
        aggregated: A X, S x D, where X is dense: all encoders share it, and it has no gradient.
        steps: the matrix whose powers are contexts, S x S: the adjacency or `(I + A)/2`.
    """

    adjacency: SparseMatrix
    features: SparseMatrix | None
    aggregated: Tensor | None
    steps: SparseMatrix

    @classmethod
    def of(
        cls,
        adjacency: Any,
        features: Any,
        device: torch.device | str = "cpu",
        *,
        context: Context = "power",
    ) -> View:
        """View of a normalised SciPy adjacency and of features, SciPy sparse or dense."""
        held = steps = SparseMatrix.from_scipy(adjacency, symmetric=True, device=device)
        if context == "lazy":
            steps = SparseMatrix.from_scipy(lazy(adjacency), symmetric=True, device=device)
        features = dense_if_crowded(features)
        if sp.issparse(features):
            return cls(held, SparseMatrix.from_scipy(features, device=device), None, steps)
        dense = torch.from_numpy(np.array(features)).to(device)
        return cls(held, None, held @ dense, steps)

    @property
    def num_features(self) -> int:
        """Columns of X."""
        held = self.aggregated if self.features is None else self.features
        assert held is not None
        return held.shape[1]

    def convolve(self, weight: Tensor) -> Tensor:
        """`A X W`: as `A (X W)` for sparse X, whose rows `A X` would fill; else as `(A X) W`."""
        if self.features is not None:
            return self.adjacency @ (self.features @ weight)
        assert self.aggregated is not None
        return self.aggregated @ weight
