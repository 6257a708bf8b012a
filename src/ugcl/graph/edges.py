"""Edge lists, and the simple undirected adjacency matrix that is built from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.typing import CSRMatrix

Nodes = npt.NDArray[np.int32 | np.int64]


@dataclass(frozen=True)
class EdgeList:
    """Edges as arrays of their endpoints, in any order and perhaps with duplicates.

    Attributes:
        sources: first node of each edge, (E,) integers.
        targets: second node of each edge, (E,) integers.
        weights: weight of each edge, (E,) finite numbers >= 0, or None.
        directed: whether (u, v) and (v, u) are distinct edges even if their weights are equal.
    """

    sources: npt.NDArray[Any]
    targets: npt.NDArray[Any]
    weights: npt.ArrayLike | None
    directed: bool = False

    @classmethod
    def from_pairs(
        cls, pairs: npt.ArrayLike, weights: npt.ArrayLike | None = None, name: str = "edges"
    ) -> EdgeList:
        """Split an E x 2 array into sources and targets; `name` is for error messages."""
        table = edge_table(pairs, name)
        if table.size == 0:
            table = np.empty((0, 2), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            hint = ": transpose it" if table.ndim == 2 and table.shape[0] == 2 else ""
            raise UGCLError(f"{name} must be an E x 2 array of nodes, not {table.shape}{hint}")
        return cls(table[:, 0], table[:, 1], weights)

    @classmethod
    def from_matrix(
        cls, matrix: CSRMatrix, num_nodes: int, weighted: bool | None = None
    ) -> EdgeList:
        """Take the entries of a SciPy matrix.

        Args:
            matrix: N x N, in any sparse format.
            num_nodes: N.
            weighted: whether values are weights; by default, whether any differs from 1.
        """
        try:
            entries = sp.coo_array(matrix)
        except (TypeError, ValueError) as error:
            raise UGCLError(f"the adjacency must be a SciPy matrix: {error}") from error
        if entries.shape != (num_nodes, num_nodes):
            raise UGCLError(
                f"the adjacency matrix has the shape {entries.shape} but there are features of "
                f"{num_nodes} nodes: give one row of features for each node"
            )
        if weighted is None:
            weighted = bool((entries.data != 1).any())
        sources, targets = entries.coords
        return cls(sources, targets, entries.data if weighted else None)


def edge_table(edges: npt.ArrayLike, name: str = "edges") -> npt.NDArray[Any]:
    """Convert edges to an array; `name` is for error messages."""
    try:
        return np.asarray(edges)
    except ValueError as error:
        raise UGCLError(f"{name} must be an E x 2 array of nodes: {error}") from error


def simple_adjacency(edges: EdgeList, num_nodes: int) -> tuple[CSRMatrix, tuple[str, ...]]:
    """Build a symmetric adjacency matrix without diagonal, and describe what was changed.

    Self-loops and edges of weight zero are removed. The weights of duplicates are summed. An edge
    listed in both directions with equal weights, as PyTorch Geometric and SciPy store graphs, keeps
    that weight; if the weights differ, or the list is directed, they are summed. Without weights
    every edge has weight 1. Cost: O(E + N) without weights, O(E log E) with them.

    Args:
        edges: the edges.
        num_nodes: N; nodes are 0 to N - 1.

    Returns:
        The adjacency matrix (N x N, float32, canonical CSR) and one sentence for each change.
    """
    rows, columns = _endpoints(edges.sources, edges.targets, num_nodes)
    counts = MergeCounts(summed=edges.weights is not None)
    loops = rows == columns
    counts.loops = int(loops.sum())
    if edges.weights is None:
        if counts.loops:
            rows, columns = rows[~loops], columns[~loops]
        adjacency = _unweighted(rows, columns, num_nodes, counts)
    else:
        values = _edge_weights(edges.weights, rows.size)
        counts.zero = int((~loops & (values == 0)).sum())
        keep = ~loops & (values != 0)
        rows, columns = (ends[keep].astype(np.int64) for ends in (rows, columns))
        parts = rows, columns, values[keep]
        adjacency = _weighted(*parts, num_nodes, counts, directed=edges.directed)
    return adjacency, counts.notes(directed=edges.directed)


@dataclass
class MergeCounts:
    """How many edges were changed to make an adjacency simple and symmetric.

    Attributes:
        summed: whether the edges have weights, which are summed.
        loops, zero: self-loops, and other edges of weight zero.
        listed: edges besides these.
        distinct: pairs (u, v) that are listed in this direction.
        entries: pairs that are listed in any direction, counted in both.
        once: edges that are listed in both directions with the same weight.
        added: edges whose directions are summed.
    """

    summed: bool
    loops: int = 0
    zero: int = 0
    listed: int = 0
    distinct: int = 0
    entries: int = 0
    once: int = 0
    added: int = 0

    def add(
        self,
        forward: npt.NDArray[np.float64],
        backward: npt.NDArray[np.float64],
        same: npt.NDArray[np.bool_],
    ) -> None:
        """Count pairs u < v by the sums of their weights in both directions."""
        self.distinct += int((forward > 0).sum() + (backward > 0).sum())
        self.entries += 2 * same.size
        self.once += int(same.sum())
        self.added += int((~same & (forward > 0) & (backward > 0)).sum())

    def notes(self, *, directed: bool) -> tuple[str, ...]:
        """Return one sentence for each change."""
        notes = []
        if self.loops:
            notes.append(f"removed {self.loops:,} self-loop{_s(self.loops)}")
        if self.zero:
            notes.append(f"removed {self.zero:,} edge{_s(self.zero)} of weight zero")
        if one_way := self.entries - self.distinct:
            notes.append(f"symmetrised {one_way:,} edge{_s(one_way)} listed in one direction only")
        if duplicates := self.listed - self.distinct:
            how = ", summing their weights" if self.summed else ""
            notes.append(f"merged {duplicates:,} duplicate edge{_s(duplicates)}{how}")
        if self.once and 2 * self.once < self.entries:
            notes.append(
                f"counted once {self.once:,} edge{_s(self.once)} listed in both directions with "
                "the same weight"
            )
        if self.added:
            why = "" if directed else " listed with different weights"
            notes.append(f"added the two directions of {self.added:,} edge{_s(self.added)}{why}")
        return tuple(notes)


def is_simple(matrix: CSRMatrix) -> bool:
    """Return whether `simple_adjacency` would leave a matrix as it is."""
    if matrix.format != "csr" or matrix.dtype != np.float32 or not matrix.has_canonical_format:
        return False
    if not (np.isfinite(matrix.data) & (matrix.data > 0)).all() or matrix.diagonal().any():
        return False
    mirrored = matrix.T.tocsr()
    return all(
        np.array_equal(getattr(matrix, part), getattr(mirrored, part))
        for part in ("indptr", "indices", "data")
    )


def _unweighted(rows: Nodes, columns: Nodes, num_nodes: int, counts: MergeCounts) -> CSRMatrix:
    """Return the union of the edges and their transposes; needs counting sorts only."""
    shape = (num_nodes, num_nodes)
    listed = sp.csr_array((np.ones(rows.size, dtype=bool), (rows, columns)), shape=shape)
    mirrored = listed.T.tocsr()
    both = listed
    if not np.array_equal(listed.indices, mirrored.indices) or not np.array_equal(
        listed.indptr, mirrored.indptr
    ):
        both = listed + mirrored
    counts.listed, counts.distinct, counts.entries = rows.size, listed.nnz, both.nnz
    ones = np.ones(both.nnz, dtype=np.float32)
    return sp.csr_array((ones, both.indices, both.indptr), shape=shape)


def _weighted(
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    num_nodes: int,
    counts: MergeCounts,
    *,
    directed: bool,
) -> CSRMatrix:
    """Return the symmetric matrix of summed weights."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    pairs, which = np.unique(low * num_nodes + high, return_inverse=True)
    forward, backward = (
        np.bincount(which[order], weights=values[order], minlength=pairs.size).astype(np.float64)
        for order in (rows < columns, rows > columns)
    )
    merged, same = merged_weights(forward, backward, directed=directed)
    counts.listed = rows.size
    counts.add(forward, backward, same)
    low, high = np.divmod(pairs, num_nodes)
    adjacency = sp.csr_array(
        (
            float32_weights(np.concatenate([merged, merged])),
            (np.concatenate([low, high]), np.concatenate([high, low])),
        ),
        shape=(num_nodes, num_nodes),
    )
    adjacency.sort_indices()
    return adjacency


def merged_weights(
    forward: npt.NDArray[np.float64], backward: npt.NDArray[np.float64], *, directed: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the weights of pairs u < v, and which are listed twice with the same weight.

    Args:
        forward: sum of the weights of (u, v).
        backward: sum of the weights of (v, u).
        directed: whether (u, v) and (v, u) are distinct edges.
    """
    same = np.isclose(forward, backward, rtol=1e-6, atol=0) & (not directed)
    return np.where(same, forward, forward + backward), same


def float32_weights(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return weights in single precision, where they are normal numbers."""
    limits = np.finfo(np.float32)
    outside = (weights > limits.max) | (weights < limits.tiny)
    if outside.any():
        raise UGCLError(
            f"edge weights must be between {limits.tiny:.1e} and {limits.max:.1e}, but one is "
            f"{weights[outside][0]:.1e}: rescale them"
        )
    return weights.astype(np.float32)


def _endpoints(
    sources: npt.NDArray[Any], targets: npt.NDArray[Any], num_nodes: int
) -> tuple[Nodes, Nodes]:
    ends: list[Nodes] = []
    for name, values in (("sources", sources), ("targets", targets)):
        nodes = np.asarray(values)
        if nodes.size and not np.issubdtype(nodes.dtype, np.integer):
            raise UGCLError(
                f"edges must be pairs of node indices, but the {name} are of type {nodes.dtype}: "
                "give integers from 0 to N - 1"
            )
        if nodes.dtype != np.int32:
            nodes = nodes.astype(np.int64)
        ends.append(nodes.reshape(-1))
    if ends[0].size != ends[1].size:
        raise UGCLError(
            f"the edges have {ends[0].size} sources but {ends[1].size} targets: give one each"
        )
    outside = [(nodes < 0) | (nodes >= num_nodes) for nodes in ends]
    if (bad := outside[0] | outside[1]).any():
        first = int(bad.argmax())
        raise UGCLError(
            f"{int(bad.sum()):,} edge(s) have an endpoint that does not exist, the first being "
            f"edge {first} ({ends[0][first]}, {ends[1][first]}): the graph has {num_nodes:,} "
            "nodes, numbered from 0; check the indices or add the missing rows of features"
        )
    return ends[0], ends[1]


def _edge_weights(weights: npt.ArrayLike, count: int) -> npt.NDArray[np.float64]:
    try:
        values = np.asarray(weights, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise UGCLError(f"edge weights must be numbers: {error}") from error
    if values.size != count:
        raise UGCLError(f"there are {count:,} edges but {values.size:,} weights: give one each")
    for what, bad in (("NaN or infinite", ~np.isfinite(values)), ("negative", values < 0)):
        if bad.any():
            first = int(bad.argmax())
            raise UGCLError(
                f"{int(bad.sum()):,} edge weight(s) are {what}, the first being edge {first} "
                f"({values[first]}): correct or remove these edges"
            )
    return values


def _s(count: int) -> str:
    return "" if count == 1 else "s"
