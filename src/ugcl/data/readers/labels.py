"""Readers of labels, splits and ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.arrays import is_array_file, read_array
from ugcl.data.readers.columns import LABELS, SPLITS, Columns
from ugcl.data.readers.ids import as_ids, check_unique, decoded, to_arrow
from ugcl.data.readers.nodes import NodeTable, quoted, read_node_columns
from ugcl.data.readers.tables import Table, open_table
from ugcl.graph.validation import SPLIT_PARTS, UNLABELLED
from ugcl.typing import LabelArray, NodeIndices

MISSING = ("nan", "NaN", "NA", "N/A", "null")
"""Texts of unknown labels in text files, besides the empty one."""

NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"

PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("", "none", "unused"), ""),
}
"""Common names of the parts of a split."""


def read_labels(source: Any, columns: Columns, *, alone: bool = False) -> NodeTable:
    """Read labels, and a split if there is one, from a file, an array or a data frame.

    Args:
        source: the file or object.
        columns: names of columns.
        alone: whether this is the only table of nodes, which must have all given columns.
    """
    if isinstance(source, str | Path) and is_array_file(Path(source)):
        file = read_array(Path(source))
        return _from_array(file.array, file.ids, Path(source).name)
    if isinstance(source, np.ndarray | list | tuple):
        return _from_array(np.asarray(source), None, "the labels")
    if isinstance(source, Mapping):
        keys, values = (
            np.array(list(each), dtype=object) for each in zip(*source.items(), strict=True)
        )
        return _from_array(values, keys, "the labels")
    if is_series(source):
        source = source.to_frame("label")
    table = open_table(source, "labels", named=columns.node_columns)
    key, label, split = label_columns(table, columns, alone=alone)
    cells = read_node_columns(table, (key, label, split))
    rows = len(cells[label])
    ids = None
    if key is not None:
        ids = as_ids(cells[key], f"the column '{key}' of {table.name}")
        check_unique(decoded(ids), table.name)
    return NodeTable(
        table.name,
        rows,
        ids,
        labels=cells[label],
        split=cells.get(split),
        notes=(*table.notes, labels_note(table, rows, (key, label, split))),
    )


def label_columns(
    table: Table, columns: Columns, *, alone: bool
) -> tuple[str | None, str, str | None]:
    """Return the columns of ids, labels and split; the arguments are those of `read_labels`."""
    for name in filter(None, (columns.id, columns.split) if alone else ()):
        table.require(name)
    return _roles(table, columns)


def labels_note(table: Table, rows: int, used: tuple[str | None, str, str | None]) -> str:
    """Return the note of how many labels were read from which columns."""
    key, label, split = used
    note = f"{table.name}: {rows:,} labels from '{label}'"
    note += ", in the order of the nodes" if key is None else f", ids from '{key}'"
    return note + (f", split from '{split}'" if split else "")


def _from_array(array: npt.NDArray[Any], ids: npt.NDArray[Any] | None, name: str) -> NodeTable:
    if array.ndim != 1:
        raise UGCLError(f"{name} must hold one label for each node, not {array.shape}")
    names = None if ids is None else as_ids(to_arrow(ids), f"the ids in {name}")
    return NodeTable(name, len(array), names, labels=pa.chunked_array([to_arrow(array)]))


def _roles(table: Table, columns: Columns) -> tuple[str | None, str, str | None]:
    """Return the columns of ids, labels and split: as given, by common names, or the rest."""
    index = table.index_column()
    key, split = table.id_column(columns.id), table.choose(columns.split, SPLITS)
    label = table.require(columns.label) if columns.label else table.find(LABELS)
    others = [name for name in table.columns if name not in (key, split, label, index)]
    if label is None and key is None and len(others) == 2:
        key, label = others
    elif label is None and len(others) == 1:
        label = others[0]
    elif key is None and others:
        key = others[0]
    if label is None:
        raise UGCLError(
            f"it is not clear which column of {table.name} holds the labels: name it with `label`; "
            f"there are {quoted(table.columns)}"
        )
    if label in (key, split):
        raise UGCLError(f"the column '{label}' of {table.name} cannot hold labels and ids or split")
    return index if key is None else key, label, split


def is_series(source: Any) -> bool:
    """Return whether an object is a series of pandas or polars."""
    return hasattr(source, "to_frame") and not hasattr(source, "columns")


def read_ids(source: Any) -> pa.ChunkedArray:
    """Read the ids of the rows of features from a table or an array."""
    if isinstance(source, str | Path) and is_array_file(Path(source)):
        return as_ids(to_arrow(read_array(Path(source)).array), Path(source).name)
    if isinstance(source, np.ndarray | list | tuple):
        return as_ids(to_arrow(np.asarray(source)), "the ids")
    table = open_table(source.to_frame("id") if is_series(source) else source, "ids")
    column = table.id_column("") or table.columns[0]
    return as_ids(
        table.read((column,), text=True)[column], f"the column '{column}' of {table.name}"
    )


def encode_labels(labels: pa.ChunkedArray, where: str) -> tuple[LabelArray, tuple[str, ...] | None]:
    """Encode labels as integers from 0; return them and the names of the classes.

    Integers from 0 without gaps stay as they are, and the classes have no names. All others are
    encoded in sorted order. -1 and missing values are unknown labels.
    """
    values = decoded(labels)
    if pa.types.is_dictionary(labels.type):
        values = _read_text(values)
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())
        values = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
        integers = pc.all(pc.equal(pc.floor(values), values)).as_py() is not False
        values = values.cast(pa.int64() if integers else pa.string())
    if pa.types.is_integer(values.type):
        values = values.cast(pa.int64())
        values = pc.if_else(pc.equal(values, UNLABELLED), pa.scalar(None, pa.int64()), values)
    else:
        values = values.cast(pa.string()).cast(pa.large_string())
    classes = pc.unique(values.drop_null())
    if len(classes) == 0:
        raise UGCLError(f"{where} has no label at all: leave it out, or fill some in")
    classes = classes.take(pc.array_sort_indices(classes))
    codes = pc.fill_null(pc.index_in(values, value_set=classes), UNLABELLED)
    encoded = np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)
    return encoded, _names_or_none([str(name) for name in classes.to_pylist()])


def used_classes(
    labels: LabelArray, class_names: Sequence[str] | None
) -> tuple[LabelArray, tuple[str, ...] | None]:
    """Return labels and names without the classes that no node has.

    Args:
        labels: class of each node, -1 if unknown.
        class_names: names of the classes of the table of labels; None where they are numbers.
    """
    known = labels >= 0
    used, numbers = np.unique(labels[known], return_inverse=True)
    count = int(used[-1]) + 1 if class_names is None and used.size else len(class_names or ())
    if used.size == count:
        return labels, None if class_names is None else tuple(class_names)
    labels = labels.copy()
    labels[known] = numbers
    names = [str(i) if class_names is None else class_names[i] for i in used.tolist()]
    return labels, _names_or_none(names)


def _names_or_none(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of classes; None where they are their numbers."""
    return None if list(names) == [str(i) for i in range(len(names))] else tuple(names)


def _read_text(texts: pa.Array) -> pa.Array:
    """Parse the labels of a text file: as numbers if all are, with missing values."""
    missing = pc.is_in(texts, value_set=pa.array(MISSING, texts.type))
    texts = pc.if_else(missing, pa.scalar(None, texts.type), texts)
    numbers = pc.all(pc.match_substring_regex(texts, NUMBER)).as_py()
    return texts.cast(pa.float64()) if numbers else texts


def split_rows(split: pa.ChunkedArray, where: str) -> dict[str, NodeIndices]:
    """Return the rows of each part of a split."""
    texts = decoded(split).cast(pa.string()).to_pylist()
    parts = ["" if text is None else text.strip().lower() for text in texts]
    if unknown := sorted(set(parts) - set(PARTS)):
        raise UGCLError(
            f"the split in {where} has a part called '{unknown[0]}': use train, val and test, and "
            "leave other nodes empty"
        )
    names = np.array([PARTS[part] for part in parts])
    return {part: np.flatnonzero(names == part) for part in SPLIT_PARTS if part in names}
