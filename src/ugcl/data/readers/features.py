"""Readers of features: tables, arrays, SciPy matrices and JSON."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.arrays import is_array_file, read_array
from ugcl.data.readers.columns import LABELS, SPLITS, Columns
from ugcl.data.readers.ids import as_ids, to_arrow
from ugcl.data.readers.limits import check_json
from ugcl.data.readers.nodes import ExpectedFeatures, NodeTable, quoted, read_node_columns
from ugcl.data.readers.tables import (
    Table,
    check_file,
    count_missing,
    file_extension,
    open_table,
    reading,
)
from ugcl.data.readers.triplets import long_columns, read_triplets

MAX_FEATURES = 2**31 - 1
"""Feature indices in JSON are below it."""


def read_features(
    source: Any,
    columns: Columns,
    expected: ExpectedFeatures | None = None,
    *,
    labelled: bool = False,
) -> NodeTable:
    """Read features from a file, an array, a SciPy matrix or a data frame.

    Args:
        source: the file or object.
        columns: names of columns.
        expected: features that a trained model expects.
        labelled: whether given columns of labels and split must be in this table.
    """
    expected = expected or ExpectedFeatures()
    if isinstance(source, str | Path):
        path = Path(source)
        if is_array_file(path):
            file = read_array(path)
            ids = None if file.ids is None else as_ids(to_arrow(file.ids), f"ids in {path.name}")
            return from_matrix(file.array, path.name, ids)
        if file_extension(path) == ".json":
            return _from_json(path, expected.num_features)
    elif sp.issparse(source) or isinstance(source, np.ndarray | list | tuple):
        return from_matrix(source, "the features", None)
    table = open_table(source, "features", named=columns.node_columns)
    if (long := long_columns(table, columns)) is not None:
        return read_triplets(table, long, expected.feature_names)
    return _from_table(table, columns, expected, labelled=labelled)


def from_matrix(matrix: Any, name: str, ids: pa.ChunkedArray | None) -> NodeTable:
    """Return a matrix, dense or sparse, as a table of nodes."""
    try:
        matrix = matrix if sp.issparse(matrix) else np.asarray(matrix)
    except ValueError as error:
        raise UGCLError(f"{name} must be a table, a row for each node: {error}") from error
    if matrix.ndim != 2:
        raise UGCLError(f"{name} must be a table, a row for each node, not {matrix.shape}")
    rows, width = matrix.shape
    kind = "sparse" if sp.issparse(matrix) else "dense"
    order = "" if ids is not None else ", in the order of the nodes"
    note = f"{name}: {rows:,} rows of {width:,} {kind} features{order}"
    return NodeTable(name, rows, ids, matrix, notes=(note,))


def _from_json(path: Path, num_features: int | None) -> NodeTable:
    """Read a JSON object that maps each id to the list of its binary features."""
    check_file(path)
    with reading(path.name):
        check_json(path, lines=False)
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            lists = json.load(stream, object_pairs_hook=_distinct)
        if not isinstance(lists, dict) or not lists:
            raise ValueError("it must be an object of id: list of feature indices")
        counts = np.array([len(indices) for indices in lists.values()])
        flat = np.array(list(chain.from_iterable(lists.values())))
        if flat.size and (flat.ndim != 1 or flat.dtype.kind != "i"):
            raise ValueError(f"feature indices must be integers, not {flat.dtype}")
        if flat.size and flat.min() < 0:
            raise ValueError(f"feature indices must be at least 0, but one is {flat.min()}")
        if flat.size and flat.max() >= MAX_FEATURES:
            raise ValueError(f"feature indices must be below 2^31 - 1, but one is {flat.max()}")
    width = max(int(flat.max(initial=0)) + 1, num_features or 0)
    features = sp.csr_array(
        (
            np.ones(flat.size, dtype=np.float32),
            flat.astype(np.int64),
            np.concatenate([[0], np.cumsum(counts)]),
        ),
        shape=(len(lists), width),
    )
    features.sum_duplicates()
    features.data[:] = 1
    ids = as_ids(pa.array(list(lists)).dictionary_encode(), f"the keys of {path.name}")
    note = f"{path.name}: {len(lists):,} rows of {width:,} binary features"
    return NodeTable(path.name, len(lists), ids, features, notes=(note,))


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object as a dictionary; refuse an id that occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an id occurs twice")
    return found


def _from_table(
    table: Table, columns: Columns, expected: ExpectedFeatures, *, labelled: bool
) -> NodeTable:
    used = feature_columns(table, columns, expected, labelled=labelled)
    values = read_node_columns(table, (used.id, used.label, used.split))
    features, feature_names = _features(table, used.names, values.get(used.id))
    return NodeTable(
        table.name,
        features.shape[0],
        None if used.id is None else as_ids(values[used.id], used.where(table)),
        features,
        feature_names,
        values.get(used.label),
        values.get(used.split),
        (*table.notes, used.note(table, *features.shape)),
    )


@dataclass(frozen=True)
class FeatureColumns:
    """Columns of ids, labels and split in a table of features, and those that are features."""

    id: str | None
    label: str | None
    split: str | None
    names: list[str]

    def where(self, table: Table) -> str:
        """Return where the ids are, for messages."""
        return f"the column '{self.id}' of {table.name}"

    def note(self, table: Table, rows: int, width: int) -> str:
        """Return the note of how the table was read."""
        note = f"{table.name}: {rows:,} rows of {width:,} features ({quoted(self.names, 6)})"
        note += ", in the order of the nodes" if self.id is None else f", ids from '{self.id}'"
        note += f", labels from '{self.label}'" if self.label else ""
        note += f", split from '{self.split}'" if self.split else ""
        if table.index_column() not in (None, self.id):
            note += ", without the index that pandas wrote"
        return note


def feature_columns(
    table: Table, columns: Columns, expected: ExpectedFeatures, *, labelled: bool
) -> FeatureColumns:
    """Return the columns of a table of features: as given, or by their names and types."""
    key = _id_column(table, columns)
    for name in filter(None, (columns.label, columns.split) if labelled else ()):
        table.require(name)
    label, split = table.choose(columns.label, LABELS), table.choose(columns.split, SPLITS)
    if key is not None and key in (label, split):
        raise UGCLError(f"the column '{key}' of {table.name} cannot be both id and label")
    names = _feature_columns(table, columns, expected, {key, label, split})
    return FeatureColumns(key, label, split, names)


def _feature_columns(
    table: Table, columns: Columns, expected: ExpectedFeatures, taken: set[str | None]
) -> list[str]:
    """Return the columns of features: those that the model expects, or all that are left."""
    if expected.feature_names and set(expected.feature_names) <= set(table.columns):
        return list(expected.feature_names)
    taken = taken | {table.index_column(), *(table.require(name) for name in columns.ignore)}
    names = [name for name in table.columns if name not in taken]
    if texts := [name for name in names if not table.is_number(name)]:
        raise UGCLError(
            f"{len(texts):,} column(s) of {table.name} hold no numbers ({quoted(texts, 3)}): "
            "encode them as numbers (with a decimal point), or leave them out with `ignore`; "
            "columns of ids and labels are named with `id` and `label`"
        )
    if not names:
        raise UGCLError(f"{table.name} has no column of features besides {quoted(taken)}")
    return names


def _id_column(table: Table, columns: Columns) -> str | None:
    """Return the column of ids: as given, by common names, or the first if it is no feature."""
    if columns.id:
        return table.require(columns.id)
    if (column := table.id_column("")) is not None:
        return column
    index = table.index_column()
    first = next((name for name in table.columns if name != index), None)
    if first is None or first in (columns.label, columns.split) or table.is_list(first):
        return index
    if not table.is_number(first):
        return first
    if table.is_integer(first):
        values = table.read((first,), text=True)[first]
        if len(values) > 1 and len(values.unique()) == len(values):
            return first
    return index


def _features(
    table: Table, names: list[str], ids: pa.ChunkedArray | None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """Return the features as one array, and their names; lists become several columns."""
    columns = table.read(names)
    parts: list[npt.NDArray[Any]] = []
    feature_names: list[str] = []
    for name in names:
        column = columns[name]
        if missing := count_missing(column):
            first = int(np.argmax(np.asarray(column.is_null(nan_is_null=True))))
            raise missing_features(table, name, missing, first, None if ids is None else ids[first])
        if table.is_list(name):
            parts.append(_from_lists(column, name, table.name))
            feature_names += [f"{name}_{i}" for i in range(parts[-1].shape[1])]
        else:
            parts.append(column.cast(pa.float32(), safe=False).to_numpy()[:, None])
            feature_names.append(name)
    return np.concatenate(parts, axis=1), tuple(feature_names)


def missing_features(table: Table, column: str, count: int, row: int, id: Any) -> UGCLError:
    """Return the error for feature values that are missing, the first in this row, of this id."""
    node = "" if id is None else f" (node {id})"
    return UGCLError(
        f"{count:,} feature value(s) are missing in the column '{column}' of {table.name}, "
        f"the first in row {row + 1}{node}: fill them in, for example by 0 or the "
        "column's mean"
    )


def _from_lists(column: pa.ChunkedArray, name: str, table: str) -> npt.NDArray[np.float32]:
    lengths = pc.min_max(pc.list_value_length(column)).as_py()
    if lengths["min"] != lengths["max"]:
        raise unequal_lists(name, table, lengths["min"], lengths["max"])
    flat = pc.list_flatten(column).cast(pa.float32(), safe=False)
    return np.asarray(flat.to_numpy()).reshape(len(column), -1)


def unequal_lists(name: str, table: str, low: int, high: int) -> UGCLError:
    """Return the error for lists of different lengths."""
    return UGCLError(
        f"the lists in the column '{name}' of {table} have between {low} and "
        f"{high} entries: give all nodes the same number of features"
    )
