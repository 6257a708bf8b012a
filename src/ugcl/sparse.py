"""A sparse matrix that multiplies dense ones on any device, forwards and backwards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

_INT32 = 2**31


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix M and its transpose, both CSR: `M @ dense` differentiates in dense.

    Keeping the transpose makes the gradient, M^T G, as fast as the product itself.
    """

    matrix: Tensor
    transpose: Tensor
    _stacks: dict[int, SparseMatrix] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        symmetric: bool = False,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> SparseMatrix:
        """Copy a SciPy matrix; a symmetric one is its own transpose and is held once."""
        held = _csr_tensor(matrix.tocsr(), device, dtype)
        return cls(held, held if symmetric else _csr_tensor(matrix.T.tocsr(), device, dtype))

    def to_scipy(self) -> Any:
        """Copy to a SciPy CSR matrix."""
        starts, columns, values = (part.cpu().numpy().copy() for part in _parts(self.matrix))
        return sp.csr_array((values, columns, starts), shape=tuple(self.shape))

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.matrix.shape

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(self.matrix, self.transpose, dense)  # type: ignore[no-untyped-call]
        return product

    def of_others(self, order: Tensor) -> SparseMatrix:
        """M with its columns moved: `M.of_others(order) @ X` is `M @ X[order]`, X staying in place.

        Cost: O(rows + entries).
        """
        starts, columns, values = _parts(self.matrix)
        places = order.to(columns.device, columns.dtype)
        moved = _csr(starts, places[columns], values, self.matrix.shape)
        return SparseMatrix(moved, _moved_rows(self.transpose, torch.argsort(places)))

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Other values in the same places, given row by row. Cost: O(entries)."""
        starts, columns, _ = _parts(self.matrix)
        matrix = _csr(starts, columns, values, self.matrix.shape)
        starts, columns, _ = _parts(self.transpose)
        moved = values[self._transposed_order]
        return SparseMatrix(matrix, _csr(starts, columns, moved, self.transpose.shape))

    @cached_property
    def _transposed_order(self) -> Tensor:
        """For each entry of the transpose, its place in the matrix."""
        return torch.argsort(self.matrix.col_indices(), stable=True)

    def stacked(self, count: int) -> SparseMatrix:
        """The block-diagonal matrix with M `count` times, which multiplies stacked blocks.

        Memory: `count` times that of M; it is made once and held.
        """
        if count == 1:
            return self
        if count not in self._stacks:
            matrix = _stack(self.matrix, count)
            symmetric = self.transpose is self.matrix
            transpose = matrix if symmetric else _stack(self.transpose, count)
            self._stacks[count] = SparseMatrix(matrix, transpose)
        return self._stacks[count]


def csr_of(rows: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """A CSR tensor of entries whose rows ascend; a place may have several."""
    index = torch.int32 if max(rows.numel(), *shape) < _INT32 else torch.int64
    counts = torch.bincount(rows, minlength=shape[0])
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return _csr(starts.to(index), columns.to(index), values, shape)


def multiply(matrix: Tensor, dense: Tensor, out: Tensor | None = None) -> Tensor:
    """`M H` of a CSR tensor, without a gradient.

    `matrix @ dense` would set the result to zero first and copy it in the end, which for few
    entries in a row costs as much as the product.
    """
    if out is None:
        out = dense.new_empty(matrix.shape[0], dense.shape[1])
    return torch.addmm(out, matrix, dense, beta=0, out=out)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.transpose = transpose
        return multiply(matrix, dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, multiply(ctx.transpose, grads[0])


def _csr_tensor(matrix: Any, device: torch.device | str, dtype: torch.dtype) -> Tensor:
    """Copy a SciPy CSR matrix; with indices of 32 bits where they suffice, as MKL takes them."""
    index = np.int32 if max(matrix.nnz, *matrix.shape) < _INT32 else np.int64
    return _csr(
        torch.from_numpy(matrix.indptr.astype(index)).to(device),
        torch.from_numpy(matrix.indices.astype(index)).to(device),
        torch.from_numpy(matrix.data.copy()).to(device, dtype),
        matrix.shape,
    )


def _parts(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return matrix.crow_indices(), matrix.col_indices(), matrix.values()


def _moved_rows(matrix: Tensor, order: Tensor) -> Tensor:
    """The rows of a CSR matrix in another order."""
    starts, columns, values = _parts(matrix)
    counts = starts.diff()[order]
    ends = counts.cumsum(0, dtype=starts.dtype)
    skipped = torch.repeat_interleave(starts[order] - (ends - counts), counts)
    entries = skipped + torch.arange(values.numel(), device=values.device)
    moved = torch.cat([starts[:1], ends])
    return _csr(moved, columns[entries], values[entries], matrix.shape)


def _stack(matrix: Tensor, count: int) -> Tensor:
    starts, columns, values = _parts(matrix)
    if count * max(values.numel(), *matrix.shape) >= _INT32:
        starts, columns = starts.long(), columns.long()
    times = torch.arange(count, dtype=columns.dtype, device=columns.device)[:, None]
    return _csr(
        torch.cat([(starts[:-1] + times * values.numel()).flatten(), starts[-1:] * count]),
        (columns + times * matrix.shape[1]).flatten(),
        values.repeat(count),
        (count * matrix.shape[0], count * matrix.shape[1]),
    )


def _csr(starts: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(
            starts, columns, values, size=tuple(shape), check_invariants=False
        )
