"""Structural embedding of large graphs: the edges factorised between steps of a random walk.

With L = log max(1, vol D^-1 A D^-1), NetMF's matrix M for walks of one step, which has the entries
of A, and P = D'^-1/2 (A + c I) D'^-1/2, with c the mean edge weight, the embedding is
`U sqrt(S)` of the leading singular triplets of

    P^4 L P^3,

found by subspace iteration. The product is never formed: it is applied to a block of columns by
sparse products with P and L, which have the entries of A. P chooses directions that vary little
along edges and smooths the rows. ProNE smooths the factors of L in the same way, after the
factorisation (Zhang et al., "ProNE: Fast and Scalable Network Representation Learning", IJCAI
2019).

Cost: O((N + E) columns) time, of `PRODUCTS` sparse products with all columns, and O(N columns)
memory, of one array of all columns and two of `BLOCK`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.buffers import mapped_tensor, new_empty
from ugcl._utils.linalg import OVERSAMPLES
from ugcl._utils.random import numpy_generator
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.scope.adjacency import stored_adjacency
from ugcl.sparse import csr_tensor, multiply
from ugcl.typing import CSRMatrix

STEPS = 3
"""Steps of the walk on each side of L."""

ITERATIONS = 3
"""Products with the whole matrix, the last of which gives the embedding."""

PRODUCTS = ITERATIONS * (2 * STEPS + 1) + 1
"""Sparse products of all columns."""

BLOCK = 80
"""Columns that are multiplied at a time: rows of 320 bytes are fetched fastest."""

ROWS = 2**14
"""Rows that are rotated at a time, in place."""

MIN_VARIANCE = 1e-10
"""Directions with a smaller fraction of the largest one's variance are rounding errors."""


def propagated_embedding(
    adjacency: CSRMatrix, columns: int, seed: int = 0, work: Workspace | None = None
) -> npt.NDArray[np.float32]:
    """Return `U sqrt(S)` of the leading singular triplets of `P^4 L P^3`, N x columns.

    Args:
        adjacency: A, symmetric, without diagonal, with at least one edge.
        columns: the number of singular directions, at most N.
        seed: the seed of the random start.
        work: where the matrices are kept; by default in memory.
    """
    work = Workspace() if work is None else work
    size = adjacency.shape[0]
    width = min(size, columns + OVERSAMPLES)
    walk, log_edges = propagation_matrices(adjacency, work)
    work.release()
    before, after = [walk] * STEPS, [walk] * STEPS
    rows = new_empty(torch.empty(0), (size, width))
    block = min(BLOCK, width)
    if work.memory is not None:
        block = min(block, work.block_width(size, width, held=rows.nbytes))
    numpy_generator("structure", seed).standard_normal(out=rows.numpy(), dtype=np.float32)
    for _ in range(ITERATIONS - 1):
        _multiply_in_place([*before, log_edges, *after], rows, block)
        for _ in range(2):  # the second time for what rounding left
            variances, axes = _principal_axes(rows)
            _rotate(rows, axes / variances.sqrt())
    _multiply_in_place([*before, log_edges, *after, walk], rows, block)
    variances, axes = _principal_axes(rows)
    _rotate(rows, (axes / variances.pow(1 / 4))[:, :columns])
    return rows[:, :columns].numpy()


def propagation_matrices(
    adjacency: CSRMatrix, work: Workspace | None = None
) -> tuple[Tensor, Tensor]:
    """Return P and L as CSR tensors, kept in `work`."""
    work = Workspace() if work is None else work
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    volume, starts = degree.sum(), adjacency.indptr

    def log_values() -> Iterator[tuple[npt.NDArray[np.float32]]]:
        for rows in row_blocks(adjacency.shape[0]):
            lengths = np.diff(starts[rows.start : rows.stop + 1])
            entries = slice(int(starts[rows.start]), int(starts[rows.stop]))
            values = volume * adjacency.data[entries]
            values /= np.repeat(degree[rows], lengths)
            values /= degree[adjacency.indices[entries]]
            np.log(np.maximum(values, 1, out=values), out=values)
            yield (values.astype(np.float32),)

    walk = stored_adjacency(adjacency, float(adjacency.data.mean()), work, "walk").matrix
    specs = {"log edges": ((adjacency.nnz,), np.dtype(np.float32))}
    (values,) = work.arrays(specs, log_values())
    columns, first = mapped_tensor(adjacency.indices), mapped_tensor(starts)
    return walk, csr_tensor(first, columns, values, adjacency.shape)


def _multiply_in_place(factors: list[Tensor], rows: Tensor, step: int) -> None:
    """Replace rows H by `F_k ... F_1 H`, a block of columns at a time."""
    width = rows.shape[1]
    bounds = np.linspace(0, width, 1 + -(-width // step)).astype(int)
    for first, last in pairwise(bounds.tolist()):
        block = rows[:, first:last]
        shape = block.shape
        buffers = [new_empty(rows, shape), new_empty(rows, shape)]
        product = buffers[0].copy_(block)
        for step, factor in enumerate(factors):
            product = multiply(factor, product, out=buffers[(step + 1) % 2])
        block.copy_(product)


def _principal_axes(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the squared singular values, at least `MIN_VARIANCE` of the largest, and V.

    Descending, with signs that do not depend on the machine; axes of smaller values are zero.
    """
    gram = torch.zeros(rows.shape[1], rows.shape[1], dtype=torch.float64)
    for part in _parts(rows):
        gram += part.T @ part  # in single precision, summed in double
    variances, axes = torch.linalg.eigh(gram)
    variances, axes = variances.flip(0), axes.flip(1)
    largest = axes.gather(0, axes.abs().argmax(dim=0, keepdim=True))
    axes = axes * largest.sign()
    least = variances[0].clamp_min(torch.finfo(torch.float64).tiny) * MIN_VARIANCE
    return variances.clamp_min(least), axes * (variances > least)


def _rotate(rows: Tensor, axes: Tensor) -> None:
    """Replace the first columns of the rows by `rows @ axes`."""
    axes = axes.float()
    for part in _parts(rows):
        part[:, : axes.shape[1]] = part @ axes


def _parts(rows: Tensor) -> Iterator[Tensor]:
    return (rows[start : start + ROWS] for start in range(0, rows.shape[0], ROWS))
