"""Edges as people have them: from tables, matrices, GraphML and GML, and other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from ugcl.data.own.arrays import array_file, is_array_file
from ugcl.data.own.columns import ENDS, IDS, NUMBERING, WEIGHTS, Columns
from ugcl.data.own.ids import array_of, as_ids
from ugcl.data.own.networks import NETWORKS, is_network, read_network
from ugcl.data.own.nodes import NodeTable, listed
from ugcl.data.own.tables import Table, count_missing, ending, open_table
from ugcl.errors import UGCLError


@dataclass(frozen=True)
class Edges:
    """A list of edges, and what its source tells about nodes.

    Attributes:
        sources: the id of each edge's first node.
        targets: that of its second.
        weights: as numbers, or None.
        directed: whether an edge has a direction, so that two opposite ones are two.
        nodes: the ids of all nodes in order, where the source lists them.
        table: features, labels and split that came with the edges.
        notes: what a user may want to know about how they were read.
    """

    sources: pa.ChunkedArray
    targets: pa.ChunkedArray
    weights: npt.NDArray[np.float64] | None = None
    directed: bool = False
    nodes: pa.ChunkedArray | None = None
    table: NodeTable | None = None
    notes: tuple[str, ...] = ()


def read_edges(source: Any, columns: Columns) -> Edges:
    """Read edges from a file or from what Python has of them."""
    edges = _edges(source, columns)
    return replace(edges, directed=edges.directed or columns.directed)


def _edges(source: Any, columns: Columns) -> Edges:
    if isinstance(source, str | Path):
        path = Path(source)
        if ending(path) in NETWORKS:
            return _of_network(read_network(path), columns, path.name)
        if is_array_file(path):
            return _of_array(array_file(path).array, path.name)
    elif is_network(source):
        return _of_network(source, columns, "the NetworkX graph")
    elif hasattr(source, "edge_index"):
        return _of_pyg(source)
    elif sp.issparse(source) or isinstance(source, np.ndarray | Sequence):
        return _of_array(source, "the edges")
    return _of_table(open_table(source, "edges", named=columns.of_edges), columns)


def _of_table(table: Table, columns: Columns) -> Edges:
    weight = table.asked(columns.weight) if columns.weight else _weight_column(table)
    source, target = _ends(table, columns, weight)
    ends = table.read((source, target), text=True)
    weights = None if weight is None else _weights(table, weight)
    words = f"{table.name}: {ends.num_rows:,} edges from '{source}' to '{target}'"
    if weight is not None:
        words += f", weights from '{weight}'"
    if unused := [name for name in table.columns if name not in (source, target, weight)]:
        words += f"; not used: {listed(unused, 5)}"
    return Edges(
        as_ids(ends[source], f"the column '{source}' of {table.name}"),
        as_ids(ends[target], f"the column '{target}' of {table.name}"),
        weights,
        notes=(*table.notes, words),
    )


def _weight_column(table: Table) -> str | None:
    """A column that is called weight and holds numbers."""
    found = table.called(WEIGHTS)
    return found if found is not None and table.is_number(found) else None


def _ends(table: Table, columns: Columns, weight: str | None) -> tuple[str, str]:
    """The two columns that hold an edge's nodes: as named, by common names, or the first two."""
    named = [table.asked(name) if name else None for name in (columns.source, columns.target)]
    for pair in ENDS:
        known = [table.called([name]) for name in pair]
        if None not in known:
            break
    else:
        free = [name for name in table.columns if name not in (*named, weight)]
        others = [name for name in free if name.lower() not in (*IDS, *NUMBERING)]
        guesses = others if len(others) > 1 else free
        known = [*guesses[:1], *guesses[:1]] if any(named) else [*guesses]
    ends = [given or guess for given, guess in zip(named, [*known, None, None], strict=False)]
    source, target = ends[:2]
    if source is None or target is None or source == target:
        raise UGCLError(
            f"it is not clear which two columns of {table.name} are the ends of an edge: name them "
            f"with --source and --target; there are {listed(table.columns)}"
        )
    return source, target


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    if not table.is_number(column) or table.is_list(column):
        raise UGCLError(
            f"the column '{column}' of {table.name} holds no numbers and cannot be weights: name "
            "another with --weight"
        )
    values = table.read((column,))[column]
    if missing := count_missing(values):
        raise UGCLError(
            f"{missing:,} weight(s) are missing in the column '{column}' of {table.name}: fill "
            "them in, or remove these edges"
        )
    return np.asarray(values.to_numpy(), dtype=np.float64)


def _of_array(array: Any, name: str) -> Edges:
    """Node numbers: an adjacency matrix, or the rows of an E x 2 array."""
    if sp.issparse(array):
        if array.shape[0] != array.shape[1]:
            raise UGCLError(
                f"{name} is a matrix of the shape {array.shape}: an adjacency matrix is square"
            )
        entries = sp.coo_array(array)
        weighted = bool((entries.data != 1).any())
        sources, targets = (_numbers(ends) for ends in entries.coords)
        return Edges(
            sources,
            targets,
            np.asarray(entries.data, dtype=np.float64) if weighted else None,
            nodes=_numbers(np.arange(array.shape[0])),
            notes=(f"{name}: a matrix with {entries.nnz:,} entries",),
        )
    try:
        pairs = np.asarray(array)
    except ValueError as error:
        raise UGCLError(f"{name} must have two columns, a row for each edge: {error}") from error
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = ": transpose it" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise UGCLError(
            f"{name} must have two columns, a row for each edge, not {pairs.shape}{hint}"
        )
    sources, targets = (as_ids(array_of(ends), name) for ends in pairs.T)
    return Edges(sources, targets, notes=(f"{name}: {len(pairs):,} edges",))


def _numbers(values: npt.ArrayLike) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(np.asarray(values, dtype=np.int64))])


def _of_pyg(data: Any) -> Edges:
    ends = data.edge_index.cpu().numpy()
    weights = getattr(data, "edge_weight", None)
    count = int(data.num_nodes)
    return Edges(
        _numbers(ends[0]),
        _numbers(ends[1]),
        None if weights is None else weights.cpu().numpy().astype(np.float64),
        nodes=_numbers(np.arange(count)),
        table=NodeTable.of_pyg(data),
        notes=(f"PyTorch Geometric: {ends.shape[1]:,} edges",),
    )


def _of_network(network: Any, columns: Columns, name: str) -> Edges:
    number = {node: i for i, node in enumerate(network.nodes)}
    table = NodeTable.of_network(network, columns, name)
    assert table.ids is not None
    nodes = table.ids.combine_chunks()
    ends = np.array([(number[a], number[b]) for a, b in network.edges()], dtype=np.int64).reshape(
        -1, 2
    )
    wanted = columns.weight or "weight"
    given = [value for *_, value in network.edges(data=wanted)]
    weights = None
    if any(value is not None for value in given):
        try:
            weights = np.array([1.0 if value is None else value for value in given], dtype=float)
        except (TypeError, ValueError) as error:
            raise UGCLError(
                f"the edge attribute '{wanted}' of {name} is no number: name another with --weight"
            ) from error
    elif columns.weight:
        raise UGCLError(f"no edge of {name} has the attribute '{wanted}': check --weight")
    words = f"{name}: {len(ends):,} edges, {'directed' if network.is_directed() else 'undirected'}"
    return Edges(
        pa.chunked_array([nodes.take(pa.array(ends[:, 0]))]),
        pa.chunked_array([nodes.take(pa.array(ends[:, 1]))]),
        weights,
        network.is_directed(),
        table.ids,
        table,
        notes=(words + (f", weights from '{wanted}'" if weights is not None else ""),),
    )
