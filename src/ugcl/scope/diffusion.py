"""Diffusion: how much of what starts at one node reaches another, kept for the nearest nodes.

A diffusion is a function of the normalised adjacency, `f(A) = U f(Lambda) U^T`:

    personalised PageRank    f(x) = alpha / (1 - (1 - alpha) x)
    heat                     f(x) = e^{-t (1 - x)}

As matrices both are dense. Here f is a sum of Chebyshev polynomials, `f(A) E = sum_m c_m T_m(A) E`
with `T_{m+1} = 2 A T_m - T_{m-1}`, which a few nodes E at a time need sparse products for and
nothing else; and of each node's row only the k largest entries are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from numpy.polynomial.chebyshev import chebinterpolate
from torch import Tensor

from ugcl.sparse import SparseMatrix

Response = Callable[[Any], Any]

ACCURACY = 1e-6
"""The error of entries, which are at most 1; smaller ones are taken for zero."""

BLOCK = 128
"""Nodes whose rows are computed at a time."""

_DEGREE = 256


def pagerank_response(teleport: float) -> Response:
    """Personalised PageRank, in every step of which a walk starts anew with this probability."""
    return lambda x: teleport / (1 - (1 - teleport) * x)


def heat_response(time: float) -> Response:
    """The heat that is where, after some time, all of it having been at one node."""
    return lambda x: np.exp(-time * (1 - x))


def diffusion(adjacency: Any, response: Response, neighbours: int) -> Any:
    """`f(A)`, of which an entry is kept if it is among the largest of its row or of its column.

    Cost: O(N E) time for dense rows, O(N k) memory.

    Args:
        adjacency: the normalised adjacency, symmetric with eigenvalues in [-1, 1], SciPy CSR.
        response: f.
        neighbours: k, how many entries of a row count as large.

    Returns:
        A symmetric CSR matrix, float32.
    """
    columns, values = nearest(adjacency, response, neighbours)
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    kept = sp.csr_array((values.ravel(), columns.ravel(), starts), shape=adjacency.shape)
    kept.eliminate_zeros()
    kept.sort_indices()
    return sp.csr_array(kept.maximum(kept.T))


def nearest(
    adjacency: Any,
    response: Response,
    neighbours: int,
    weights: npt.NDArray[np.float32] | None = None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """For each node the nodes with the largest `f(A)_vj w_j`, and these values.

    Args:
        adjacency: as for `diffusion`.
        response: f.
        neighbours: k.
        weights: w; None for ones.

    Returns:
        Two N x k arrays (k at most N), values descending; zeros where there are fewer.
    """
    size = adjacency.shape[0]
    count = min(neighbours, size)
    nodes = np.empty((size, count), dtype=np.int32)
    values = np.empty((size, count), dtype=np.float32)
    for block, rows in _rows(adjacency, response):
        if weights is not None:
            rows *= torch.from_numpy(weights)
        largest = rows.topk(count, dim=1)
        nodes[block], values[block] = largest.indices.numpy(), largest.values.numpy()
    return nodes, values


def _rows(adjacency: Any, response: Response) -> Iterator[tuple[slice, Tensor]]:
    """Some rows of `f(A)` after others, dense."""
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    coefficients = _coefficients(response)
    size = matrix.shape[0]
    for start in range(0, size, BLOCK):
        block = slice(start, min(start + BLOCK, size))
        unit = torch.zeros(size, block.stop - start)
        unit[torch.arange(start, block.stop), torch.arange(block.stop - start)] = 1
        rows = _applied(matrix, coefficients, unit).T.contiguous()
        yield block, torch.where(rows > ACCURACY, rows, 0)


def _applied(matrix: Tensor, coefficients: npt.NDArray[np.float64], block: Tensor) -> Tensor:
    """`sum_m c_m T_m(A) E`."""
    before, current = block, torch.mm(matrix, block)
    total = before * float(coefficients[0])
    for coefficient in coefficients[1:]:
        total.add_(current, alpha=float(coefficient))
        after = torch.addmm(before, matrix, current, beta=-1, alpha=2)
        before, current = current, after
    return total


def _coefficients(response: Response) -> npt.NDArray[np.float64]:
    """Those of the Chebyshev polynomials, as many as `ACCURACY` needs: 20 or so."""
    coefficients: npt.NDArray[np.float64] = chebinterpolate(response, _DEGREE)
    rest = np.abs(coefficients[::-1]).cumsum()[::-1]
    needed = max(2, int(np.argmax(rest < ACCURACY / 2)))
    return coefficients[:needed]
