"""A view: the adjacency and the features that an encoder sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.buffers import mapped_tensor
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.scope import Scope
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import CSRMatrix, Device, Features
from ugcl.views.scaling import ScaledRows, densify


@dataclass(frozen=True)
class View:
    """A normalised adjacency and its features, ready for graph convolution.

    Attributes:
        adjacency: the normalised adjacency, S x S; S x N where several rows belong to one of N
            nodes.
        features: X, sparse or dense, one row for each column of the adjacency; None where
            `aggregated` replaces it.
        aggregated: A X, S x D, where X is dense and convolved more than once; it has no gradient.
        propagation: the matrix whose powers give the contexts, S x S: the adjacency, or another
            matrix of the same nodes.
        feature_mask: D factors of the columns of X; None for ones.
        graph_ids: where the view is a batch of graphs, the graph of each row; else None.
        anchors: the rows that the loss compares with their contexts; None for all.
    """

    adjacency: SparseMatrix
    features: SparseMatrix | Tensor | None
    aggregated: Tensor | None
    propagation: SparseMatrix
    feature_mask: Tensor | None = None
    graph_ids: Tensor | None = None
    anchors: Tensor | None = None

    @classmethod
    def of(
        cls,
        adjacency: CSRMatrix,
        features: Features | SparseMatrix | Tensor,
        device: Device = "cpu",
        *,
        propagation: CSRMatrix | None = None,
        keep_features: bool = False,
    ) -> View:
        """Return the view of a normalised adjacency and of features.

        Args:
            adjacency: the normalised adjacency, symmetric.
            features: X, or the result of `features_to`, which several views can share.
            device: where the view is used.
            propagation: the symmetric matrix whose powers give the contexts; by default the
                adjacency.
            keep_features: keep X itself where it is dense, too.
        """
        matrix = SparseMatrix.from_scipy(adjacency, symmetric=True, device=device)
        steps = matrix
        if propagation is not None:
            steps = SparseMatrix.from_scipy(propagation, symmetric=True, device=device)
        columns = features_to(features, device)
        if isinstance(columns, SparseMatrix):
            return cls(matrix, columns, None, steps)
        return cls(matrix, columns if keep_features else None, matrix @ columns, steps)

    @property
    def num_features(self) -> int:
        """D, the number of columns of X."""
        columns = self.aggregated if self.features is None else self.features
        assert columns is not None
        return columns.shape[1]

    def convolve(self, weight: Tensor) -> Tensor:
        """Return `A X W`: `(A X) W` where A X is stored, else `A (X W)`.

        The feature mask is applied to the rows of W, which are fewer numbers than X.
        """
        weight = self.mask_weight(weight)
        if self.aggregated is not None:
            return self.aggregated @ weight
        assert self.features is not None
        return self.adjacency @ (self.features @ weight)

    def linear(self, weight: Tensor) -> Tensor:
        """Return `X W`, which does not depend on the edges."""
        assert self.features is not None
        return self.features @ self.mask_weight(weight)

    def contexts(self, scope: Scope) -> Callable[[Tensor], Tensor]:
        """Return the function from H of this view to the contexts of its nodes."""
        return scope.on(self.propagation, self.graph_ids)

    def select_anchors(self, rows: Tensor) -> Tensor:
        """Return the rows of the anchors."""
        return rows if self.anchors is None else rows[self.anchors]

    def mask_weight(self, weight: Tensor) -> Tensor:
        """Return W with the rows of masked features set to zero."""
        return weight if self.feature_mask is None else self.feature_mask[:, None] * weight


def views_of(
    adjacencies: Sequence[CSRMatrix],
    features: Features | ScaledRows,
    device: Device,
    *,
    keep_features: bool = False,
) -> tuple[View, ...]:
    """Return one view for each matrix of the same nodes; contexts use the first in all of them.

    Args:
        adjacencies: symmetric matrices, the first of them the normalised adjacency.
        features: X, which the views share.
        device: where the views are used.
        keep_features: as for `View.of`.
    """
    columns = features_to(features, device)
    views = [
        View.of(matrix, columns, device, keep_features=keep_features) for matrix in adjacencies
    ]
    return tuple(replace(view, propagation=views[0].propagation) for view in views)


def features_to(
    features: Features | SparseMatrix | Tensor | ScaledRows, device: Device
) -> SparseMatrix | Tensor:
    """Copy X to a device, sparse where few of its entries are not zero."""
    if isinstance(features, SparseMatrix | Tensor):
        return features
    rows = features.all() if isinstance(features, ScaledRows) else features
    return rows_to(densify(rows), device)


def aggregate(matrix: SparseMatrix, columns: Tensor | ScaledRows, work: Workspace) -> Tensor:
    """Return A X of a dense X, computed by blocks of columns."""
    like = columns if isinstance(columns, Tensor) else torch.empty(0, device=work.device)
    rows, width = columns.shape
    if work.has("A X"):
        return work.stored("A X")

    def products() -> Iterator[tuple[slice, Tensor]]:
        for block in work.blocks(rows, width):
            shape = rows, block.stop - block.start
            source, product = work.buffers(2, shape, like=like.flatten()[:0])
            for part in row_blocks(rows):
                source[part] = _tensor(columns[part])[:, block]
            yield block, multiply(matrix.matrix, source, out=product)
            work.advance(shape[1], "features")

    return work.assembled("A X", (rows, width), products())


def _tensor(rows: Features | Tensor) -> Tensor:
    return rows if isinstance(rows, Tensor) else mapped_tensor(np.asarray(rows, np.float32))


def rows_to(features: Features, device: Device) -> SparseMatrix | Tensor:
    """Return rows of X on a device; sparse rows stay sparse.

    A read-only array, as that of a graph, is copied.
    """
    if sp.issparse(features):
        return SparseMatrix.from_scipy(features, device=device)
    return torch.from_numpy(np.require(features, requirements="W")).to(device)
