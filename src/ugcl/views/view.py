"""A view: the adjacency and the features that an encoder convolves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl.sparse import SparseMatrix
from ugcl.views.features import dense_if_crowded


@dataclass(frozen=True)
class View:
    """A normalised adjacency and the features that go with it, ready to be convolved.

    Attributes:
        adjacency: the normalised adjacency, S x S.
        features: X, S x D, sparse or dense; None where `aggregated` is held instead.
        aggregated: A X, S x D, where X is dense and convolved more than once: all encoders share
            it, and it has no gradient.
        steps: the matrix whose powers are contexts, S x S: the adjacency, or another of the same
            nodes and edges.
        mask: D numbers that columns of X are multiplied by; None for ones.
    """

    adjacency: SparseMatrix
    features: SparseMatrix | Tensor | None
    aggregated: Tensor | None
    steps: SparseMatrix
    mask: Tensor | None = None

    @classmethod
    def of(
        cls,
        adjacency: Any,
        features: Any,
        device: torch.device | str = "cpu",
        *,
        steps: Any = None,
    ) -> View:
        """View of a normalised SciPy adjacency and of features, SciPy sparse or dense.

        Args:
            adjacency: the normalised adjacency.
            features: X.
            device: where it is used.
            steps: the symmetric matrix whose powers are contexts, if that is not the adjacency.
        """
        held = SparseMatrix.from_scipy(adjacency, symmetric=True, device=device)
        walked = held
        if steps is not None:
            walked = SparseMatrix.from_scipy(steps, symmetric=True, device=device)
        columns = features_on(features, device)
        if isinstance(columns, SparseMatrix):
            return cls(held, columns, None, walked)
        return cls(held, None, held @ columns, walked)

    @property
    def num_features(self) -> int:
        """Columns of X."""
        held = self.aggregated if self.features is None else self.features
        assert held is not None
        return held.shape[1]

    def convolve(self, weight: Tensor) -> Tensor:
        """`A X W`: as `(A X) W` where that is held, else as `A (X W)`.

        A mask of columns of X is one of rows of W, which are fewer numbers.
        """
        weight = self.masked(weight)
        if self.aggregated is not None:
            return self.aggregated @ weight
        assert self.features is not None
        return self.adjacency @ (self.features @ weight)

    def masked(self, weight: Tensor) -> Tensor:
        """W with the rows of masked columns of X set to zero."""
        return weight if self.mask is None else self.mask[:, None] * weight


def features_on(features: Any, device: torch.device | str) -> SparseMatrix | Tensor:
    """X on a device, sparse where few of its entries are not zero."""
    features = dense_if_crowded(features)
    if sp.issparse(features):
        return SparseMatrix.from_scipy(features, device=device)
    return torch.from_numpy(np.array(features)).to(device)


@dataclass(frozen=True)
class Drawn:
    """What an epoch sees.

    Attributes:
        views: the views; the context of each is taken in the next, and that of the last in the
            first, so that of a single view in itself.
        corrupted: a view of which no row belongs to any context; None where others are not needed.
        rng: the source of the epoch's further randomness.
    """

    views: tuple[View, ...]
    rng: np.random.Generator
    corrupted: View | None = None


class Views(ABC):
    """The views of training, drawn anew in every epoch.

    They are a function of the seed and the epoch alone, so a run that was interrupted needs no
    state of a random number generator to go on as if it had not been.
    """

    seed: int

    def rng(self, epoch: int) -> np.random.Generator:
        """The source of randomness of an epoch."""
        return np.random.default_rng([self.seed, epoch])

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Drawn:
        """The views of an epoch."""
