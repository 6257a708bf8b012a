"""Diffusion: how much of what starts at one node reaches another, kept for the nearest nodes.

A diffusion adds up the steps of a random walk, `f(W) = sum_k c_k W^k` with `W = D^-1 A`:

    personalised PageRank    c_k = alpha (1 - alpha)^k          a walk that stops by chance
    heat                     c_k = e^-t t^k / k!                a walk of t steps on average

or, with the normalised adjacency in the place of W, `f(D^-1/2 A D^-1/2) = D^1/2 f(W) D^-1/2`. As
matrices both are dense. Here every node i walks with a sparse row v, from which after each step
the entries are dropped that matter little to all that follows,

    t_k v_j <= a_i d_j,    t_k = c_k + c_{k+1} + ...,    a_i = a / max(1, d_i / HUB)

with d in units of the median weight. Then at most `a_i d_j` of entry j of `f(W)` is lost in a step,
and the walk goes over at most `(t_0 + t_1 + ...) / a_i` edges, if all weigh the same: the whole
costs O((N + E) / a), not O(N E). (Because d_j W_jk = d_k W_kj, what is dropped adds up to no more
at any other node; and what is not dropped is more than `a_i d_j / t_k`, of which there is not
much.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Coefficients = npt.NDArray[np.float64]

LOST = 1e-3
"""The accuracy a, times the number of nodes that are kept: the fewer, the coarser it may be.

On the co-author, co-purchase and citation graphs, the nodes that are found have more than 99 % of
what the nearest nodes have.
"""

HUB = 16.0
"""From this degree on a node's walk is the finer the more neighbours it shares itself among."""

BLOCK = 256
"""Nodes that walk at a time, and at most as many times: each costs N at least."""

_REST = 1e-9


def pagerank_coefficients(teleport: float) -> Coefficients:
    """`alpha (1 - alpha)^k` for k = 0, 1, ..., as long as the rest matters."""
    count = 1 + np.ceil(np.log(_REST) / np.log1p(-teleport)).astype(int)
    coefficients: Coefficients = teleport * (1 - teleport) ** np.arange(count)
    return coefficients


def heat_coefficients(time: float) -> Coefficients:
    """`e^-t t^k / k!` for k = 0, 1, ..., as long as the rest matters."""
    logs = -time + np.log(time) * np.arange(int(50 + 3 * time))
    logs[1:] -= np.cumsum(np.log(np.arange(1, logs.size)))
    coefficients = np.exp(logs)
    kept: Coefficients = coefficients[: 1 + np.flatnonzero(_tails(coefficients) > _REST)[-1]]
    return kept


def diffusion(
    adjacency: Any, coefficients: Coefficients, neighbours: int, accuracy: float | None = None
) -> Any:
    """`f(D^-1/2 A D^-1/2)` with the entries that are among the largest of their row or column.

    Args:
        adjacency: A with its self-loops, symmetric, SciPy CSR.
        coefficients: c.
        neighbours: k, how many entries of a row count as large.
        accuracy: a; by default `LOST / k`.

    Returns:
        A symmetric CSR matrix, float32.
    """
    columns, values = nearest(adjacency, coefficients, neighbours, accuracy=accuracy)
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    kept = sp.csr_array((values.ravel(), columns.ravel(), starts), shape=adjacency.shape)
    return sp.csr_array(kept.maximum(kept.T))


def nearest(
    adjacency: Any,
    coefficients: Coefficients,
    neighbours: int,
    *,
    power: float = 0.5,
    accuracy: float | None = None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """For each node the nodes with the largest `d_v^p f(W)_vj d_j^-p`, and these values.

    Args:
        adjacency: as for `diffusion`.
        coefficients: c.
        neighbours: k.
        power: p: 1/2 for the diffusion by the normalised adjacency, 1 for that by `A D^-1`.
        accuracy: as for `diffusion`.

    Returns:
        Two N x k arrays (k at most N), values descending; zeros where there are fewer.
    """
    size = adjacency.shape[0]
    count = min(neighbours, size)
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    nodes = np.zeros((size, count), dtype=np.int32)
    values = np.zeros((size, count), dtype=np.float32)
    weights = np.where(degree > 0, degree, 1) ** power
    accuracy = LOST / neighbours if accuracy is None else accuracy
    for block, reached in _walks(adjacency, degree, coefficients, accuracy):
        reached.data *= np.repeat(weights[block], np.diff(reached.indptr))
        reached.data /= weights[reached.indices]
        rows, places, entries = _largest(reached, count)
        nodes[block][rows, places] = reached.indices[entries]
        values[block][rows, places] = reached.data[entries]
    return nodes, values


def _walks(
    adjacency: Any, degree: npt.NDArray[np.float64], coefficients: Coefficients, accuracy: float
) -> Iterator[tuple[slice, Any]]:
    """Some rows of `f(W)` after others, sparse."""
    size, tails = adjacency.shape[0], _tails(coefficients)
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    walk = sp.csr_array(sp.diags_array(inverse) @ adjacency, dtype=np.float32)
    weight = np.median(adjacency.data) if adjacency.nnz else 1.0
    least = (accuracy / weight * degree).astype(np.float32)
    finer = np.maximum(1, degree / (weight * HUB)).astype(np.float32)
    together = max(BLOCK, size // BLOCK)
    for start in range(0, size, together):
        block = slice(start, min(start + together, size))
        shape = block.stop - start, size
        nodes = np.arange(shape[0])
        current = sp.csr_array((finer[block], (nodes, nodes + start)), shape)
        parts = [(np.float32(coefficients[0]) * current.data, nodes, current.indices)]
        for coefficient, tail in zip(coefficients[1:], tails[1:], strict=True):
            current = current @ walk
            current = _without(current, current.data * np.float32(tail) <= least[current.indices])
            if not current.nnz:
                break
            rows = np.repeat(nodes, np.diff(current.indptr))
            parts.append((np.float32(coefficient) * current.data, rows, current.indices))
        values, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        yield block, sp.csr_array((values / finer[block][rows], (rows, columns)), shape)


def _without(matrix: Any, dropped: npt.NDArray[np.bool_]) -> Any:
    """A CSR matrix without some of its entries."""
    before = np.concatenate([[0], np.cumsum(~dropped)])
    parts = matrix.data[~dropped], matrix.indices[~dropped], before[matrix.indptr]
    return sp.csr_array(parts, shape=matrix.shape)


def _largest(matrix: Any, count: int) -> tuple[Any, Any, Any]:
    """Rows, ranks and positions of the largest entries of each row."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, rows))
    ranks = np.arange(rows.size) - matrix.indptr[rows]
    kept = ranks < count
    return rows[kept], ranks[kept], order[kept]


def _tails(coefficients: Coefficients) -> Coefficients:
    """`c_k + c_{k+1} + ...` for each k."""
    tails: Coefficients = np.cumsum(coefficients[::-1])[::-1]
    return tails
