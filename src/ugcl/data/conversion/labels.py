"""Labels and splits of a conversion in the order of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl.data.conversion.database import Database
from ugcl.data.conversion.nodes import NodeFacts
from ugcl.data.conversion.numbering import NODES, Ints, column
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.read import check_label_columns, labels_of_others, number_of_labels
from ugcl.graph.folder import FolderWriter, mapped
from ugcl.graph.validation import SPLIT_PARTS, UNLABELLED, checked_labels, checked_splits

Rows = Iterator[tuple[Ints, Ints]]
"""Rows of a table of nodes and their nodes, in pieces."""

PIECE = 2**20


def write_labels(
    writer: FolderWriter,
    work: Path,
    tables: Sequence[tuple[str, NodeFacts]],
    columns: Columns,
    num_nodes: int,
    rows_of: Callable[[str, NodeFacts], Rows],
) -> list[str] | None:
    """Write labels and splits of the first table that has them; return the names of the classes.

    Args:
        writer: of the folder.
        work: has the labels and parts of the rows of each table.
        tables: prefix of the files of each table, and what is known of it.
        columns: names of columns; given ones must be in one of the tables.
        num_nodes: N.
        rows_of: yields the nodes of the rows of a table.
    """
    labels, splits, class_names = None, {}, None
    for prefix, facts in tables:
        if facts.labelled:
            labels = _by_node(work / f"{prefix}_labels.npy", rows_of(prefix, facts), num_nodes, UNLABELLED)
            class_names = facts.class_names
            break
    for prefix, facts in tables:
        if facts.split:
            parts = _by_node(work / f"{prefix}_parts.npy", rows_of(prefix, facts), num_nodes, 0)
            numbers = enumerate(SPLIT_PARTS, 1)
            found = ((part, np.flatnonzero(parts == number)) for number, part in numbers)
            splits = {part: nodes for part, nodes in found if nodes.size}
            break
    check_label_columns(columns, has_labels=labels is not None, has_split=bool(splits))
    labels = checked_labels(labels, num_nodes)
    if labels is not None:
        writer.write("labels", labels)
    for part, nodes in checked_splits(splits, labels, num_nodes).items():
        writer.write(f"split_{part}", nodes)
    return class_names


def _by_node(file: Path, rows: Rows, num_nodes: int, missing: int) -> npt.NDArray[Any]:
    values = mapped(file)
    result = np.full(num_nodes, missing, dtype=values.dtype)
    for row, node in rows:
        result[node] = values[row]
    return result


def in_order(facts: NodeFacts, num_nodes: int, *, ordered: bool) -> Rows:
    """Yield the nodes of a table whose rows are in the order of the nodes."""
    number_of_labels(facts.name, facts.rows, num_nodes, ordered=ordered)
    for start in range(0, num_nodes, PIECE):
        rows = np.arange(start, min(start + PIECE, num_nodes))
        yield rows, rows


def by_id(
    db: Database, prefix: str, facts: NodeFacts, lookup: Callable[[Ints], Ints] | None, nodes: pa.Array
) -> Rows:
    """Yield the nodes of a table by its ids.

    Args:
        db: has the table of ids.
        prefix: its name.
        facts: what is known of it.
        lookup: the nodes of integer ids; None where the ids are joined.
        nodes: the first ids of the graph, for messages.
    """
    missing: list[tuple[int, Any]] = []
    count = 0
    if lookup is not None:
        query = f"SELECT row, id FROM {prefix}"
    else:
        query = (
            f"SELECT l.row, coalesce(n.node, -1) AS node, l.id FROM {prefix} l "
            f"LEFT JOIN {NODES} n ON CAST(l.id AS VARCHAR) = CAST(n.id AS VARCHAR)"
        )
    for batch in db.batches(query):
        rows = column(batch, "row")
        node = column(batch, "node") if lookup is None else lookup(column(batch, "id"))
        if (outside := node < 0).any():
            count += int(outside.sum())
            ids = batch["id"].filter(pa.array(outside)).to_pylist()
            found = zip(rows[outside].tolist(), ids, strict=True)
            missing = sorted([*missing, *found], key=lambda each: each[0])[:4]
        yield rows[~outside], node[~outside]
    if count:
        first = pa.array([id for _, id in missing])
        raise labels_of_others(
            facts.name, facts.notes, nodes, first, count, begins=missing[0][0] == 0
        )
