"""Sparse graph diffusion: personalised PageRank and heat kernels with their largest entries.

A diffusion is a weighted sum of the steps of a random walk, `f(W) = sum_k c_k W^k`, `W = D^-1 A`:

    personalised PageRank    c_k = alpha (1 - alpha)^k
    heat                     c_k = e^-t t^k / k!

or the same function of the normalised adjacency, `f(D^-1/2 A D^-1/2) = D^1/2 f(W) D^-1/2`. Both are
dense. Here the walk of every node i is a sparse row v, and after each step the entries with

    t_k v_j <= a_i d_j,    t_k = c_k + c_{k+1} + ...,    a_i = a / max(1, d_i / HUB_DEGREE)

are dropped, with d in units of the median edge weight. A step changes entry j of `f(W)` by at most
`a_i d_j` and, with equal weights, visits at most `(t_0 + t_1 + ...) / a_i` edges: the total cost is
O((N + E) / a), not O(N E). (Because d_j W_jk = d_k W_kj, the dropped mass adds up to no more than
that at any other node. Kept entries have v_j > a_i d_j / t_k and sum to at most 1, so that their
degrees sum to less than t_k / a_i.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import CSRMatrix

Coefficients = npt.NDArray[np.float64]

TOLERANCE = 1e-3
"""The tolerance a times the number of entries kept in a row.

On the co-author, co-purchase and citation graphs the selected entries have more than 99 % of the
sum of the exact largest entries.
"""

HUB_DEGREE = 16.0
"""Above this degree the tolerance of a node's walk decreases with its degree."""

BLOCK = 256
"""Minimum number of walks in a block, and maximum number of blocks: each block costs O(N)."""

MAX_TRUNCATED = 1e-9
"""Series are truncated when the remaining coefficients sum to less than this."""


def pagerank_coefficients(teleport: float) -> Coefficients:
    """Return `alpha (1 - alpha)^k` for k = 0, 1, ..., truncated."""
    count = 1 + np.ceil(np.log(MAX_TRUNCATED) / np.log1p(-teleport)).astype(int)
    coefficients: Coefficients = teleport * (1 - teleport) ** np.arange(count)
    return coefficients


def heat_coefficients(time: float) -> Coefficients:
    """Return `e^-t t^k / k!` for k = 0, 1, ..., truncated."""
    logs = -time + np.log(time) * np.arange(int(50 + 3 * time))
    logs[1:] -= np.cumsum(np.log(np.arange(1, logs.size)))
    coefficients: Coefficients = np.exp(logs)
    return coefficients[: 1 + np.flatnonzero(_tails(coefficients) > MAX_TRUNCATED)[-1]]


def diffusion(
    adjacency: CSRMatrix, coefficients: Coefficients, k: int, tolerance: float | None = None
) -> CSRMatrix:
    """Return `f(D^-1/2 A D^-1/2)` with the entries that are in the top k of their row or column.

    Args:
        adjacency: A with its self-loops, symmetric.
        coefficients: c.
        k: number of entries of a row.
        tolerance: a; by default `TOLERANCE / k`.

    Returns:
        A symmetric CSR matrix, float32.
    """
    columns, values = top_k_diffusion(adjacency, coefficients, k, tolerance=tolerance)
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    top = sp.csr_array((values.ravel(), columns.ravel(), starts), shape=adjacency.shape)
    return sp.csr_array(top.maximum(top.T))


def top_k_diffusion(
    adjacency: CSRMatrix,
    coefficients: Coefficients,
    k: int,
    *,
    power: float = 0.5,
    tolerance: float | None = None,
    sources: npt.NDArray[np.int64] | None = None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return for each node i the k nodes j with the largest `d_i^p f(W)_ij d_j^-p`, and the values.

    Args:
        adjacency: as for `diffusion`.
        coefficients: c.
        k: number of nodes.
        power: p, 1/2 for the normalised adjacency and 1 for `A D^-1`.
        tolerance: as for `diffusion`.
        sources: the nodes i; by default all.

    Returns:
        Two arrays, a row for each node i and min(k, N) columns, values descending, filled up with
        zeros.
    """
    sources = np.arange(adjacency.shape[0]) if sources is None else sources
    size, count = sources.size, min(k, adjacency.shape[0])
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    nodes = np.zeros((size, count), dtype=np.int32)
    values = np.zeros((size, count), dtype=np.float32)
    weights = np.where(degree > 0, degree, 1) ** power
    tolerance = TOLERANCE / k if tolerance is None else tolerance
    for block, matrix in _diffusion_rows(adjacency, degree, coefficients, tolerance, sources):
        matrix.data *= np.repeat(weights[sources[block]], np.diff(matrix.indptr))
        matrix.data /= weights[matrix.indices]
        rows, ranks, entries = _largest(matrix, count)
        nodes[block][rows, ranks] = matrix.indices[entries]
        values[block][rows, ranks] = matrix.data[entries]
    return nodes, values


def _diffusion_rows(
    adjacency: CSRMatrix,
    degree: npt.NDArray[np.float64],
    coefficients: Coefficients,
    tolerance: float,
    sources: npt.NDArray[np.int64],
) -> Iterator[tuple[slice, CSRMatrix]]:
    """Yield blocks of those rows of `f(W)`."""
    size, tails = sources.size, _tails(coefficients)
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    walk = sp.csr_array(sp.diags_array(inverse) @ adjacency, dtype=np.float32)
    weight = np.median(adjacency.data) if adjacency.nnz else 1.0
    threshold = (tolerance / weight * degree).astype(np.float32)
    scale = np.maximum(1, degree / (weight * HUB_DEGREE)).astype(np.float32)
    step = max(BLOCK, size // BLOCK)
    for start in range(0, size, step):
        block = slice(start, min(start + step, size))
        shape = block.stop - start, adjacency.shape[0]
        nodes, scales = np.arange(shape[0]), scale[sources[block]]
        current = sp.csr_array((scales, (nodes, sources[block])), shape)
        terms = [(np.float32(coefficients[0]) * current.data, nodes, current.indices)]
        for coefficient, tail in zip(coefficients[1:], tails[1:], strict=True):
            current = current @ walk
            kept = current.data * np.float32(tail) > threshold[current.indices]
            current = _select_entries(current, kept)
            if not current.nnz:
                break
            rows = np.repeat(nodes, np.diff(current.indptr))
            terms.append((np.float32(coefficient) * current.data, rows, current.indices))
        values, rows, columns = (np.concatenate(part) for part in zip(*terms, strict=True))
        yield block, sp.csr_array((values / scales[rows], (rows, columns)), shape)


def _select_entries(matrix: CSRMatrix, mask: npt.NDArray[np.bool_]) -> CSRMatrix:
    starts = np.concatenate([[0], np.cumsum(mask)])[matrix.indptr]
    return sp.csr_array((matrix.data[mask], matrix.indices[mask], starts), shape=matrix.shape)


def _largest(
    matrix: CSRMatrix, count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row, rank and position of the largest entries of each row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, rows))
    ranks = np.arange(rows.size) - matrix.indptr[rows]
    top = ranks < count
    return rows[top], ranks[top], order[top]


def _tails(coefficients: Coefficients) -> Coefficients:
    """Return `c_k + c_{k+1} + ...` for each k."""
    tails: Coefficients = np.cumsum(coefficients[::-1])[::-1]
    return tails
