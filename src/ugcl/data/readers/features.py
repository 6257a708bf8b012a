"""Features from tables, arrays, SciPy matrices and JSON."""

from __future__ import annotations

import gzip
import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.npz import UNREADABLE
from ugcl.data.readers.arrays import array_file, is_array_file
from ugcl.data.readers.columns import LABELS, SPLITS, Columns
from ugcl.data.readers.ids import array_of, as_ids
from ugcl.data.readers.nodes import Like, NodeTable, about_nodes, listed
from ugcl.data.readers.tables import (
    Table,
    check_file,
    count_missing,
    ending,
    open_table,
    unreadable,
)


def read_features(
    source: Any, columns: Columns, like: Like | None = None, *, labelled: bool = False
) -> NodeTable:
    """Read features from a file, an array, a SciPy matrix or a data frame.

    Args:
        source: where they are.
        columns: which column is what.
        like: what they are to be like, where they must suit a trained model.
        labelled: whether labels and split, where their columns are named, must be here.
    """
    like = like or Like()
    if isinstance(source, str | Path):
        path = Path(source)
        if is_array_file(path):
            found = array_file(path)
            ids = None if found.ids is None else as_ids(array_of(found.ids), f"ids in {path.name}")
            return _of_matrix(found.array, path.name, ids)
        if ending(path) == ".json":
            return _of_json(path, like.num_features)
    elif sp.issparse(source) or isinstance(source, np.ndarray | list | tuple):
        return _of_matrix(source, "the features", None)
    table = open_table(source, "features", named=columns.of_nodes)
    return _of_table(table, columns, like, labelled=labelled)


def _of_matrix(matrix: Any, name: str, ids: pa.ChunkedArray | None) -> NodeTable:
    try:
        matrix = matrix if sp.issparse(matrix) else np.asarray(matrix)
    except ValueError as error:
        raise UGCLError(f"{name} must be a table, a row for each node: {error}") from error
    if matrix.ndim != 2:
        raise UGCLError(f"{name} must be a table, a row for each node, not {matrix.shape}")
    rows, width = matrix.shape
    kind = "sparse" if sp.issparse(matrix) else "dense"
    words = "" if ids is not None else ", in the order of the nodes"
    note = f"{name}: {rows:,} rows of {width:,} {kind} features{words}"
    return NodeTable(name, rows, ids, matrix, notes=(note,))


def _of_json(path: Path, num_features: int | None) -> NodeTable:
    """A JSON object of id -> list of the features that a node has."""
    check_file(path)
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            lists = json.load(stream)
        if not isinstance(lists, dict) or not lists:
            raise ValueError("it is no object of id: list of feature indices")
        counts = np.array([len(indices) for indices in lists.values()])
        flat = np.array(list(chain.from_iterable(lists.values())))
        if flat.size and (flat.ndim != 1 or flat.dtype.kind != "i"):
            raise ValueError(f"feature indices must be whole numbers, not {flat.dtype}")
        if flat.size and flat.min() < 0:
            raise ValueError(f"feature indices must be at least 0, but one is {flat.min()}")
    except UNREADABLE as error:
        raise unreadable(path.name, error) from error
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
    note = f"{path.name}: {len(lists):,} rows of {width:,} features that a node has or has not"
    return NodeTable(path.name, len(lists), ids, features, notes=(note,))


def _of_table(table: Table, columns: Columns, like: Like, *, labelled: bool) -> NodeTable:
    key = _id_column(table, columns)
    for name in filter(None, (columns.label, columns.split) if labelled else ()):
        table.asked(name)
    label, split = table.chosen(columns.label, LABELS), table.chosen(columns.split, SPLITS)
    if key is not None and key in (label, split):
        raise UGCLError(f"the column '{key}' of {table.name} cannot be id and label at once")
    names = _feature_columns(table, columns, like, {key, label, split})
    about = about_nodes(table, [name for name in (key, label, split) if name is not None])
    blocks, expanded = _numbers(table, names, about.get(key))
    rows = len(blocks)
    words = f"{table.name}: {rows:,} rows of {blocks.shape[1]:,} features ({listed(names, 6)})"
    words += ", in the order of the nodes" if key is None else f", ids from '{key}'"
    words += f", labels from '{label}'" if label else ""
    words += f", split from '{split}'" if split else ""
    if table.numbering() not in (None, key):
        words += ", without the index that pandas wrote"
    return NodeTable(
        table.name,
        rows,
        None if key is None else as_ids(about[key], f"the column '{key}' of {table.name}"),
        blocks,
        expanded,
        about.get(label),
        about.get(split),
        (*table.notes, words),
    )


def _feature_columns(
    table: Table, columns: Columns, like: Like, taken: set[str | None]
) -> list[str]:
    """The columns of features: those that a trained model knows, or all that are nothing else."""
    if like.feature_names and set(like.feature_names) <= set(table.columns):
        return list(like.feature_names)
    taken = taken | {table.numbering(), *(table.asked(name) for name in columns.ignore)}
    names = [name for name in table.columns if name not in taken]
    if texts := [name for name in names if not table.is_number(name)]:
        raise UGCLError(
            f"{len(texts):,} column(s) of {table.name} hold no numbers ({listed(texts, 3)}): "
            "encode them as numbers (with a point before decimals), or leave them out with "
            "--ignore; --id, --label and --split-column name what is no feature"
        )
    if not names:
        raise UGCLError(f"{table.name} has no column of features besides {listed(taken)}")
    return names


def _id_column(table: Table, columns: Columns) -> str | None:
    """The column of ids: as named, by a common name, or a first one that can be nothing else."""
    if columns.id:
        return table.asked(columns.id)
    if (known := table.id_column("")) is not None:
        return known
    numbering = table.numbering()
    first = next((name for name in table.columns if name != numbering), None)
    if first is None or first in (columns.label, columns.split) or table.is_list(first):
        return numbering
    if not table.is_number(first):
        return first
    if table.is_whole(first):
        column = table.read((first,), text=True)[first]
        if len(column) > 1 and len(column.unique()) == len(column):
            return first
    return numbering


def _numbers(
    table: Table, names: list[str], ids: pa.ChunkedArray | None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """The columns of features as one array, lists spread over as many columns as they are long."""
    read = table.read(names)
    parts: list[npt.NDArray[Any]] = []
    expanded: list[str] = []
    for name in names:
        column = read[name]
        if missing := count_missing(column):
            first = int(np.argmax(np.asarray(column.is_null(nan_is_null=True))))
            whose = "" if ids is None else f" (node {ids[first]})"
            raise UGCLError(
                f"{missing:,} feature value(s) are missing in the column '{name}' of {table.name}, "
                f"the first in row {first + 1}{whose}: fill them in, for example by 0 or the "
                "column's mean"
            )
        if table.is_list(name):
            parts.append(_spread(column, name, table.name))
            expanded += [f"{name}_{i}" for i in range(parts[-1].shape[1])]
        else:
            parts.append(column.cast(pa.float32(), safe=False).to_numpy()[:, None])
            expanded.append(name)
    return np.concatenate(parts, axis=1), tuple(expanded)


def _spread(column: pa.ChunkedArray, name: str, table: str) -> npt.NDArray[np.float32]:
    lengths = pc.min_max(pc.list_value_length(column)).as_py()
    if lengths["min"] != lengths["max"]:
        raise UGCLError(
            f"the lists in the column '{name}' of {table} have between {lengths['min']} and "
            f"{lengths['max']} entries: give all nodes the same number of features"
        )
    flat = pc.list_flatten(column).cast(pa.float32(), safe=False)
    return np.asarray(flat.to_numpy()).reshape(len(column), -1)
