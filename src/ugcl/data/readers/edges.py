"""Readers of edges: tables, arrays, matrices, GraphML, GML, GEXF, Pajek, NetworkX, igraph, PyG."""

from __future__ import annotations

import gzip
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
from ugcl._utils.extras import required
from ugcl.data.readers.arrays import is_array_file, read_array
from ugcl.data.readers.columns import ENDPOINTS, IDS, INDEX_NAMES, WEIGHTS, Columns
from ugcl.data.readers.ids import (
    as_ids,
    decoded,
    positions_of,
    to_arrow,
    unique_ids,
    with_common_type,
)
from ugcl.data.readers.limits import check_compressed
from ugcl.data.readers.nodes import NodeTable, quoted
from ugcl.data.readers.pajek import read_pajek
from ugcl.data.readers.paths import is_several
from ugcl.data.readers.tables import (
    Table,
    check_file,
    count_missing,
    file_extension,
    open_table,
    reading,
)
from ugcl.graph.convert import (
    igraph_edges,
    is_igraph,
    is_networkx,
    is_pyg,
    networkx_edges,
    pyg_graph_args,
)
from ugcl.graph.edges import EdgeList, edge_table

SAMPLE = 10_000
"""Number of edges that are tested first for ids shared by sources and targets."""

NETWORK_FORMATS = (".graphml", ".gml", ".gexf")
PAJEK = ".net"


@dataclass(frozen=True)
class EdgeTable:
    """Edges between ids, and the nodes that were read with them.

    Attributes:
        sources: id of the first node of each edge.
        targets: id of the second node of each edge.
        weights: weight of each edge, or None.
        directed: whether (u, v) and (v, u) are distinct edges.
        nodes: ids of all nodes in order, if the source has them.
        table: features, labels and split, if the source has them.
        notes: descriptions of how the edges were read.
    """

    sources: pa.ChunkedArray
    targets: pa.ChunkedArray
    weights: npt.NDArray[np.float64] | None = None
    directed: bool = False
    nodes: pa.ChunkedArray | None = None
    table: NodeTable | None = None
    notes: tuple[str, ...] = ()


def read_edges(source: Any, columns: Columns) -> EdgeTable:
    """Read edges from a file, a data frame, an array, or a graph of another library."""
    edges = _read(source, columns)
    return replace(edges, directed=edges.directed or columns.directed)


def _read(source: Any, columns: Columns) -> EdgeTable:
    if is_several(source):
        return _from_table(open_edges(source, columns), columns)
    if isinstance(source, str | Path):
        path = Path(source)
        if file_extension(path) in NETWORK_FORMATS:
            return _from_networkx(_read_network(path), columns, path.name)
        if file_extension(path) == PAJEK:
            return _from_pajek(path)
        if is_array_file(path):
            return _from_array(read_array(path).array, path.name)
    elif is_networkx(source):
        return _from_networkx(source, columns, "the NetworkX graph")
    elif is_igraph(source):
        return _from_igraph(source, columns)
    elif is_pyg(source):
        return _from_pyg(source)
    elif sp.issparse(source) or isinstance(source, np.ndarray | Sequence):
        return _from_array(source, "the edges")
    return _from_table(open_edges(source, columns), columns)


def open_edges(source: Any, columns: Columns) -> Table:
    """Open a table of edges."""
    return open_table(source, "edges", named=columns.edge_columns, header=columns.header)


def _from_table(table: Table, columns: Columns) -> EdgeTable:
    source, target, weight = edge_columns(table, columns)
    ends = table.read((source, target), text=True)
    sources, targets = (
        as_ids(ends[name], f"the column '{name}' of {table.name}") for name in (source, target)
    )
    files = files_without_header(table, columns)
    if files and (names := _header_read_as_edge(sources, targets, files)) is not None:
        raise header_error(table, *names)
    notes = [*table.notes]
    if not _share_ids(sources, targets):
        notes.append(no_common_id(table, source, target, columns))
    weights = None if weight is None else _weights(table, weight)
    notes.append(edges_note(table, ends.num_rows, (source, target, weight)))
    return EdgeTable(sources, targets, weights, notes=tuple(notes))


def edge_columns(table: Table, columns: Columns) -> tuple[str, str, str | None]:
    """Return the columns of the endpoints and of the weights: as given, or by their names."""
    weight = table.require(columns.weight) if columns.weight else _weight_column(table)
    return *_ends(table, columns, weight), weight


def no_common_id(table: Table, source: str, target: str, columns: Columns) -> str:
    """Return the note that no id is a source and a target, or refuse guessed columns."""
    if not _are_named(source, target, columns) and len(table.columns) > 2:
        raise _ambiguous(table, f"'{source}' and '{target}' have no id in common")
    return f"no id is in both '{source}' and '{target}' of {table.name}"


def files_without_header(table: Table, columns: Columns) -> int:
    """Return how many files may begin with a header that was read as an edge."""
    if columns.header is not None or any(name.isdecimal() for name in columns.edge_columns):
        return 0
    return sum("has no header" in note for note in table.notes)


def header_error(table: Table, source: str, target: str) -> UGCLError:
    """Return the error for a first line that may be a header or an edge."""
    return UGCLError(
        f"the first line of {table.name} ({source}, {target}) may be a header or an edge of two "
        "nodes without other edges: pass `header=True` if it is a header, `header=False` if not"
    )


def edges_note(table: Table, rows: int, used: tuple[str, str, str | None]) -> str:
    """Return the note of how many edges were read from which columns."""
    source, target, weight = used
    note = f"{table.name}: {rows:,} edges from '{source}' to '{target}'"
    if weight is not None:
        note += f", weights from '{weight}'"
    if unused := [name for name in table.columns if name not in used]:
        note += f"; not used: {quoted(unused, 5)}"
    return note


def _share_ids(sources: pa.ChunkedArray, targets: pa.ChunkedArray) -> bool:
    """Return whether any id is a source and a target."""
    sources, targets = with_common_type([sources, targets])
    sample = unique_ids([sources[:SAMPLE]])
    if len(sources) == 0 or (positions_of(targets, sample) >= 0).any():
        return True
    all_sources = unique_ids([sources])
    return len(sources) > SAMPLE and bool((positions_of(targets, all_sources) >= 0).any())


def _header_read_as_edge(
    sources: pa.ChunkedArray, targets: pa.ChunkedArray, files: int
) -> tuple[str, str] | None:
    """Return the ids of the first edge if they are text and occur in no other edge.

    It may occur once in each of several files.
    """
    columns = with_common_type([sources, targets])
    first, second = (decoded(column[:1])[0].as_py() for column in columns)
    if not isinstance(first, str) or len(sources) < 3:
        return None
    starts, ends = (decoded(column) for column in columns)
    counts = (
        pc.sum(pc.equal(column, name)).as_py()
        for column in (starts, ends)
        for name in (first, second)
    )
    same = pc.sum(pc.and_(pc.equal(starts, first), pc.equal(ends, second))).as_py()
    return (first, second) if sum(counts) == 2 * same and same in (1, files) else None


def _are_named(source: str, target: str, columns: Columns) -> bool:
    """Return whether the user gives the endpoints, or they have common names."""
    return bool(columns.source and columns.target) or (source.lower(), target.lower()) in ENDPOINTS


def _weight_column(table: Table) -> str | None:
    """Return a column of numbers with a common name for weights."""
    column = table.find(WEIGHTS)
    return column if column is not None and table.is_number(column) else None


def _ends(table: Table, columns: Columns, weight: str | None) -> tuple[str, str]:
    """Return the columns of the endpoints: as given, by common names, or the first two."""
    named = [table.require(name) if name else None for name in (columns.source, columns.target)]
    for pair in ENDPOINTS:
        guesses = [table.find([name]) for name in pair]
        if None not in guesses:
            break
    else:
        unused = [name for name in table.columns if name not in (*named, weight)]
        likely = [
            name
            for name in unused
            if name.lower() not in (*IDS, *INDEX_NAMES) and not table.is_time(name)
        ]
        unused = likely if len(likely) > 1 else unused
        guesses = [*unused[:1], *unused[:1]] if any(named) else [*unused]
    source, target = (
        name or guess for name, guess in zip(named, [*guesses, None, None][:2], strict=True)
    )
    if source is None or target is None or source == target:
        raise _ambiguous(table, f"there are {quoted(table.columns)}")
    return source, target


def _ambiguous(table: Table, reason: str) -> UGCLError:
    return UGCLError(
        f"it is not clear which two columns of {table.name} are the endpoints of edges, as "
        f"{reason}: pass `source` and `target`"
    )


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    check_weight_column(table, column)
    values = table.read((column,))[column]
    if missing := count_missing(values):
        raise missing_weights(table, column, missing)
    return np.asarray(values.to_numpy(), dtype=np.float64)


def check_weight_column(table: Table, column: str) -> None:
    """Refuse a column of weights that holds no numbers."""
    if not table.is_number(column) or table.is_list(column):
        raise UGCLError(
            f"the column '{column}' of {table.name} holds no numbers (with a decimal point) and "
            "cannot be weights: name another with `weight`"
        )


def missing_weights(table: Table, column: str, count: int) -> UGCLError:
    """Return the error for weights that are missing."""
    return UGCLError(
        f"{count:,} weight(s) are missing in the column '{column}' of {table.name}: fill "
        "them in, or remove these edges"
    )


def _from_array(array: Any, name: str) -> EdgeTable:
    """Take an adjacency matrix, or an E x 2 (with weights E x 3) array of ids."""
    if sp.issparse(array):
        if array.shape[0] != array.shape[1]:
            raise UGCLError(
                f"{name} is a matrix of the shape {array.shape}: an adjacency matrix is square"
            )
        edges = EdgeList.from_matrix(array, array.shape[0])
        note = f"{name}: a matrix with {array.nnz:,} entries"
        return _from_edge_list(edges, np.arange(array.shape[0]), notes=(note,))
    pairs, weights = edge_table(array, name), None
    if pairs.shape[1:] == (3,) and pairs.dtype.kind in "fiuO":
        pairs, weights = pairs[:, :2], np.asarray(pairs[:, 2], dtype=np.float64)
    edges = EdgeList.from_pairs(pairs, weights, name)
    sources, targets = (as_ids(to_arrow(ends), name) for ends in (edges.sources, edges.targets))
    return EdgeTable(sources, targets, weights, notes=(f"{name}: {len(sources):,} edges",))


def _from_edge_list(edges: EdgeList, ids: Any, **optional: Any) -> EdgeTable:
    """Replace node indices by ids, an Arrow or NumPy array."""
    ids = pa.array(ids)
    sources, targets = (
        pa.chunked_array([ids.take(pa.array(ends))]) for ends in (edges.sources, edges.targets)
    )
    weights = None if edges.weights is None else np.asarray(edges.weights, dtype=np.float64)
    nodes = pa.chunked_array([ids])
    return EdgeTable(sources, targets, weights, edges.directed, nodes, **optional)


def _from_pyg(data: Any) -> EdgeTable:
    args = pyg_graph_args(data)
    edges, table = args["adjacency"], NodeTable.from_pyg(args, int(data.num_nodes))
    note = f"PyTorch Geometric: {len(edges.sources):,} edges"
    return _from_edge_list(edges, np.arange(table.rows), table=table, notes=(note,))


def _read_network(path: Path) -> Any:
    """Read a GraphML, GML or GEXF file, gzipped or not, as a NetworkX graph."""
    check_file(path)
    nx = required("networkx", f"reading {path.name}", "interop")
    with reading(path.name, nx.NetworkXException):
        check_compressed(path)
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            if file_extension(path) == ".gml":
                return nx.read_gml(stream)
            if file_extension(path) == ".gexf":
                return nx.read_gexf(stream)
            return nx.read_graphml(stream)


def _from_pajek(path: Path) -> EdgeTable:
    check_file(path)
    with reading(path.name):
        found = read_pajek(path)
    sources, targets = found.ends.T
    edges = EdgeList(sources, targets, found.weights, directed=found.directed)
    note = f"{path.name}: {len(found.ends):,} {'arcs' if found.directed else 'edges'}"
    note += "" if found.weights is None else ", with weights"
    ids = pa.array(found.ids.tolist())
    return _from_edge_list(edges, as_ids(ids, path.name).combine_chunks(), notes=(note,))


def _from_igraph(graph: Any, columns: Columns) -> EdgeTable:
    attributes = {name: graph.vs[name] for name in graph.vs.attributes()}
    keys = attributes.pop("name", None) or range(graph.vcount())
    nodes = [
        (key, {name: values[i] for name, values in attributes.items()})
        for i, key in enumerate(keys)
    ]
    edges = igraph_edges(graph, columns.weight or "weight")
    return _from_network(edges, nodes, columns, "the igraph graph")


def _from_networkx(network: Any, columns: Columns, name: str) -> EdgeTable:
    edges = networkx_edges(network, columns.weight or "weight")
    return _from_network(edges, list(network.nodes(data=True)), columns, name)


def _from_network(
    edges: EdgeList, nodes: list[tuple[Any, Any]], columns: Columns, name: str
) -> EdgeTable:
    """Take edges, and nodes with their attributes."""
    weight = columns.weight or "weight"
    if columns.weight and edges.weights is None:
        raise UGCLError(f"no edge of {name} has the attribute '{weight}': check `weight`")
    table = NodeTable.from_attributes(nodes, columns, name)
    assert table.ids is not None
    kind = "directed" if edges.directed else "undirected"
    note = f"{name}: {len(edges.sources):,} edges, {kind}"
    if edges.weights is not None:
        note += f", weights from '{weight}'"
    return _from_edge_list(edges, table.ids.combine_chunks(), table=table, notes=(note,))
