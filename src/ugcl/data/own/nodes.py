"""What is known of nodes: ids, features, labels, split."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ugcl.data.own.columns import Columns
from ugcl.data.own.ids import as_ids
from ugcl.data.own.tables import Table
from ugcl.errors import UGCLError
from ugcl.validation import SPLIT_PARTS


@dataclass(frozen=True)
class NodeTable:
    """A row for each node.

    Attributes:
        name: what messages call it.
        rows: how many.
        ids: the id of each row; None where rows are nodes 0, 1, 2, ...
        features: N x D, dense or SciPy sparse; None where there are none.
        feature_names: of the columns; None where they have none.
        labels: the class of each row as it was given, null where not known; or None.
        split: the part of each row, null for none; or None.
        notes: what a user may want to know about how it was read.
    """

    name: str
    rows: int
    ids: pa.ChunkedArray | None = None
    features: Any = None
    feature_names: tuple[str, ...] | None = None
    labels: pa.ChunkedArray | None = None
    split: pa.ChunkedArray | None = None
    notes: tuple[str, ...] = ()

    def named(self, ids: pa.ChunkedArray) -> NodeTable:
        """The same with these ids for its rows."""
        if self.ids is not None:
            raise UGCLError(f"{self.name} has ids of its own: leave out --ids")
        if len(ids) != self.rows:
            raise UGCLError(
                f"there are {len(ids):,} ids for {self.rows:,} rows of {self.name}: give one each"
            )
        return replace(self, ids=ids)

    @classmethod
    def of_pyg(cls, data: Any) -> NodeTable:
        """`x`, `y` and the masks of a PyTorch Geometric `Data`."""
        labels = getattr(data, "y", None)
        split = np.full(int(data.num_nodes), None, dtype=object)
        for part in SPLIT_PARTS:
            if (mask := getattr(data, f"{part}_mask", None)) is not None:
                split[mask.cpu().numpy()] = part
        masks = any(part is not None for part in split)
        return cls(
            "the PyTorch Geometric graph",
            int(data.num_nodes),
            features=None if data.x is None else data.x.cpu().numpy(),
            labels=None if labels is None else pa.chunked_array([labels.cpu().numpy()]),
            split=pa.chunked_array([pa.array(split, pa.string())]) if masks else None,
        )

    @classmethod
    def of_network(cls, network: Any, columns: Columns, name: str) -> NodeTable:
        """The attributes of a NetworkX graph's nodes: numbers are features, text is not."""
        nodes = list(network.nodes)
        whole = all(isinstance(node, int) and not isinstance(node, bool) for node in nodes)
        ids = pa.chunked_array([pa.array(nodes if whole else [str(node) for node in nodes])])
        names = list(
            dict.fromkeys(chain.from_iterable(data for _, data in network.nodes(data=True)))
        )
        label, split = (
            asked if asked in names else None for asked in (columns.label, columns.split)
        )
        if label and columns.split and not split:
            raise UGCLError(f"no node of {name} has the attribute '{columns.split}'")
        values = {key: [data.get(key) for _, data in network.nodes(data=True)] for key in names}
        numeric = [
            key
            for key in names
            if key not in (label, split, *columns.ignore)
            and all(isinstance(value, int | float) for value in values[key])
        ]
        left = [key for key in names if key not in (*numeric, label, split)]
        notes = []
        if numeric:
            notes.append(f"{name}: {len(numeric):,} numeric node attribute(s) are the features")
        if left:
            notes.append(f"{name}: node attributes that are not used: {', '.join(left[:5])}")
        return cls(
            name,
            len(nodes),
            as_ids(ids, name),
            np.array([values[key] for key in numeric], dtype=np.float64).T if numeric else None,
            tuple(numeric) or None,
            _texts(values[label]) if label else None,
            _texts(values[split]) if split else None,
            tuple(notes),
        )


def _texts(values: list[Any]) -> pa.ChunkedArray:
    return pa.chunked_array(
        [pa.array([None if value is None else str(value) for value in values], pa.string())]
    )


def about_nodes(table: Table, names: list[str]) -> dict[str | None, pa.ChunkedArray]:
    """What a table says of nodes besides features, as text where the file is text."""
    read = table.read(names, text=True) if names else {}
    return {name: read[name] for name in names}


def listed(names: Iterable[str | None], most: int = 10) -> str:
    """Names in quotes, the first ones if there are many."""
    quoted = [f"'{name}'" for name in names if name is not None]
    return ", ".join(quoted[:most]) + (", ..." if len(quoted) > most else "")
