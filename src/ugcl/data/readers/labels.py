"""Labels and splits of nodes, and ids for rows that have none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.arrays import array_file, is_array_file
from ugcl.data.readers.columns import LABELS, SPLITS, Columns
from ugcl.data.readers.ids import array_of, as_ids, check_distinct, plain
from ugcl.data.readers.nodes import NodeTable, about_nodes, listed
from ugcl.data.readers.tables import Table, open_table
from ugcl.graph.validation import UNLABELLED

MISSING = ("nan", "NaN", "NA", "N/A", "null")
"""What text files have for a label that is not known, besides nothing."""

NUMBER = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"

PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("", "none", "unused"), ""),
}
"""What the parts of a split are commonly called."""


def read_labels(source: Any, columns: Columns, *, alone: bool = False) -> NodeTable:
    """Read labels, and a split where there is one, from a file, an array or a data frame.

    Args:
        source: where they are.
        columns: which column is what.
        alone: whether this is the only table of nodes, which must have the columns that are named.
    """
    if isinstance(source, str | Path) and is_array_file(Path(source)):
        found, name = array_file(Path(source)), Path(source).name
        return _of_array(found.array, found.ids, name)
    if isinstance(source, np.ndarray | list | tuple):
        return _of_array(np.asarray(source), None, "the labels")
    if isinstance(source, Mapping):
        keys, values = (
            np.array(list(each), dtype=object) for each in zip(*source.items(), strict=True)
        )
        return _of_array(values, keys, "the labels")
    if is_series(source):
        source = source.to_frame("label")
    table = open_table(source, "labels", named=columns.of_nodes)
    for name in filter(None, (columns.id, columns.split) if alone else ()):
        table.asked(name)
    key, label, split = _roles(table, columns)
    about = about_nodes(table, [name for name in (key, label, split) if name is not None])
    rows = len(about[label])
    words = f"{table.name}: {rows:,} labels from '{label}'"
    words += ", in the order of the nodes" if key is None else f", ids from '{key}'"
    words += f", split from '{split}'" if split else ""
    ids = None
    if key is not None:
        ids = as_ids(about[key], f"the column '{key}' of {table.name}")
        check_distinct(plain(ids), table.name)
    return NodeTable(
        table.name,
        rows,
        ids,
        labels=about[label],
        split=about.get(split),
        notes=(*table.notes, words),
    )


def _of_array(array: npt.NDArray[Any], ids: npt.NDArray[Any] | None, name: str) -> NodeTable:
    if array.ndim != 1:
        raise UGCLError(f"{name} must hold one label for each node, not {array.shape}")
    names = None if ids is None else as_ids(array_of(ids), f"the ids in {name}")
    return NodeTable(name, len(array), names, labels=pa.chunked_array([array_of(array)]))


def _roles(table: Table, columns: Columns) -> tuple[str | None, str, str | None]:
    """The columns of ids, labels and split: as named, by common names, or those that are left."""
    numbering = table.numbering()
    key, split = table.id_column(columns.id), table.chosen(columns.split, SPLITS)
    label = table.asked(columns.label) if columns.label else table.called(LABELS)
    others = [name for name in table.columns if name not in (key, split, label, numbering)]
    if label is None and key is None and len(others) == 2:
        key, label = others
    elif label is None and len(others) == 1:
        label = others[0]
    elif key is None and others:
        key = others[0]
    if label is None:
        raise UGCLError(
            f"it is not clear which column of {table.name} holds the labels: name it with --label; "
            f"there are {listed(table.columns)}"
        )
    if label in (key, split):
        raise UGCLError(f"the column '{label}' of {table.name} cannot be label and more at once")
    return numbering if key is None else key, label, split


def is_series(source: Any) -> bool:
    """Whether this is a column of pandas or polars."""
    return hasattr(source, "to_frame") and not hasattr(source, "columns")


def read_ids(source: Any) -> pa.ChunkedArray:
    """Ids for the rows of features that have none: a table's id column or an array."""
    if isinstance(source, str | Path) and is_array_file(Path(source)):
        return as_ids(array_of(array_file(Path(source)).array), Path(source).name)
    if isinstance(source, np.ndarray | list | tuple):
        return as_ids(array_of(np.asarray(source)), "the ids")
    table = open_table(source.to_frame("id") if is_series(source) else source, "ids")
    column = table.id_column("") or table.columns[0]
    return as_ids(
        table.read((column,), text=True)[column], f"the column '{column}' of {table.name}"
    )


def classes_of(
    labels: pa.ChunkedArray, where: str
) -> tuple[npt.NDArray[np.int64], tuple[str, ...] | None]:
    """Labels as numbers from 0, and the names of the classes where these are not their numbers.

    Whole numbers from 0 without gaps stay what they are, and -1 is not known. All others, text too,
    are numbered in their order; what is empty is not known.
    """
    values = plain(labels)
    if pa.types.is_dictionary(labels.type):
        values = _read_text(values)
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())
        values = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
        whole = pc.all(pc.equal(pc.floor(values), values)).as_py() is not False
        values = values.cast(pa.int64() if whole else pa.string())
    if pa.types.is_integer(values.type):
        values = values.cast(pa.int64())
        values = pc.if_else(pc.equal(values, UNLABELLED), pa.scalar(None, pa.int64()), values)
    else:
        values = values.cast(pa.string()).cast(pa.large_string())
    known = pc.unique(values.drop_null())
    if len(known) == 0:
        raise UGCLError(f"{where} has no label at all: leave it out, or fill some in")
    known = known.take(pc.array_sort_indices(known))
    numbers = pc.fill_null(pc.index_in(values, value_set=known), UNLABELLED)
    found = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)
    names = [str(name) for name in known.to_pylist()]
    same = names == [str(number) for number in range(len(names))]
    return found, None if same else tuple(names)


def _read_text(texts: pa.Array) -> pa.Array:
    """Labels of a text file: numbers if all are, and missing where they say so."""
    missing = pc.is_in(texts, value_set=pa.array(MISSING, texts.type))
    texts = pc.if_else(missing, pa.scalar(None, texts.type), texts)
    numbers = pc.all(pc.match_substring_regex(texts, NUMBER)).as_py()
    return texts.cast(pa.float64()) if numbers else texts


def parts_of(split: pa.ChunkedArray, where: str) -> dict[str, npt.NDArray[np.int64]]:
    """The rows of each part of a split."""
    texts = plain(split).cast(pa.string()).to_pylist()
    parts = ["" if text is None else text.strip().lower() for text in texts]
    if strange := sorted(set(parts) - set(PARTS)):
        raise UGCLError(
            f"the split in {where} has a part called '{strange[0]}': use train, val and test, and "
            "nothing for nodes that belong to none"
        )
    found = np.array([PARTS[part] for part in parts])
    return {
        part: np.flatnonzero(found == part) for part in ("train", "val", "test") if part in found
    }
