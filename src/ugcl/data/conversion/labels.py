"""Labels and splits of a conversion in the order of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl.data.conversion.context import Context
from ugcl.data.conversion.database import Database
from ugcl.data.conversion.features import FEATURES
from ugcl.data.conversion.node_numbers import NodeNumbers
from ugcl.data.conversion.nodes import NodeFacts, keep_rows, read_rows, refuse_repeated
from ugcl.data.conversion.numbering import NODES, Ints, column
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.labels import label_columns, labels_note, read_labels, used_classes
from ugcl.data.readers.read import check_label_columns, labels_of_others, number_of_labels
from ugcl.graph.folder import FolderWriter, mapped
from ugcl.graph.validation import SPLIT_PARTS, UNLABELLED, checked_labels, checked_splits

LABELS = "labels"
"""Table of their ids, and prefix of files."""

Rows = Iterator[tuple[Ints, Ints]]
"""Rows of a table of nodes and their nodes, in pieces."""

PIECE = 2**20


def read_label_table(context: Context, *, alone: bool) -> NodeFacts:
    """Read the table of labels; `alone` says that there are no features."""
    source = context.files.labels
    table = context.open(source, "labels")
    if table is None:
        read = read_labels(source, context.columns, alone=alone)
        return keep_rows(context.db, context.work, LABELS, read, labels=True)
    used = label_columns(table, context.columns, alone=alone)
    facts = read_rows(context.db, context.work, LABELS, table, used)
    facts.notes = [*table.notes, labels_note(table, facts.rows, used)]
    if facts.text is not None:
        refuse_repeated(context.db, LABELS, table.name)
    return facts


def write_stage(
    context: Context, numbers: NodeNumbers, text: bool, num_nodes: int
) -> dict[str, Any]:
    """Read the labels and write them and the split; return names of classes and notes.

    Args:
        context: of the conversion.
        numbers: of the nodes.
        text: whether the ids of the nodes are text.
        num_nodes: N.
    """
    features, tables, notes = numbers.features, list[tuple[str, NodeFacts]](), list[str]()
    if context.files.labels:
        facts = read_label_table(context, alone=features is None)
        tables.append((LABELS, facts))
        notes += facts.notes
    if features is not None:
        tables.append((FEATURES, features))

    def rows_of(prefix: str, facts: NodeFacts) -> Rows:
        if prefix == FEATURES or facts.text is None:
            return in_order(facts, num_nodes, ordered=features is not None)
        lookup = None if facts.text or text else numbers.lookup()
        if lookup is None and numbers.low is not None:
            numbers.node_table(text)
        return by_id(context.db, prefix, facts, lookup, numbers.first_ids(), notes)

    work, columns = context.work, context.columns
    names = write_labels(context.writer, work, tables, columns, num_nodes, rows_of)
    return {"class_names": names, "notes": notes}


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
            file = work / f"{prefix}_labels.npy"
            labels = _by_node(file, rows_of(prefix, facts), num_nodes, UNLABELLED)
            labels, used = used_classes(labels, facts.class_names)
            class_names = None if used is None else list(used)
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
    db: Database,
    prefix: str,
    facts: NodeFacts,
    lookup: Callable[[Ints], Ints] | None,
    nodes: pa.Array,
    notes: list[str],
) -> Rows:
    """Yield the nodes of a table by its ids.

    Args:
        db: has the table of ids.
        prefix: its name.
        facts: what is known of it.
        lookup: the nodes of integer ids; None where the ids are joined.
        nodes: the first ids of the graph, for messages.
        notes: gets what is ignored.
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
    first = pa.array([id for _, id in missing])
    notes += labels_of_others(facts.name, facts.rows, nodes, first, count)
