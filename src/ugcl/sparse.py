"""Constant sparse matrices for sparse-dense products with gradients."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ugcl._utils.buffers import new_empty
from ugcl.typing import CSRMatrix, Device

MAX_INT32 = 2**31

GATHERED = 2**19
"""Entries of a product that are computed at a time and then copied into its memory."""

_GATHERS = platform.machine().lower() in ("x86_64", "amd64")
"""Whether PyTorch has its vectorised `embedding_bag` here."""


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix M and its transpose, both CSR; `M @ H` is differentiable in H.

    With the transpose stored, the gradient M^T G costs the same as the product.
    """

    matrix: Tensor
    transpose: Tensor
    _block_diagonals: dict[int, SparseMatrix] = field(
        default_factory=dict, compare=False, repr=False
    )

    @classmethod
    def from_scipy(
        cls,
        matrix: CSRMatrix,
        *,
        symmetric: bool = False,
        device: Device = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> SparseMatrix:
        """Copy a SciPy matrix; a symmetric one is stored once."""
        tensor = _from_scipy(matrix.tocsr(), device, dtype)
        return cls(tensor, tensor if symmetric else _from_scipy(matrix.T.tocsr(), device, dtype))

    def to_scipy(self) -> CSRMatrix:
        """Copy to a SciPy CSR matrix."""
        starts, columns, values = (part.cpu().numpy().copy() for part in _arrays(self.matrix))
        return sp.csr_array((values, columns, starts), shape=tuple(self.shape))

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.matrix.shape

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(self.matrix, self.transpose, dense)  # type: ignore[no-untyped-call]
        return product

    def permute_columns(self, order: Tensor) -> SparseMatrix:
        """Return the matrix M' with `M' @ X = M @ X[order]`. Cost: O(rows + nnz)."""
        starts, columns, values = _arrays(self.matrix)
        order = order.to(columns.device, columns.dtype)
        permuted = csr_tensor(starts, order[columns], values, self.matrix.shape)
        return SparseMatrix(permuted, _permute_rows(self.transpose, torch.argsort(order)))

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Replace the values of the entries, given in CSR order. Cost: O(nnz)."""
        starts, columns, _ = _arrays(self.matrix)
        matrix = csr_tensor(starts, columns, values, self.matrix.shape)
        starts, columns, _ = _arrays(self.transpose)
        values = values[self._transpose_order]
        return SparseMatrix(matrix, csr_tensor(starts, columns, values, self.transpose.shape))

    @cached_property
    def _transpose_order(self) -> Tensor:
        """Position in the matrix of each entry of the transpose."""
        return torch.argsort(self.matrix.col_indices(), stable=True)

    def block_diagonal(self, count: int) -> SparseMatrix:
        """Return the block-diagonal matrix of `count` copies of M; cached.

        Memory: `count` times that of M.
        """
        if count == 1:
            return self
        if count not in self._block_diagonals:
            matrix = _block_diagonal(self.matrix, count)
            symmetric = self.transpose is self.matrix
            transpose = matrix if symmetric else _block_diagonal(self.transpose, count)
            self._block_diagonals[count] = SparseMatrix(matrix, transpose)
        return self._block_diagonals[count]


def csr_from_coo(rows: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the CSR tensor of entries sorted by row; duplicates are kept."""
    index = torch.int32 if max(rows.numel(), *shape) < MAX_INT32 else torch.int64
    counts = torch.bincount(rows, minlength=shape[0])
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return csr_tensor(starts.to(index), columns.to(index), values, shape)


def multiply(matrix: Tensor, dense: Tensor, out: Tensor | None = None) -> Tensor:
    """Return `M H` of a CSR tensor, without a gradient.

    On x86 processors in single precision this is an `embedding_bag`, a sum of weighted rows of H
    for each row of M: it fetches rows ahead, and is up to three times as fast as a sparse product.
    """
    if out is None:
        out = new_empty(dense, (matrix.shape[0], dense.shape[1]))
    if _GATHERS and dense.dtype == torch.float32 and matrix.device.type == "cpu":
        dense = dense.detach()  # whose rows must be contiguous, else it is slower than `addmm`
        return _gather(matrix, dense if dense.stride(1) == 1 else dense.contiguous(), out)
    return torch.addmm(out, matrix, dense, beta=0, out=out)  # neither initialises nor copies `out`


def _gather(matrix: Tensor, dense: Tensor, out: Tensor) -> Tensor:
    """Write `M H` as sums of rows of H, by blocks of rows, which stay in cache."""
    starts, columns, values = _arrays(matrix)
    rows = matrix.shape[0]
    step = max(1, GATHERED // max(1, dense.shape[1]))
    for first in range(0, rows, step):
        last = min(first + step, rows)
        begin, end = starts[[first, last]].tolist() if step < rows else (0, values.numel())
        bags = starts[first : last + 1]
        out[first:last] = torch.nn.functional.embedding_bag(
            columns[begin:end],
            dense,
            bags - begin if begin else bags,
            mode="sum",
            per_sample_weights=values[begin:end],
            include_last_offset=True,
        )
    return out


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.transpose = transpose
        return multiply(matrix, dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, multiply(ctx.transpose, grads[0])


def _from_scipy(matrix: CSRMatrix, device: Device, dtype: torch.dtype) -> Tensor:
    """Copy a SciPy CSR matrix, with 32-bit indices (as MKL needs) if they suffice."""
    index = np.int32 if max(matrix.nnz, *matrix.shape) < MAX_INT32 else np.int64
    return csr_tensor(
        torch.from_numpy(matrix.indptr.astype(index)).to(device),
        torch.from_numpy(matrix.indices.astype(index)).to(device),
        torch.from_numpy(matrix.data.copy()).to(device, dtype),
        matrix.shape,
    )


def _arrays(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return matrix.crow_indices(), matrix.col_indices(), matrix.values()


def _permute_rows(matrix: Tensor, order: Tensor) -> Tensor:
    starts, columns, values = _arrays(matrix)
    counts = starts.diff()[order]
    ends = counts.cumsum(0, dtype=starts.dtype)
    offsets = torch.repeat_interleave(starts[order] - (ends - counts), counts)
    entries = offsets + torch.arange(values.numel(), device=values.device)
    starts = torch.cat([starts[:1], ends])
    return csr_tensor(starts, columns[entries], values[entries], matrix.shape)


def _block_diagonal(matrix: Tensor, count: int) -> Tensor:
    starts, columns, values = _arrays(matrix)
    if count * max(values.numel(), *matrix.shape) >= MAX_INT32:
        starts, columns = starts.long(), columns.long()
    copies = torch.arange(count, dtype=columns.dtype, device=columns.device)[:, None]
    return csr_tensor(
        torch.cat([(starts[:-1] + copies * values.numel()).flatten(), starts[-1:] * count]),
        (columns + copies * matrix.shape[1]).flatten(),
        values.repeat(count),
        (count * matrix.shape[0], count * matrix.shape[1]),
    )


def csr_tensor(starts: Tensor, columns: Tensor, values: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the CSR tensor of these arrays, which are not copied."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(
            starts, columns, values, size=tuple(shape), check_invariants=False
        )
