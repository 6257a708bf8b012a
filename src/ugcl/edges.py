"""From a list of edges, as people have them, to a simple undirected adjacency matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.errors import UGCLError


def simple_adjacency(
    sources: npt.ArrayLike,
    targets: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    num_nodes: int,
) -> tuple[Any, tuple[str, ...]]:
    """Build a symmetric CSR matrix without diagonal, and say what was changed on the way.

    Self-loops and edges of weight zero are removed. A list that holds every edge in both
    directions with the same weight (as PyTorch Geometric and SciPy store graphs) is taken as it
    is; in any other list each entry is one undirected edge, and entries that join the same two
    nodes are merged into one whose weight is their sum. Without weights every edge weighs 1,
    however often it is listed.

    Args:
        sources: first node of each entry, E integers.
        targets: second node of each entry, E integers.
        weights: weight of each entry, E finite numbers >= 0, or None.
        num_nodes: N; nodes are 0 to N - 1.

    Returns:
        The adjacency matrix (N x N, float32, canonical CSR) and one sentence for each change.
    """
    rows, columns = _node_numbers(sources, targets, num_nodes)
    values = _edge_weights(weights, rows.size)
    notes: list[str] = []

    keep = rows != columns
    if removed := int(rows.size - keep.sum()):
        notes.append(f"removed {removed:,} self-loop{_s(removed)}")
    if zero := int((keep & (values == 0)).sum()):
        notes.append(f"removed {zero:,} edge{_s(zero)} of weight zero")
        keep &= values != 0
    rows, columns, values = rows[keep], columns[keep], values[keep]

    listed = sp.csr_array((values, (rows, columns)), shape=(num_nodes, num_nodes))
    listed.sum_duplicates()
    if weights is None:
        listed.data[:] = 1
    if listed.nnz == 0 or (listed != listed.T).nnz == 0:
        adjacency = listed
        duplicates = rows.size - listed.nnz
    else:
        adjacency = (listed + listed.T).tocsr()
        if weights is None:
            adjacency.data[:] = 1
        one_way = adjacency.nnz - listed.nnz
        notes.append(f"symmetrised {one_way:,} edge{_s(one_way)} listed in one direction only")
        duplicates = rows.size - adjacency.nnz // 2
    if duplicates:
        how = "" if weights is None else ", summing their weights"
        notes.append(f"merged {duplicates:,} duplicate edge{_s(duplicates)}{how}")
    adjacency = adjacency.astype(np.float32)
    adjacency.sort_indices()
    return adjacency, tuple(notes)


def _node_numbers(
    sources: npt.ArrayLike, targets: npt.ArrayLike, num_nodes: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    ends = []
    for name, given in (("sources", sources), ("targets", targets)):
        nodes = np.asarray(given)
        if nodes.size and not np.issubdtype(nodes.dtype, np.integer):
            raise UGCLError(
                f"edges join nodes by number, but the {name} are of type {nodes.dtype}: "
                "give integers from 0 to the number of nodes less one"
            )
        ends.append(nodes.astype(np.int64).reshape(-1))
    if ends[0].size != ends[1].size:
        raise UGCLError(
            f"the edges have {ends[0].size} sources but {ends[1].size} targets: give one each"
        )
    outside = [(nodes < 0) | (nodes >= num_nodes) for nodes in ends]
    if (bad := outside[0] | outside[1]).any():
        first = int(bad.argmax())
        raise UGCLError(
            f"{int(bad.sum()):,} edge(s) join a node that is not there, the first being entry "
            f"{first} ({ends[0][first]}, {ends[1][first]}): the graph has {num_nodes:,} nodes, "
            f"numbered from 0; check the numbering or add the missing rows of features"
        )
    return ends[0], ends[1]


def _edge_weights(weights: npt.ArrayLike | None, count: int) -> npt.NDArray[np.float64]:
    if weights is None:
        return np.ones(count)
    values = np.asarray(weights, dtype=np.float64).reshape(-1)
    if values.size != count:
        raise UGCLError(f"there are {count:,} edges but {values.size:,} weights: give one each")
    for what, bad in (
        ("NaN or infinite", ~np.isfinite(values)),
        ("negative", values < 0),
    ):
        if bad.any():
            first = int(bad.argmax())
            raise UGCLError(
                f"{int(bad.sum()):,} edge weight(s) are {what}, the first being entry {first} "
                f"({values[first]}): correct or remove these edges"
            )
    return values


def _s(count: int) -> str:
    return "" if count == 1 else "s"
