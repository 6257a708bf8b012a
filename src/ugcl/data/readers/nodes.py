"""`NodeTable`: ids, features, labels and split of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.ids import as_ids
from ugcl.data.readers.tables import Table
from ugcl.typing import Features


@dataclass(frozen=True)
class ExpectedFeatures:
    """Features that a trained model expects of a graph.

    Attributes:
        num_features: number of columns, for features given as lists of indices.
        feature_names: names of the columns; those of structural features contain their settings.
    """

    num_features: int | None = None
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class NodeTable:
    """Table with one row for each node.

    Attributes:
        name: name of the table for messages.
        rows: number of rows.
        ids: id of each row; None if the rows are nodes 0, 1, 2, ...
        features: N x D, dense or SciPy sparse; or None.
        feature_names: names of the D columns; or None.
        labels: class of each row before encoding, null if unknown; or None.
        split: part of each row, null for none; or None.
        notes: descriptions of how the table was read.
        partial: whether nodes that it does not have are nodes without features.
    """

    name: str
    rows: int
    ids: pa.ChunkedArray | None = None
    features: Features | None = None
    feature_names: tuple[str, ...] | None = None
    labels: pa.ChunkedArray | None = None
    split: pa.ChunkedArray | None = None
    notes: tuple[str, ...] = ()
    partial: bool = False

    def with_ids(self, ids: pa.ChunkedArray) -> NodeTable:
        """Return a copy with ids."""
        if self.ids is not None:
            raise UGCLError(f"{self.name} already has ids: leave out `ids`")
        if len(ids) != self.rows:
            raise UGCLError(
                f"there are {len(ids):,} ids for {self.rows:,} rows of {self.name}: give one each"
            )
        notes = tuple(note.replace(", in the order of the nodes", "") for note in self.notes)
        return replace(self, ids=ids, notes=(*notes, f"{self.name}: ids are read separately"))

    @classmethod
    def from_pyg(cls, args: Mapping[str, Any], rows: int) -> NodeTable:
        """Take features, labels and split of `pyg_graph_args`."""
        labels, split = args["labels"], np.full(rows, None, dtype=object)
        for part, mask in args["splits"].items():
            split[mask] = part
        return cls(
            "the PyTorch Geometric graph",
            rows,
            pa.chunked_array([np.arange(rows)]),
            args["features"],
            labels=None if labels is None else pa.chunked_array([labels]),
            split=pa.chunked_array([pa.array(split, pa.string())]) if any(split) else None,
        )

    @classmethod
    def from_attributes(
        cls, nodes: Sequence[tuple[Any, Mapping[Any, Any]]], columns: Columns, name: str
    ) -> NodeTable:
        """Take the attributes of the nodes of a graph; those that are numbers are features."""
        names = list(dict.fromkeys(chain.from_iterable(values for _, values in nodes)))
        values = {key: [attributes.get(key) for _, attributes in nodes] for key in names}
        id, label, split = roles = [
            column if column in names else None
            for column in (columns.id, columns.label, columns.split)
        ]
        numeric = [
            key
            for key in names
            if key not in (*roles, *columns.ignore)
            and all(isinstance(value, Real) for value in values[key])
        ]
        unused = [str(key) for key in names if key not in (*numeric, *roles)]
        feature_names = tuple(map(str, numeric))
        notes = []
        if numeric:
            listed = quoted(feature_names, 6)
            notes.append(f"{name}: numeric node attributes are the features ({listed})")
        if unused:
            notes.append(f"{name}: node attributes that are not used: {quoted(unused, 5)}")
        if id:
            notes.append(f"{name}: ids from the node attribute '{id}'")
        features = np.array([values[key] for key in numeric], dtype=np.float64).T
        return cls(
            name,
            len(nodes),
            as_ids(
                _to_arrow(values[id] if id else [key for key, _ in nodes]), f"the nodes of {name}"
            ),
            features if numeric else None,
            feature_names or None,
            _to_arrow(values[label]) if label else None,
            _to_arrow(values[split]) if split else None,
            tuple(notes),
        )


def _to_arrow(values: list[Any]) -> pa.ChunkedArray:
    """Convert values to integers if all are, else to text; NaN is missing."""
    values = [None if value is None or value != value else value for value in values]
    if all(value is None or _is_int64(value) for value in values):
        return pa.chunked_array([pa.array(values, pa.int64())])
    texts = [None if value is None else str(value) for value in values]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _is_int64(value: Any) -> bool:
    integer = isinstance(value, Integral) and not isinstance(value, bool)
    return integer and abs(value) < 2**63


def read_node_columns(
    table: Table, names: Iterable[str | None]
) -> dict[str | None, pa.ChunkedArray]:
    """Read the columns that are not None, as text if the file is text."""
    columns = [name for name in names if name is not None]
    values = table.read(columns, text=True) if columns else {}
    return {name: values[name] for name in columns}


def quoted(names: Iterable[str | None], max_names: int = 10) -> str:
    """Return names in quotes, the first ones if there are many."""
    texts = [f"'{name}'" for name in names if name is not None]
    return ", ".join(texts[:max_names]) + ", ..." * (len(texts) > max_names)
