"""Features in the long format: a row for each node and feature, perhaps with a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.columns import IDS, Columns, is_id_name
from ugcl.data.readers.ids import as_ids, decoded, positions_of, unique_ids
from ugcl.data.readers.nodes import NodeTable, quoted, read_node_columns
from ugcl.data.readers.tables import Table, count_missing

FEATURES = (
    *("feature_id", "featureid", "feature", "feature_name", "feature_index"),
    *("attribute_id", "attribute", "word_id", "word", "term_id", "term", "token_id", "token"),
    *("tag_id", "tag", "keyword"),
)
VALUES = ("value", "count", "weight", "tf", "tfidf", "frequency", "n")
"""Common names of the columns of features and of their values."""

REPEATS = 1.5
"""Rows for each node, on average, of a table whose columns do not say what they are."""


@dataclass(frozen=True)
class LongColumns:
    """Columns of ids, features and values; no value where each is 1."""

    id: str
    feature: str
    value: str | None


def long_columns(table: Table, columns: Columns) -> LongColumns | None:
    """Return the columns of a table in the long format; None for one row for each node."""
    without_header = table.is_text and table.columns in (["0", "1"], ["0", "1", "2"])
    feature = table.require(columns.feature) if columns.feature else table.find(FEATURES)
    feature = "1" if feature is None and without_header else feature
    if feature is None:
        return None
    taken = (feature, table.index_column(), *columns.ignore)
    others = [name for name in table.columns if name not in taken]
    id = table.require(columns.id) if columns.id else _id_column(others)
    values = [name for name in others if name != id]
    named = (columns.label, columns.split)
    fits = id is not None and len(values) < 2 and not any(name in values for name in named)
    numeric = all(table.is_number(name) and not table.is_list(name) for name in values)
    if not (fits and numeric and _is_key(table, feature)):
        if not columns.feature:
            return None
        raise UGCLError(
            f"{table.name} with `feature` {feature} must have a column of ids, one of features "
            "(integers or text) and at most one of values, but it has "
            f"{quoted(table.columns)}: leave out the others with `ignore`"
        )
    assert id is not None
    used = LongColumns(id, feature, values[0] if values else None)
    return used if columns.feature or _is_long(table, used) else None


def _id_column(names: list[str]) -> str | None:
    """Return the column of ids among those that are no features."""
    common = [name for name in names if name.lower() in IDS or is_id_name(name)]
    return next(iter([*common, *names]), None)


def _is_key(table: Table, column: str) -> bool:
    return table.is_integer(column) or not (table.is_number(column) or table.is_time(column))


def _is_long(table: Table, used: LongColumns) -> bool:
    """Return whether names, types or repeated ids say that rows are no nodes."""
    name = used.feature.lower()
    by_name = not table.is_integer(used.feature) or name.endswith(("id", "index"))
    by_name = by_name or (used.value or "").lower() in VALUES
    if by_name and name in FEATURES:
        return True
    ids = table.read((used.id,), text=True)[used.id]
    return len(ids) >= REPEATS * len(ids.unique())


def read_triplets(
    table: Table, used: LongColumns, expected_names: tuple[str, ...] | None
) -> NodeTable:
    """Read a table in the long format as sparse features; values of the same feature are summed.

    Args:
        table: the table.
        used: its columns.
        expected_names: features that a trained model expects, which come first.
    """
    cells = read_node_columns(table, (used.id, used.feature))
    ids, keys = (
        as_ids(cells[name], f"the column '{name}' of {table.name}")
        for name in (used.id, used.feature)
    )
    nodes, features = unique_ids([ids]), unique_ids([keys])
    names = [str(key) for key in features.to_pylist()]
    order = list(expected_names or ())
    if expected_names is not None:
        position = {name: i for i, name in enumerate(expected_names)}
        order += [name for name in names if name not in position]
        position = {name: i for i, name in enumerate(order)}
        columns = np.array([position[name] for name in names], dtype=np.int64)
    else:
        order, columns = names, np.arange(len(names))
    values = _values(table, used.value, len(ids))
    shape = (len(nodes), len(order))
    places = positions_of(ids, nodes), columns[positions_of(keys, features)]
    matrix = sp.csr_array(sp.coo_array((values, places), shape=shape))
    matrix.sum_duplicates()
    if used.value is None:
        matrix.data[:] = 1
    shown = quoted((used.id, used.feature, used.value))
    notes = (
        *table.notes,
        f"{table.name}: {len(ids):,} values of {len(order):,} sparse features of {len(nodes):,} "
        f"nodes ({shown})",
    )
    if used.value is not None and matrix.nnz < len(ids):
        notes += (f"{table.name}: summed {len(ids) - matrix.nnz:,} value(s) of the same feature",)
    ids = pa.chunked_array([nodes])
    return NodeTable(table.name, len(nodes), ids, matrix, tuple(order), notes=notes, partial=True)


def _values(
    table: Table, column: str | None, rows: int
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    if column is None:
        return np.ones(rows, dtype=np.float32)
    values = table.read((column,))[column]
    if missing := count_missing(values):
        raise UGCLError(
            f"{missing:,} value(s) are missing in the column '{column}' of {table.name}: fill them "
            "in, or remove these rows"
        )
    return np.asarray(values.cast(pa.float32(), safe=False).to_numpy())


def with_other_nodes(table: NodeTable, ids: pa.ChunkedArray, others: pa.Array) -> NodeTable:
    """Return a table with rows of zeros for other nodes.

    Args:
        table: the table.
        ids: its ids, of the type of the others.
        others: ids of nodes that it does not have.
    """
    assert table.features is not None
    note = f"{len(others):,} node(s) of the edges are not in {table.name}: their features are zeros"
    zeros = sp.csr_array((len(others), table.features.shape[1]), dtype=np.float32)
    return NodeTable(
        table.name,
        table.rows + len(others),
        pa.chunked_array([pa.concat_arrays([decoded(ids), others])]),
        sp.csr_array(sp.vstack([table.features, zeros])),
        table.feature_names,
        notes=(*table.notes, note),
        partial=True,
    )
