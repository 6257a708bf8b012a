"""`read_graph`: a graph from whatever a user has of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl.data.npz import UNREADABLE
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.edges import Edges, read_edges
from ugcl.data.readers.features import read_features
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.ids import (
    alike,
    as_ids,
    as_numpy,
    check_distinct,
    distinct,
    numbered,
    plain,
    shown,
)
from ugcl.data.readers.labels import classes_of, parts_of, read_ids, read_labels
from ugcl.data.readers.nodes import Like, NodeTable
from ugcl.data.readers.structural import steps_of, structural_features
from ugcl.graph import Graph
from ugcl.graph.edges import EdgeList, simple_adjacency
from ugcl.graph.validation import UNLABELLED


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
    name: str | None = None,
    like: Like | None = None,
) -> Graph:
    """Read a graph of your own, from files, data frames or other libraries.

    A file may be CSV, TSV or other text, Parquet or JSON lines, compressed or not; a data frame may
    be pandas's, polars's or any that speaks Arrow. Ids are whole numbers or text. Nodes are in the
    order of the features, else in that of their ids. What was read and changed is in the graph's
    `notes`.

    Args:
        edges: a table with a row for each edge; a GraphML or GML file or a NetworkX graph; a
            SciPy adjacency matrix or its `.npz`; an E x 2 array or its `.npy`; or a PyTorch
            Geometric `Data`.
        features: a table with a row for each node; an array or SciPy matrix, or its `.npy` or
            `.npz`; or a `.json` of id -> list of the features that a node has. Without any, numeric
            attributes of the nodes of GraphML and NetworkX, `x` of PyTorch Geometric, or else
            structural features are made of the edges.
        labels: a table with a label for each node, and perhaps a split; or an array.
        ids: the ids of the features' rows, where the features have none.
        source: the column of an edge's first node; this and the following by default by their
            common names, and the ends of an edge the first two columns.
        target: the column of its second node.
        weight: the column of its weight.
        id: the column of ids, in the features and in the labels.
        label: the column of labels, in either.
        split: the column that says `train`, `val` or `test`, in either.
        ignore: columns that are no features.
        directed: whether two opposite edges are two edges, whose weights are added.
        name: what to call the graph.
        like: what the features are to be like, where they must suit a trained model.
    """
    columns = Columns(source, target, weight, id, label, split, tuple(ignore), directed)
    called = _name(edges) if name is None else name
    try:
        return _read(edges, features, labels, ids, columns, like or Like(), called)
    except UGCLError:
        raise
    except (*UNREADABLE, pa.ArrowException) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise UGCLError(f"the graph cannot be read ({words}): check its files or frames") from error


def _read(
    edges: Any, features: Any, labels: Any, ids: Any, columns: Columns, like: Like, name: str
) -> Graph:
    read = read_edges(edges, columns)
    table = read.table
    if features is not None:
        alone = labels is None and read.table is None
        table = read_features(features, columns, like, labelled=alone)
    nodes, read, table = _nodes(read, table, None if ids is None else read_ids(ids))
    ends = _numbered_edges(read, nodes, table)
    tables = [each for each in (table, read.table) if each is not None]
    if labels is not None:
        tables.insert(0, read_labels(labels, columns, alone=not tables))
    ordered = table is not None or read.nodes is not None
    known = _labels(tables, nodes, columns, ordered=ordered)
    notes = (*read.notes, *(note for each in reversed(tables) for note in each.notes))
    about = {"name": name, "notes": tuple(dict.fromkeys(notes))}
    return _assembled(read, ends, nodes, table, like, known | about)


def read_files(files: GraphFiles, like: Like | None = None) -> Graph:
    """Read a graph from its files."""
    return read_graph(
        files.edges,
        files.features or None,
        files.labels or None,
        ids=files.ids or None,
        like=like,
        **vars(files.columns),
    )


def with_labels(graph: Graph, files: GraphFiles) -> Graph:
    """The graph with the labels, and the split, of a file of labels instead of its own."""
    table = read_labels(files.labels, files.columns)
    ids = pa.array(np.arange(graph.num_nodes) if graph.ids is None else graph.ids)
    nodes = plain(as_ids(ids, "the graph"))
    known = _labels([table], nodes, files.columns, ordered=True)
    return replace(graph, **known, notes=graph.notes + table.notes)


def _name(edges: Any) -> str:
    return Path(edges).name if isinstance(edges, str | Path) else ""


def _nodes(
    edges: Edges, table: NodeTable | None, ids: pa.ChunkedArray | None
) -> tuple[pa.Array, Edges, NodeTable | None]:
    """All nodes in order, and edges and table with ids that compare with them."""
    if ids is not None:
        if table is None or table.features is None:
            raise UGCLError("--ids names the rows of features, and there are none: leave it out")
        table = table.named(ids)
    listed = edges.nodes if table is None or table.ids is None else table.ids
    if listed is None and table is not None:
        listed = pa.chunked_array([pa.array(np.arange(table.rows))])
    ends = [edges.sources, edges.targets]
    ends = alike([*ends, *([] if listed is None else [listed])])
    edges = replace(edges, sources=ends[0], targets=ends[1])
    if listed is None:
        return distinct(ends), edges, table
    nodes = plain(ends[2])
    where = "the edges" if table is None else table.name
    check_distinct(nodes, where)
    if table is not None and len(nodes) != table.rows:
        raise UGCLError(
            f"there are {len(nodes):,} nodes but {table.rows:,} rows in {table.name}: give one each"
        )
    return nodes, edges, table


def _numbered_edges(
    edges: Edges, nodes: pa.Array, table: NodeTable | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    ends = numbered(edges.sources, nodes), numbered(edges.targets, nodes)
    lost = [
        column.filter(pa.array(found < 0))
        for column, found in zip((edges.sources, edges.targets), ends, strict=True)
        if (found < 0).any()
    ]
    if lost:
        missing = distinct(lost)
        where = table.name if table is not None else "the matrix"
        advice = f"add their rows to {where}, whose ids are {shown(nodes)}, or remove their edges"
        if table is not None and table.ids is None:
            advice = (
                f"{where} has no ids, so that its {table.rows:,} rows are nodes 0 to "
                f"{table.rows - 1:,}; name the column of ids (--id), or give the ids of the rows "
                "(--ids)"
            )
        raise UGCLError(
            f"{len(missing):,} node(s) of the edges have no features ({shown(missing)}): {advice}"
        )
    return ends


def _assembled(
    edges: Edges,
    ends: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    nodes: pa.Array,
    table: NodeTable | None,
    like: Like,
    about: dict[str, Any],
) -> Graph:
    """The graph, with features of its edges where it has no others."""
    if len(nodes) == 0:
        raise UGCLError("the edges are empty, and so the graph has no nodes: check the file")
    about["ids"] = ids = as_numpy(nodes)
    listed = EdgeList(*ends, edges.weights, edges.directed)
    if table is not None and table.features is not None:
        joined = np.zeros(len(nodes), dtype=bool)
        for end in ends:
            joined[end] = True
        if isolated := int((~joined).sum()):
            about["notes"] += (f"kept {isolated:,} node(s) that have features but no edges",)
        return Graph(listed, table.features, feature_names=table.feature_names, **about)
    adjacency, changes = simple_adjacency(listed, len(nodes))
    features, names = structural_features(adjacency, ids.tolist(), steps_of(like.feature_names))
    made = (
        f"no features: made {len(names)} of the edges, the degree and a random projection of the "
        f"adjacency and its powers up to {steps_of(names)}"
    )
    about["notes"] += (made, *changes)
    weighted = edges.weights is not None
    return Graph(adjacency, features, weighted=weighted, feature_names=names, **about)


def _labels(
    tables: Sequence[NodeTable], nodes: pa.Array, columns: Columns, *, ordered: bool
) -> dict[str, Any]:
    """Labels, split and names of classes, each of the first table that has them.

    Args:
        tables: what is known of nodes.
        nodes: all nodes.
        columns: those that the user names must be somewhere.
        ordered: whether the order of the nodes is the user's own.
    """
    splits: dict[str, Any] = {}
    known: dict[str, Any] = {"labels": None, "splits": splits, "class_names": None}
    for table in tables:
        if table.labels is not None:
            rows = _rows(table, nodes, ordered=ordered)
            numbers, known["class_names"] = classes_of(table.labels, table.name)
            known["labels"] = np.full(len(nodes), UNLABELLED)
            known["labels"][rows] = numbers
            break
    for table in tables:
        if table.split is not None:
            rows = _rows(table, nodes, ordered=ordered)
            parts = parts_of(table.split, table.name)
            splits = known["splits"] = {part: rows[found] for part, found in parts.items()}
            break
    for asked, found in (
        (columns.label, known["labels"]),
        (columns.split, known["splits"] or None),
    ):
        if asked and found is None:
            raise UGCLError(f"the column '{asked}' is in no table of nodes: check its name")
    return known


def _rows(table: NodeTable, nodes: pa.Array, *, ordered: bool) -> npt.NDArray[np.int64]:
    """The node of each row of a table, by id or in the order of the nodes."""
    if table.ids is None:
        if not ordered:
            raise UGCLError(
                f"{table.name} has no ids, and without features the nodes have no order: give it a "
                "column of ids"
            )
        if table.rows != len(nodes):
            raise UGCLError(
                f"there are {len(nodes):,} nodes but {table.rows:,} labels in {table.name}: "
                "give one for each node, or a column of ids"
            )
        return np.arange(len(nodes))
    key, known = alike([table.ids, pa.chunked_array([nodes])])
    rows = numbered(key, plain(known))
    if (rows < 0).any():
        strange = plain(key).filter(pa.array(rows < 0))
        advice = f"remove them, or check the ids, which are {shown(nodes)} in the graph"
        if rows[0] < 0 and any("has no header" in note for note in table.notes):
            advice = "if the first line is a header, name its columns (--id, --label)"
        raise UGCLError(
            f"{len(strange):,} label(s) in {table.name} are of nodes that are not in the graph "
            f"({shown(strange)}): {advice}"
        )
    return rows
