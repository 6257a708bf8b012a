"""A sparse matrix that multiplies dense ones on any device, forwards and backwards."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix M and its transpose, both CSR: `M @ dense` differentiates in dense.

    Keeping the transpose makes the gradient, M^T G, as fast as the product itself.
    """

    matrix: Tensor
    transpose: Tensor

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

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.matrix.shape

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(self.matrix, self.transpose, dense)  # type: ignore[no-untyped-call]
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.transpose = transpose
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.transpose @ grads[0]


def _csr_tensor(matrix: Any, device: torch.device | str, dtype: torch.dtype) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data.copy()).to(dtype),
            size=matrix.shape,
            check_invariants=False,
            device=device,
        )
