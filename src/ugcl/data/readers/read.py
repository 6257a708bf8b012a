"""`read_graph`: read a graph from files, data frames, arrays or other libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.edges import EdgeTable, read_edges
from ugcl.data.readers.features import read_features
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.ids import (
    FEATURE_ROWS,
    as_ids,
    as_numpy,
    check_unique,
    decoded,
    positions_of,
    preview,
    unique_ids,
    with_common_type,
)
from ugcl.data.readers.labels import encode_labels, read_ids, read_labels, split_rows, used_classes
from ugcl.data.readers.nodes import ExpectedFeatures, NodeTable
from ugcl.data.readers.paths import name_of
from ugcl.data.readers.structural import steps_of, structural_features
from ugcl.data.readers.tables import error_text
from ugcl.data.readers.triplets import with_other_nodes
from ugcl.graph import Graph
from ugcl.graph.edges import EdgeList, simple_adjacency
from ugcl.graph.validation import UNLABELLED
from ugcl.typing import NodeIndices


def read_graph(
    edges: Any,
    features: Any = None,
    labels: Any = None,
    *,
    ids: Any = None,
    source: str = "",
    target: str = "",
    weight: str = "",
    id: str = "",
    label: str = "",
    split: str = "",
    ignore: Sequence[str] = (),
    directed: bool = False,
    header: bool | None = None,
    feature: str = "",
    name: str | None = None,
    expected: ExpectedFeatures | None = None,
) -> Graph:
    """Read a graph from files, data frames, arrays or graphs of other libraries.

    A table may be a file (CSV, TSV or other text, Parquet or JSON lines, compressed or not),
    several files with the same columns (a folder, a glob such as `days/*.csv`, or a list) or a data
    frame (pandas, polars or any with Arrow's C interface). Ids are integers or text. Nodes are
    in the order of the features, else sorted by id. The graph's `notes` describe what was read and
    changed.

    Args:
        edges: a table with a row for each edge; a GraphML, GML, GEXF or Pajek file, or a NetworkX
            or igraph graph; a SciPy adjacency matrix or its `.npz`; an E x 2 array or its `.npy`;
            or a PyTorch Geometric `Data`.
        features: a table with a row for each node; an array or SciPy matrix, or its `.npy` or
            `.npz`; or a `.json` that maps ids to lists of feature indices. By default numeric node
            attributes of GraphML and NetworkX, `x` of PyTorch Geometric, or else structural
            features computed from the edges.
        labels: a table with a label for each node, and perhaps a split; or an array.
        ids: ids of the rows of features, if the features do not contain them.
        source: column of the first node of an edge. All columns are found by common names by
            default; the endpoints of edges else are the first two columns.
        target: column of the second node of an edge.
        weight: column of the weight of an edge.
        id: column of ids, in features and labels.
        label: column of labels, in features or labels.
        split: column that contains `train`, `val` or `test`, in features or labels.
        ignore: columns that are not features.
        directed: whether (u, v) and (v, u) are distinct edges, whose weights are summed.
        header: whether the first line of the edges, in text files, is a header; None to guess.
        feature: column of the feature of each row, in features with a row for each node and
            feature, and perhaps its value.
        name: name of the graph; by default that of the file of edges.
        expected: features that a trained model expects.
    """
    columns = Columns(
        source, target, weight, id, label, split, tuple(ignore), directed, header, feature
    )
    if name is None:
        name = name_of(edges)
    with _reading_graph():
        return _read(edges, features, labels, ids, columns, expected or ExpectedFeatures(), name)


@contextmanager
def _reading_graph() -> Iterator[None]:
    """Turn exceptions of libraries for the contents of files into a `UGCLError`."""
    try:
        yield
    except UGCLError:
        raise
    except (*READ_ERRORS, pa.ArrowException) as error:
        reason = error_text(error)
        raise UGCLError(f"the graph cannot be read ({reason}): check its files") from error


def _read(
    edges: Any,
    features: Any,
    labels: Any,
    ids: Any,
    columns: Columns,
    expected: ExpectedFeatures,
    name: str,
) -> Graph:
    edge_table = read_edges(edges, columns)
    table = edge_table.table
    if features is not None:
        alone = labels is None and edge_table.table is None
        table = read_features(features, columns, expected, labelled=alone)
    row_ids = None if ids is None else read_ids(ids)
    nodes, edge_table, table = _align_ids(edge_table, table, row_ids)
    edge_list = _edge_list(edge_table, nodes, table)
    tables = [each for each in (table, edge_table.table) if each is not None]
    if labels is not None:
        tables.insert(0, read_labels(labels, columns, alone=not tables))
    ordered = table is not None or edge_table.nodes is not None
    args, ignored = _label_args(tables, nodes, columns, ordered=ordered)
    notes = (*edge_table.notes, *(note for each in reversed(tables) for note in each.notes))
    notes += ignored
    args |= {"name": name, "notes": tuple(dict.fromkeys(notes))}
    return _build(edge_list, nodes, table, expected, args)


def read_files(files: GraphFiles, expected: ExpectedFeatures | None = None) -> Graph:
    """Read a graph from `GraphFiles`."""
    return read_graph(
        files.edges,
        files.features or None,
        files.labels or None,
        ids=files.ids or None,
        expected=expected,
        **vars(files.columns),
    )


def with_labels(graph: Graph, files: GraphFiles) -> Graph:
    """Return a copy of a graph with the labels and the split of `files.labels`."""
    with _reading_graph():
        table = read_labels(files.labels, files.columns)
        ids = pa.array(np.arange(graph.num_nodes) if graph.ids is None else graph.ids)
        nodes = decoded(as_ids(ids, "the graph"))
        args, ignored = _label_args([table], nodes, files.columns, ordered=True)
        return replace(graph, **args, notes=graph.notes + table.notes + ignored)


def _align_ids(
    edges: EdgeTable, table: NodeTable | None, ids: pa.ChunkedArray | None
) -> tuple[pa.Array, EdgeTable, NodeTable | None]:
    """Return the ids of all nodes in order, and edges and table with ids of the same type."""
    if ids is not None:
        if table is None or table.features is None:
            raise UGCLError("`ids` needs features, and there are none: leave it out")
        table = table.with_ids(ids)
    if table is not None and table.partial and table.ids is not None:
        table = _with_all_nodes(edges, table, table.ids)
    node_ids = edges.nodes if table is None or table.ids is None else table.ids
    if node_ids is None and table is not None:
        node_ids = pa.chunked_array([pa.array(np.arange(table.rows))])
    columns = [edges.sources, edges.targets, *([] if node_ids is None else [node_ids])]
    columns = with_common_type(columns)
    edges = replace(edges, sources=columns[0], targets=columns[1])
    if node_ids is None:
        return unique_ids(columns), edges, table
    nodes = decoded(columns[2])
    if table is None or table.features is None:
        check_unique(nodes, "the edges" if table is None else table.name)
    else:
        check_unique(nodes, table.name, FEATURE_ROWS)
    if table is not None and len(nodes) != table.rows:
        raise UGCLError(
            f"there are {len(nodes):,} nodes but {table.rows:,} rows in {table.name}: give one each"
        )
    return nodes, edges, table


def _with_all_nodes(edges: EdgeTable, table: NodeTable, ids: pa.ChunkedArray) -> NodeTable:
    """Return a table with rows for the nodes of the edges that it does not have."""
    sources = [edges.sources, edges.targets, *([] if edges.nodes is None else [edges.nodes])]
    *columns, known = with_common_type([*sources, ids])
    others = unique_ids(columns)
    others = others.filter(pc.invert(pc.is_in(others, value_set=decoded(known))))
    return with_other_nodes(table, known, others) if len(others) else table


def _edge_list(edges: EdgeTable, nodes: pa.Array, table: NodeTable | None) -> EdgeList:
    """Replace the ids of edges by node indices; every node must have features."""
    columns = (edges.sources, edges.targets)
    sources, targets = (positions_of(column, nodes) for column in columns)
    missing = [
        column.filter(pa.array(indices < 0))
        for column, indices in zip(columns, (sources, targets), strict=True)
        if (indices < 0).any()
    ]
    if missing:
        ids = unique_ids(missing)
        where = table.name if table is not None else "the matrix"
        has_ids = table is None or table.ids is not None
        raise nodes_without_features(ids, len(ids), where, nodes, has_ids=has_ids, rows=len(nodes))
    return EdgeList(sources, targets, edges.weights, edges.directed)


def nodes_without_features(
    ids: pa.Array, count: int, where: str, nodes: pa.Array, *, has_ids: bool, rows: int
) -> UGCLError:
    """Return the error for nodes of the edges that have no features.

    Args:
        ids: the first ids of these nodes.
        count: how many there are.
        where: name of the features.
        nodes: the first ids of the features.
        has_ids: whether the features have ids.
        rows: number of their rows.
    """
    advice = f"add their rows to {where}, whose ids are {preview(nodes)}, or remove their edges"
    if not has_ids:
        advice = (
            f"{where} has no ids, so that its {rows:,} rows are nodes 0 to {rows - 1:,}; name the "
            "column of ids with `id`, or pass the ids of the rows as `ids`"
        )
    return UGCLError(f"{count:,} node(s) of the edges have no features ({preview(ids)}): {advice}")


def _build(
    edges: EdgeList,
    nodes: pa.Array,
    table: NodeTable | None,
    expected: ExpectedFeatures,
    args: dict[str, Any],
) -> Graph:
    """Build the graph; without features, compute structural ones."""
    if len(nodes) == 0:
        raise UGCLError("the edges are empty, and so the graph has no nodes: check the file")
    args["ids"] = ids = as_numpy(nodes)
    if table is not None and table.features is not None:
        isolated = np.ones(len(nodes), dtype=bool)
        isolated[edges.sources] = isolated[edges.targets] = False
        if isolated.any():
            args["notes"] += (isolated_note(int(isolated.sum())),)
        return Graph(edges, table.features, feature_names=table.feature_names, **args)
    adjacency, edge_notes = simple_adjacency(edges, len(nodes))
    features, names = structural_features(adjacency, ids.tolist(), steps_of(expected.feature_names))
    args["notes"] += (no_features_note(names), *edge_notes)
    weighted = edges.weights is not None
    return Graph(adjacency, features, weighted=weighted, feature_names=names, **args)


def isolated_note(count: int) -> str:
    """Return the note of nodes without edges."""
    return f"kept {count:,} node(s) that have features but no edges"


def no_features_note(names: tuple[str, ...]) -> str:
    """Return the note of structural features by the names of their columns."""
    return (
        f"no features: computed {len(names)} structural features from the edges, the degree and a "
        f"random projection of the adjacency and its powers up to {steps_of(names)}"
    )


def _label_args(
    tables: Sequence[NodeTable], nodes: pa.Array, columns: Columns, *, ordered: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return labels, splits and class names, from the first table that has them, and notes.

    Args:
        tables: the tables of nodes.
        nodes: ids of all nodes.
        columns: names of columns; given ones must be in one of the tables.
        ordered: whether the order of the nodes comes from the user.
    """
    args: dict[str, Any] = {"labels": None, "splits": {}, "class_names": None}
    notes: tuple[str, ...] = ()
    if table := next((table for table in tables if table.labels is not None), None):
        rows, notes = _row_nodes(table, nodes, ordered=ordered)
        labels, class_names = encode_labels(table.labels, table.name)
        args["labels"] = np.full(len(nodes), UNLABELLED)
        args["labels"][rows[rows >= 0]] = labels[rows >= 0]
        args["labels"], args["class_names"] = used_classes(args["labels"], class_names)
    if table := next((table for table in tables if table.split is not None), None):
        rows, notes = _row_nodes(table, nodes, ordered=ordered)
        parts = split_rows(table.split, table.name)
        found = {part: rows[members] for part, members in parts.items()}
        found = {part: members[members >= 0] for part, members in found.items()}
        args["splits"] = {part: members for part, members in found.items() if members.size}
    has_labels = args["labels"] is not None
    check_label_columns(columns, has_labels=has_labels, has_split=bool(args["splits"]))
    return args, notes


def check_label_columns(columns: Columns, *, has_labels: bool, has_split: bool) -> None:
    """Refuse columns of labels and split that the user gives and no table has."""
    for column, found in ((columns.label, has_labels), (columns.split, has_split)):
        if column and not found:
            raise UGCLError(f"the column '{column}' is in no table of nodes: check its name")


def number_of_labels(name: str, rows: int, num_nodes: int, *, ordered: bool) -> None:
    """Refuse labels without ids unless there is one for each node, in an order that is known."""
    if not ordered:
        raise UGCLError(
            f"{name} has no ids, and without features the nodes have no order: give it a "
            "column of ids"
        )
    if rows != num_nodes:
        raise UGCLError(
            f"there are {num_nodes:,} nodes but {rows:,} labels in {name}: "
            "give one for each node, or a column of ids"
        )


def labels_of_others(
    name: str, rows: int, nodes: pa.Array, missing: pa.Array, count: int
) -> tuple[str, ...]:
    """Return the note of labels of nodes that are not in the graph; refuse labels of no other node.

    Args:
        name: of the table of labels.
        rows: number of its rows.
        nodes: the first ids of the graph.
        missing: the first ids that are not among them.
        count: how many there are.
    """
    if count == 0:
        return ()
    if count == rows:
        raise UGCLError(
            f"all {count:,} label(s) in {name} are of nodes that are not in the graph "
            f"({preview(missing)}): check the ids, which are {preview(nodes)} in the graph, and "
            "name their column with `id`"
        )
    return (
        f"{name}: ignored {count:,} of {rows:,} labels, of nodes that are not in the graph "
        f"({preview(missing)})",
    )


def _row_nodes(
    table: NodeTable, nodes: pa.Array, *, ordered: bool
) -> tuple[NodeIndices, tuple[str, ...]]:
    """Return the node of each row of a table, by id or in the order of the nodes, and notes.

    The node of a row whose id is not in the graph is -1.
    """
    if table.ids is None:
        number_of_labels(table.name, table.rows, len(nodes), ordered=ordered)
        return np.arange(len(nodes)), ()
    ids, node_ids = with_common_type([table.ids, pa.chunked_array([nodes])])
    indices = positions_of(ids, decoded(node_ids))
    missing = decoded(ids).filter(pa.array(indices < 0))
    return indices, labels_of_others(table.name, table.rows, nodes, missing, len(missing))
