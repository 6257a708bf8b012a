"""Tables of nodes in a conversion: features, labels, splits and their ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.conversion.database import Database
from ugcl.data.conversion.ids import IdColumn, ModeError, id_batches
from ugcl.data.conversion.stages import Progress
from ugcl.data.readers.features import missing_features, unequal_lists
from ugcl.data.readers.ids import ONE_ROW, preview
from ugcl.data.readers.labels import encode_labels, split_rows
from ugcl.data.readers.nodes import NodeTable
from ugcl.data.readers.tables import Table, count_missing
from ugcl.graph.folder import ArrayStream, FolderWriter
from ugcl.graph.validation import (
    SPLIT_PARTS,
    UNLABELLED,
    checked_features,
    not_finite,
)
from ugcl.typing import Features

BLOCK = 2**22
"""Numbers of features that are written at a time."""


@dataclass
class NodeFacts:
    """What is known of a table of nodes once it is read.

    Attributes:
        name: of the table.
        rows: number of rows.
        notes: how it was read.
        text: whether the ids are text; None without ids.
        low, high: smallest and largest integer id.
        labelled, split: whether there are labels, and a split.
        class_names: of the labels.
        feature_names: of the features.
        width: number of features; 0 without any.
        sparse: whether the features are sparse.
    """

    name: str
    rows: int
    notes: list[str] = field(default_factory=list)
    text: bool | None = None
    low: int = 0
    high: int = -1
    labelled: bool = False
    split: bool = False
    class_names: list[str] | None = None
    feature_names: list[str] | None = None
    width: int = 0
    sparse: bool = False


def read_rows(
    db: Database,
    folder: Path,
    prefix: str,
    table: Table,
    used: tuple[str | None, str | None, str | None],
) -> NodeFacts:
    """Copy ids into the database, encode labels and split, and return what is known.

    Args:
        db: gets the table `prefix` with the id of each row.
        folder: gets `prefix_labels.npy` and `prefix_parts.npy`, a value for each row.
        prefix: of these names.
        table: with `batches`.
        used: columns of ids, labels and split.
    """
    id, label, split = used
    ids = [] if id is None else [IdColumn(table, id)]
    cells = [_Cells(table, name) for name in (label, split) if name is not None]
    while True:
        for cell in cells:
            cell.restart()
        try:
            if ids:
                schema = pa.schema([("row", pa.int64()), ("id", ids[0].type)])
                db.fill(prefix, schema, _id_rows(table, ids, cells, schema))
            elif cells:
                for _, others in id_batches(table, [], [cell.name for cell in cells]):
                    for cell, column in zip(cells, others, strict=True):
                        cell.add(column)
            break
        except ModeError:
            continue
    facts = NodeFacts(
        table.name, ids[0].rows if ids else sum(map(len, cells[0].codes)) if cells else 0
    )
    if ids:
        facts.text, facts.low, facts.high = ids[0].type != pa.int64(), ids[0].low, ids[0].high
    by_name = {cell.name: cell for cell in cells}
    if label is not None:
        facts.labelled, facts.class_names = True, by_name[label].write_labels(folder, prefix)
    if split is not None:
        facts.split = True
        by_name[split].write_parts(folder, prefix)
    return facts


def _id_rows(
    table: Table, ids: list[IdColumn], cells: list[_Cells], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    for (values,), others in id_batches(table, ids, [cell.name for cell in cells]):
        for cell, column in zip(cells, others, strict=True):
            cell.add(column)
        rows = np.arange(ids[0].rows - len(values), ids[0].rows)
        yield pa.record_batch([pa.array(rows), values], schema=schema)


class _Cells:
    """Encodes a column by its distinct values, which are few."""

    def __init__(self, table: Table, name: str) -> None:
        self.table, self.name = table, name
        self.restart()

    def restart(self) -> None:
        self.codes: list[npt.NDArray[np.int32]] = []
        self.values: pa.Array | None = None

    def add(self, column: pa.Array) -> None:
        distinct = pc.unique(column).drop_null()
        if self.values is None:
            self.values = distinct
        else:
            new = distinct.filter(pc.invert(pc.is_in(distinct, value_set=self.values)))
            self.values = pa.concat_arrays([self.values, new]) if len(new) else self.values
        codes = pc.fill_null(pc.index_in(column, value_set=self.values), -1)
        self.codes.append(codes.to_numpy(zero_copy_only=False))

    def _distinct(self) -> pa.ChunkedArray:
        kind = pa.string() if self.table.is_text else self.table.schema.field(self.name).type
        values = pa.array([], kind) if self.values is None else self.values
        return pa.chunked_array([values.dictionary_encode() if self.table.is_text else values])

    def _write(self, file: Path, values: npt.NDArray[Any]) -> None:
        """Write a value for each row; the last of the values is that of missing cells."""
        with ArrayStream(file, values.dtype) as stream:
            for codes in self.codes:
                stream.append(values[codes])

    def write_labels(self, folder: Path, prefix: str) -> list[str] | None:
        encoded, names = encode_labels(self._distinct(), self.table.name)
        self._write(folder / f"{prefix}_labels.npy", np.append(encoded, UNLABELLED))
        return None if names is None else list(names)

    def write_parts(self, folder: Path, prefix: str) -> None:
        distinct = self._distinct()
        write_parts(folder, prefix, split_rows(distinct, self.table.name), len(distinct), self)


def write_parts(
    folder: Path, prefix: str, rows: dict[str, Any], count: int, cells: _Cells | None = None
) -> None:
    """Write the part of each row, 0 for none."""
    parts = np.zeros(count + (cells is not None), dtype=np.int8)
    for number, part in enumerate(SPLIT_PARTS, 1):
        parts[rows.get(part, [])] = number
    if cells is None:
        np.save(folder / f"{prefix}_parts.npy", parts)
    else:
        cells._write(folder / f"{prefix}_parts.npy", parts)


def keep_rows(
    db: Database, folder: Path, prefix: str, table: NodeTable, *, labels: bool
) -> NodeFacts:
    """Do what `read_rows` does with a table that is in memory."""
    facts = NodeFacts(table.name, table.rows, list(table.notes))
    if table.ids is not None:
        kind = table.ids.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        facts.text = not pa.types.is_integer(kind)
        if not facts.text and table.rows:
            ends = pc.min_max(table.ids.cast(kind)).as_py()
            facts.low, facts.high = ends["min"], ends["max"]
        schema = pa.schema([("row", pa.int64()), ("id", kind)])
        rows = pa.array(np.arange(table.rows))
        whole = pa.table([rows, table.ids.cast(kind)], schema=schema)
        db.fill(prefix, schema, whole.to_batches())
    if labels and table.labels is not None:
        encoded, names = encode_labels(table.labels, table.name)
        facts.labelled, facts.class_names = True, None if names is None else list(names)
        np.save(folder / f"{prefix}_labels.npy", encoded)
    if table.split is not None:
        facts.split = True
        write_parts(folder, prefix, split_rows(table.split, table.name), table.rows)
    return facts


def refuse_repeated(db: Database, prefix: str, where: str, advice: str = ONE_ROW) -> None:
    """Raise an error if an id occurs twice in a table of ids."""
    groups = f"FROM {prefix} GROUP BY id HAVING count(*) > 1"
    repeated = db.rows(f"SELECT count(*) FROM (SELECT id {groups})")[0][0]
    if repeated:
        first = db.rows(f"SELECT id {groups} ORDER BY min(row) LIMIT 4")
        raise UGCLError(
            f"{repeated:,} id(s) have several rows in {where} "
            f"({preview(pa.array([id for (id,) in first]))}): {advice}"
        )


def write_table_features(
    writer: FolderWriter,
    table: Table,
    names: list[str],
    dtype: npt.DTypeLike,
    id_of: Any,
    progress: Progress,
    total: int,
) -> tuple[int, list[str]]:
    """Write the features of a table, and return the number of rows and the names of the columns.

    Args:
        writer: of the folder.
        table: with `batches`.
        names: its columns of features.
        dtype: float32 or float16.
        id_of: the id of a row, for messages.
        progress: called with the number of rows.
        total: about how many rows there are.
    """
    assert table.batches is not None
    missing = dict.fromkeys(names, (0, -1))
    lengths: dict[str, tuple[int, int]] = {}
    rows = 0
    feature_names: list[str] = []
    stream = None
    try:
        for batch in table.batches(names, False):
            if len(batch) == 0:
                continue
            parts, feature_names = [], []
            for name in names:
                column = pa.chunked_array([batch[name]])
                if count := count_missing(column):
                    number, first = missing[name]
                    if not number:
                        first = rows + int(np.argmax(np.asarray(column.is_null(nan_is_null=True))))
                    missing[name] = number + count, first
                parts.append(_matrix(column, name, table, lengths))
                several = table.is_list(name)
                feature_names += (
                    [f"{name}_{i}" for i in range(parts[-1].shape[1])] if several else [name]
                )
            block = np.concatenate(parts, axis=1)
            if stream is None:
                stream = _FeatureStream(writer, dtype, block.shape[1])
            if block.shape[1] == stream.width:  # else the error is raised in the end
                stream.append(block)
            rows += len(batch)
            progress("reading features", rows, total)
    finally:
        if stream is not None:
            stream.close()
    for name, (count, first) in missing.items():
        if count:
            raise missing_features(table, name, count, first, id_of(first))
        low, high = lengths.get(name, (0, 0))
        if low != high:
            raise unequal_lists(name, table.name, low, high)
    if stream is None:
        checked_features(np.empty((0, len(names))))  # raises
    else:
        stream.check()
    return rows, feature_names


def _matrix(
    column: pa.ChunkedArray, name: str, table: Table, lengths: dict[str, tuple[int, int]]
) -> npt.NDArray[Any]:
    if not table.is_list(name):
        values = column.cast(pa.float32(), safe=False).to_numpy()
        return np.asarray(values)[:, None]
    found = pc.min_max(pc.list_value_length(column)).as_py()
    low, high = found["min"] or 0, found["max"] or 0
    first, last = lengths.get(name, (low, high))
    lengths[name] = low, high = min(first, low), max(last, high)
    if low != high:
        return np.empty((len(column), 0))
    flat = pc.list_flatten(column).cast(pa.float32(), safe=False)
    return np.asarray(flat.to_numpy()).reshape(len(column), -1)


class _FeatureStream:
    """Writes blocks of rows of dense features, and counts what is not finite."""

    def __init__(self, writer: FolderWriter, dtype: npt.DTypeLike, width: int) -> None:
        self.width, self.count, self.first, self.rows = width, 0, (0, 0), 0
        self.overflow, self.largest = False, 0.0
        self.stream = writer.stream("features", dtype, width).__enter__()

    def append(self, block: npt.NDArray[Any]) -> None:
        with np.errstate(over="ignore"):
            block = np.asarray(block, dtype=np.float32)
            stored = block.astype(self.stream.dtype)
        finite = np.isfinite(block)
        if not finite.all():
            bad = np.argwhere(~finite)
            if not self.count:
                self.first = self.rows + int(bad[0, 0]), int(bad[0, 1])
            self.count += len(bad)
        elif not np.isfinite(stored).all():
            self.overflow = True
            self.largest = max(self.largest, float(np.abs(block).max()))
        self.rows += len(block)
        self.stream.append(stored)

    def close(self) -> None:
        self.stream.__exit__()

    def check(self) -> None:
        if self.count:
            raise not_finite(self.count, *self.first)
        if self.overflow:
            raise UGCLError(
                f"features of up to {self.largest:g} do not fit into float16, whose largest number "
                "is 65,504: rescale them, or set `dtype` to float32"
            )


def write_features(
    writer: FolderWriter, features: Features, dtype: npt.DTypeLike, progress: Progress
) -> None:
    """Write features that are an array, perhaps mapped, or a sparse matrix."""
    if sp.issparse(features):
        if np.dtype(dtype) != np.float32:
            raise UGCLError("sparse features are float32: leave out `dtype`")
        matrix = checked_features(features)
        for part in ("indptr", "indices", "data"):
            writer.write(f"features_{part}", getattr(matrix, part))
        return
    if features.size == 0 or features.dtype.kind not in "fiub":
        features = checked_features(features)
    rows, width = features.shape
    stream = _FeatureStream(writer, dtype, width)
    step = max(1, BLOCK // width)
    try:
        for start in range(0, rows, step):
            progress("reading features", start, rows)
            stream.append(features[start : start + step])
    finally:
        stream.close()
    stream.check()
