"""A view: the adjacency and the features that an encoder convolves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl.scope import Scope
from ugcl.sparse import SparseMatrix
from ugcl.views.scaling import dense_if_crowded


@dataclass(frozen=True)
class View:
    """A normalised adjacency and the features that go with it, ready to be convolved.

    Attributes:
        adjacency: the normalised adjacency, S x S, or S x N where rows are places of the N nodes.
        features: X, sparse or dense, with a row for each column of the adjacency; None where
            `aggregated` is held instead.
        aggregated: A X, S x D, where X is dense and convolved more than once: all encoders share
            it, and it has no gradient.
        steps: the matrix whose powers are contexts, S x S: the adjacency, or another of the same
            nodes and edges.
        mask: D numbers that columns of X are multiplied by; None for ones.
        pieces: where several graphs stand side by side, the number of each row's graph.
        centres: the rows that are compared with their contexts; None for all.
    """

    adjacency: SparseMatrix
    features: SparseMatrix | Tensor | None
    aggregated: Tensor | None
    steps: SparseMatrix
    mask: Tensor | None = None
    pieces: Tensor | None = None
    centres: Tensor | None = None

    @classmethod
    def of(
        cls,
        adjacency: Any,
        features: Any,
        device: torch.device | str = "cpu",
        *,
        steps: Any = None,
        raw: bool = False,
    ) -> View:
        """View of a normalised SciPy adjacency and of features, SciPy sparse or dense.

        Args:
            adjacency: the normalised adjacency.
            features: X; or what `features_on` made of it, which several views can share.
            device: where it is used.
            steps: the symmetric matrix whose powers are contexts, if that is not the adjacency.
            raw: whether X itself is needed, also where it is dense.
        """
        held = SparseMatrix.from_scipy(adjacency, symmetric=True, device=device)
        walked = held
        if steps is not None:
            walked = SparseMatrix.from_scipy(steps, symmetric=True, device=device)
        columns = features_on(features, device)
        if isinstance(columns, SparseMatrix):
            return cls(held, columns, None, walked)
        return cls(held, columns if raw else None, held @ columns, walked)

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

    def linear(self, weight: Tensor) -> Tensor:
        """`X W`, without the graph."""
        assert self.features is not None
        return self.features @ self.masked(weight)

    def contexts(self, scope: Scope) -> Callable[[Tensor], Tensor]:
        """From H of this view to the contexts of its nodes."""
        return scope.on(self.steps, self.pieces)

    def compared(self, rows: Tensor) -> Tensor:
        """The rows that are compared with their contexts."""
        return rows if self.centres is None else rows[self.centres]

    def masked(self, weight: Tensor) -> Tensor:
        """W with the rows of masked columns of X set to zero."""
        return weight if self.mask is None else self.mask[:, None] * weight


def side_by_side(
    adjacencies: Sequence[Any], features: Any, device: torch.device | str, *, raw: bool = False
) -> tuple[View, ...]:
    """Views by several matrices of the same nodes, in all of which contexts are of the first.

    Args:
        adjacencies: symmetric SciPy matrices, the first of them the normalised adjacency.
        features: X, which they share.
        device: where they are used.
        raw: as for `View.of`.
    """
    held = features_on(features, device)
    views = [View.of(adjacency, held, device, raw=raw) for adjacency in adjacencies]
    return tuple(replace(view, steps=views[0].steps) for view in views)


def features_on(features: Any, device: torch.device | str) -> SparseMatrix | Tensor:
    """X on a device, sparse where few of its entries are not zero; as it is if it is there."""
    if isinstance(features, SparseMatrix | Tensor):
        return features
    return rows_on(dense_if_crowded(features), device)


def rows_on(features: Any, device: torch.device | str) -> SparseMatrix | Tensor:
    """X, or some rows of it, on a device: sparse if it is sparse."""
    if sp.issparse(features):
        return SparseMatrix.from_scipy(features, device=device)
    return torch.from_numpy(np.array(features)).to(device)


@dataclass(frozen=True)
class Sample:
    """What an epoch sees.

    Attributes:
        views: the views; the context of each is taken in the next, and that of the last in the
            first, so that of a single view in itself.
        rng: the source of the epoch's further randomness.
        corrupted: for each view one of which no row belongs to any context; none where others are
            not needed.
        edges: the two ends of each edge of the graph, once for both directions, where an objective
            asks which nodes are joined.
    """

    views: tuple[View, ...]
    rng: np.random.Generator
    corrupted: tuple[View, ...] = ()
    edges: tuple[Tensor, Tensor] | None = None


class ViewSampler(ABC):
    """The views of training, drawn anew in every epoch.

    They are a function of the seed and the epoch alone, so a run that was interrupted needs no
    state of a random number generator to go on as if it had not been.
    """

    seed: int

    def rng(self, epoch: int) -> np.random.Generator:
        """The source of randomness of an epoch."""
        return np.random.default_rng([self.seed, epoch])

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Sample:
        """The views of an epoch."""
