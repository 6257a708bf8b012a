"""What is known of nodes: ids, features, labels, split."""

from __future__ import annotations

from collections.abc import Iterable
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
from ugcl.graph.validation import SPLIT_PARTS


@dataclass(frozen=True)
class Like:
    """What the features of a graph are to be like that a trained model is to embed.

    Attributes:
        num_features: how many columns features have that are given as lists of indices.
        feature_names: the names of the columns; they tell how structural features were made.
    """

    num_features: int | None = None
    feature_names: tuple[str, ...] | None = None


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
        notes = tuple(note.replace(", in the order of the nodes", "") for note in self.notes)
        return replace(self, ids=ids, notes=(*notes, f"{self.name}: ids are given beside it"))

    @classmethod
    def of_pyg(cls, data: Any) -> NodeTable:
        """`x`, `y` and the masks of a PyTorch Geometric `Data`."""
        name, count = "the PyTorch Geometric graph", int(data.num_nodes)
        labels = getattr(data, "y", None)
        if labels is not None:
            labels = labels.detach().cpu().reshape(-1).numpy()
            if len(labels) != count:
                raise UGCLError(
                    f"{name} has {count:,} nodes but {len(labels):,} labels in y: give one each"
                )
            labels = pa.chunked_array([labels])
        split = np.full(count, None, dtype=object)
        for part in SPLIT_PARTS:
            if (mask := getattr(data, f"{part}_mask", None)) is None:
                continue
            chosen = mask.detach().cpu().numpy()
            if chosen.shape != (count,) or any(given is not None for given in split[chosen]):
                raise UGCLError(
                    f"{part}_mask of {name} must be a truth value for each node that no other mask "
                    "has: choose one split"
                )
            split[chosen] = part
        known = any(part is not None for part in split)
        return cls(
            name,
            count,
            pa.chunked_array([pa.array(np.arange(count))]),
            None if data.x is None else data.x.detach().cpu().float().numpy(),
            labels=labels,
            split=pa.chunked_array([pa.array(split, pa.string())]) if known else None,
        )

    @classmethod
    def of_network(cls, network: Any, columns: Columns, name: str) -> NodeTable:
        """The attributes of a NetworkX graph's nodes: numbers are features, text is not."""
        attributes = dict(network.nodes(data=True))
        names = list(dict.fromkeys(chain.from_iterable(attributes.values())))
        values = {
            attribute: [known.get(attribute) for known in attributes.values()]
            for attribute in names
        }
        key, label, split = (
            asked if asked in names else None
            for asked in (columns.id, columns.label, columns.split)
        )
        taken = (key, label, split)
        numeric = [
            attribute
            for attribute in names
            if attribute not in (*taken, *columns.ignore)
            and all(isinstance(value, Real) for value in values[attribute])
        ]
        left = [str(attribute) for attribute in names if attribute not in (*numeric, *taken)]
        notes = []
        if numeric:
            shown = listed(map(str, numeric), 6)
            notes.append(f"{name}: numeric node attributes are the features ({shown})")
        if left:
            notes.append(f"{name}: node attributes that are not used: {listed(left, 5)}")
        if key:
            notes.append(f"{name}: ids from the node attribute '{key}'")
        features = np.array([values[attribute] for attribute in numeric], dtype=np.float64).T
        return cls(
            name,
            len(attributes),
            as_ids(_values(values[key] if key else list(attributes)), f"the nodes of {name}"),
            features if numeric else None,
            tuple(str(attribute) for attribute in numeric) or None,
            _values(values[label]) if label else None,
            _values(values[split]) if split else None,
            tuple(notes),
        )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _values(values: list[Any]) -> pa.ChunkedArray:
    """Attributes as whole numbers if all are, else as text; NaN is missing."""
    known = [None if value is None or value != value else value for value in values]
    if all(value is None or (_is_whole(value) and abs(value) < 2**63) for value in known):
        return pa.chunked_array([pa.array(known, pa.int64())])
    texts = [None if value is None else str(value) for value in known]
    return pa.chunked_array([pa.array(texts, pa.string())])


def about_nodes(table: Table, names: list[str]) -> dict[str | None, pa.ChunkedArray]:
    """What a table says of nodes besides features, as text where the file is text."""
    read = table.read(names, text=True) if names else {}
    return {name: read[name] for name in names}


def listed(names: Iterable[str | None], most: int = 10) -> str:
    """Names in quotes, the first ones if there are many."""
    quoted = [f"'{name}'" for name in names if name is not None]
    return ", ".join(quoted[:most]) + (", ..." if len(quoted) > most else "")
