"""Columns of H that are computed when they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from ugcl.sparse import SparseMatrix, multiply

Activate = Callable[[Tensor, slice], Tensor]
"""Takes columns of `A X W`, which it may overwrite, and their slice."""


class HiddenColumns(ABC):
    """Columns of the hidden representations H.

    Attributes:
        cheap: whether `rows` costs little.
    """

    cheap: bool = True

    @abstractmethod
    def fill(self, columns: slice, out: Tensor, other: Tensor) -> None:
        """Write all rows of some columns; `other` is overwritten."""

    @abstractmethod
    def rows(self, columns: slice, rows: slice) -> Tensor:
        """Return some rows of some columns, the same bits as `fill` writes."""


class StoredColumns(HiddenColumns):
    """Columns of an array.

    Args:
        hidden: H.
    """

    def __init__(self, hidden: Tensor) -> None:
        self.hidden = hidden

    def fill(self, columns: slice, out: Tensor, other: Tensor) -> None:
        """Copy columns."""
        out.copy_(self.hidden[:, columns])

    def rows(self, columns: slice, rows: slice) -> Tensor:
        """Copy a part."""
        return self.hidden[rows, columns].clone()


class LayerColumns(HiddenColumns):
    """Columns of a layer of a GCN, `act(M X W)`.

    Args:
        matrix: M, or None for the identity.
        inputs: X, sparse or dense.
        weight: W.
        activate: the activation, with the bias.
    """

    def __init__(
        self,
        matrix: Tensor | None,
        inputs: SparseMatrix | Tensor,
        weight: Tensor,
        activate: Activate,
    ) -> None:
        self.matrix, self.inputs, self.weight = matrix, inputs, weight
        self.activate = activate
        self.cheap = matrix is None and isinstance(inputs, Tensor)

    def fill(self, columns: slice, out: Tensor, other: Tensor) -> None:
        """Compute `X W`, then its product with M."""
        weight = self.weight[:, columns]
        product = out if self.matrix is None else other
        if isinstance(self.inputs, SparseMatrix):
            multiply(self.inputs.matrix, weight.contiguous(), out=product)
        else:
            torch.mm(self.inputs, weight, out=product)
        if self.matrix is not None:
            multiply(self.matrix, product, out=out)
        activated = self.activate(out, columns)
        if activated is not out:
            out.copy_(activated)

    def rows(self, columns: slice, rows: slice) -> Tensor:
        """Compute a part of a layer without products with M."""
        assert isinstance(self.inputs, Tensor)
        return self.activate(self.inputs[rows] @ self.weight[:, columns], columns)
