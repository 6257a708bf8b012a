"""Edges as people have them: from tables, matrices, GraphML and GML, and other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.arrays import array_file, is_array_file
from ugcl.data.readers.columns import ENDS, IDS, NUMBERING, WEIGHTS, Columns
from ugcl.data.readers.ids import alike, array_of, as_ids, distinct, numbered, plain
from ugcl.data.readers.networks import NETWORKS, is_network, read_network
from ugcl.data.readers.nodes import NodeTable, listed
from ugcl.data.readers.tables import Table, count_missing, ending, open_table

FEW = 10_000
"""So many edges nearly always tell whether nodes are sources and targets."""


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
    sources, targets = (
        as_ids(ends[name], f"the column '{name}' of {table.name}") for name in (source, target)
    )
    notes = [*table.notes]
    if not _share_ids(sources, targets):
        if not _are_known(source, target, columns) and len(table.columns) > 2:
            raise _not_clear(table, f"'{source}' and '{target}' have no id in common")
        notes.append(f"no id is in both '{source}' and '{target}' of {table.name}")
    elif table.notes and (first := _alone(sources, targets)) is not None:
        notes.append(
            f"the first line of {table.name} was read as an edge; if it is a header, name its "
            f"columns (--source {first[0]} --target {first[1]})"
        )
    weights = None if weight is None else _weights(table, weight)
    words = f"{table.name}: {ends.num_rows:,} edges from '{source}' to '{target}'"
    if weight is not None:
        words += f", weights from '{weight}'"
    if unused := [name for name in table.columns if name not in (source, target, weight)]:
        words += f"; not used: {listed(unused, 5)}"
    return Edges(sources, targets, weights, notes=(*notes, words))


def _share_ids(sources: pa.ChunkedArray, targets: pa.ChunkedArray) -> bool:
    """Whether any node is a source and a target."""
    one, other = alike([sources, targets])
    some = distinct([one[:FEW]])
    if len(one) == 0 or (numbered(other, some) >= 0).any():
        return True
    return len(one) > FEW and bool((numbered(other, distinct([one])) >= 0).any())


def _alone(sources: pa.ChunkedArray, targets: pa.ChunkedArray) -> tuple[str, str] | None:
    """The nodes of the first edge, if they are text and in no other."""
    one, other = alike([sources, targets])
    first, second = plain(one[:1])[0].as_py(), plain(other[:1])[0].as_py()
    if not isinstance(first, str) or len(one) < 3:
        return None
    values = [plain(column) for column in (one, other)]
    counts = (pc.sum(pc.equal(array, name)).as_py() for array in values for name in (first, second))
    return (first, second) if sum(counts) == 2 else None


def _are_known(source: str, target: str, columns: Columns) -> bool:
    """Whether the user, or their names, say that these are the ends."""
    return bool(columns.source and columns.target) or (source.lower(), target.lower()) in ENDS


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
        others = [
            name
            for name in free
            if name.lower() not in (*IDS, *NUMBERING) and not table.is_time(name)
        ]
        guesses = others if len(others) > 1 else free
        known = [*guesses[:1], *guesses[:1]] if any(named) else [*guesses]
    ends = [given or guess for given, guess in zip(named, [*known, None, None], strict=False)]
    source, target = ends[:2]
    if source is None or target is None or source == target:
        raise _not_clear(table, f"there are {listed(table.columns)}")
    return source, target


def _not_clear(table: Table, why: str) -> UGCLError:
    return UGCLError(
        f"it is not clear which two columns of {table.name} are the ends of an edge, as {why}: "
        "name them with --source and --target"
    )


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    if not table.is_number(column) or table.is_list(column):
        raise UGCLError(
            f"the column '{column}' of {table.name} holds no numbers (with a point before "
            "decimals) and cannot be weights: name another with --weight"
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
    if pairs.ndim == 2 and pairs.shape[1] == 3 and pairs.dtype.kind in "fiuO":
        weights = np.asarray(pairs[:, 2], dtype=np.float64)
        return replace(_of_array(pairs[:, :2], name), weights=weights)
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
