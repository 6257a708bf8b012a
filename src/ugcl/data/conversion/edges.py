"""Edges of a conversion: from files to a table of ids, and to pairs of node numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError
from ugcl.data.conversion.database import Database
from ugcl.data.conversion.ids import IdColumn, ModeError, id_batches
from ugcl.data.conversion.stages import Progress
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.edges import (
    check_weight_column,
    edge_columns,
    edges_note,
    files_without_header,
    header_error,
    missing_weights,
    no_common_id,
)
from ugcl.data.readers.tables import Table, count_missing

EDGES = "edges"
"""The table of edges: ids s and t, and where there are weights, w and the row r."""

Test = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.bool_]]

BAD: tuple[tuple[str, Test], ...] = (
    ("NaN or infinite", lambda values: ~np.isfinite(values)),
    ("negative", lambda v: v < 0),
)


@dataclass
class EdgeFacts:
    """What is known of the edges once they are read.

    Attributes:
        used: columns of source, target and weight.
        rows: number of edges.
        text: whether the sources and the targets are text.
        low, high: smallest and largest integer id; low is above high without one.
        first: ids of the first edge.
        bad: of NaN, infinite and negative weights: how many there are, the first row, its weight.
    """

    used: tuple[str, str, str | None]
    rows: int
    text: tuple[bool, bool]
    low: int
    high: int
    first: tuple[Any, Any]
    bad: list[tuple[int, int, float]]

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return the facts that a stage has stored."""
        pairs = {name: tuple(stored[name]) for name in ("used", "text", "first")}
        return cls(**{**stored, **pairs})

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return self.used[2] is not None


def read_edges(
    db: Database, table: Table, columns: Columns, progress: Progress, total: int
) -> dict[str, Any]:
    """Copy the ids and weights of edges into the database, and return their `EdgeFacts`."""
    used = edge_columns(table, columns)
    if used[2] is not None:
        check_weight_column(table, used[2])
    ids = [IdColumn(table, name) for name in used[:2]]
    weights = _Weights(table, used[2])
    while True:
        schema = pa.schema([("s", ids[0].type), ("t", ids[1].type), *weights.fields])
        try:
            db.fill(EDGES, schema, _rows(table, ids, weights, schema, progress, total))
            break
        except ModeError:
            continue
    weights.finish()
    types = [column.type for column in ids]
    numbers = [column for column in ids if column.type == pa.int64()]
    facts = EdgeFacts(
        used,
        ids[0].rows,
        (types[0] != pa.int64(), types[1] != pa.int64()),
        min((column.low for column in numbers), default=0),
        max((column.high for column in numbers), default=-1),
        (ids[0].first, ids[1].first),
        weights.bad,
    )
    return asdict(facts)


def _rows(
    table: Table,
    ids: list[IdColumn],
    weights: _Weights,
    schema: pa.Schema,
    progress: Progress,
    total: int,
) -> Iterator[pa.RecordBatch]:
    weights.restart()
    for ends, _ in id_batches(table, ids):
        arrays = [*ends, *weights.take(len(ends[0]))]
        progress("reading edges", ids[0].rows, total)
        yield pa.record_batch(arrays, schema=schema)


class _Weights:
    """Reads the weights of edges in step with their ids, as they need other options."""

    def __init__(self, table: Table, name: str | None) -> None:
        self.table, self.name = table, name
        self.fields = [] if name is None else [("w", pa.float64()), ("r", pa.int64())]
        self.restart()

    def restart(self) -> None:
        self.rows = self.missing = 0
        self.bad: list[tuple[int, int, float]] = [(0, -1, 0.0)] * len(BAD)
        self.left = np.empty(0)
        if self.name is not None:
            assert self.table.batches is not None
            self.batches = self.table.batches([self.name], False)

    def take(self, count: int) -> list[pa.Array]:
        """Return the next weights and their rows; nothing where there are no weights."""
        if self.name is None:
            return []
        parts, size = [self.left], self.left.size
        while size < count:
            batch = next(self.batches)
            column = batch[self.name]
            self.missing += count_missing(pa.chunked_array([column]))
            values = column.to_numpy(zero_copy_only=False)
            parts.append(
                np.asarray(pc.fill_null(column, 0) if column.null_count else values, float)
            )
            size += len(column)
        values = np.concatenate(parts)
        values, self.left = values[:count], values[count:]
        for i, (_, is_bad) in enumerate(BAD):
            if (bad := is_bad(values)).any():
                number, row, weight = self.bad[i]
                if not number:
                    row = self.rows + int(bad.argmax())
                    weight = float(values[bad.argmax()])
                self.bad[i] = number + int(bad.sum()), row, weight
        rows = np.arange(self.rows, self.rows + count)
        self.rows += count
        return [pa.array(values), pa.array(rows)]

    def finish(self) -> None:
        """Refuse missing weights."""
        if self.name is not None and self.missing:
            raise missing_weights(self.table, self.name, self.missing)


def check_weights(facts: EdgeFacts) -> None:
    """Refuse weights that are NaN, infinite or negative."""
    for (what, _), (number, row, weight) in zip(BAD, facts.bad, strict=True):
        if number:
            raise UGCLError(
                f"{number:,} edge weight(s) are {what}, the first being edge {row} "
                f"({np.float64(weight)}): correct or remove these edges"
            )


def notes_of(
    db: Database, table: Table, columns: Columns, facts: EdgeFacts, shared: bool
) -> list[str]:
    """Return the notes of how the edges were read.

    Args:
        db: the database with the edges.
        table: the table of edges.
        columns: names of columns.
        facts: of the edges.
        shared: whether any id is known to be a source and a target.
    """
    notes = [*table.notes]
    source, target, _ = facts.used
    s, t = (f"CAST({end} AS VARCHAR)" if any(facts.text) else end for end in "st")
    files = files_without_header(table, columns)
    if (
        files
        and any(facts.text)
        and facts.rows >= 3
        and _begins_with_header(db, s, t, facts, files)
    ):
        raise header_error(table, *(str(end) for end in facts.first))
    shared = shared or facts.rows == 0 or _share_ids(db, s, t)
    if not shared:
        notes.append(no_common_id(table, source, target, columns))
    notes.append(edges_note(table, facts.rows, facts.used))
    return notes


def _begins_with_header(
    db: Database, source: str, target: str, facts: EdgeFacts, files: int
) -> bool:
    """Return whether the ids of the first edge occur in no other edge, once in each file."""
    first, second = (str(end).replace("'", "''") for end in facts.first)
    if first == second:  # a self-loop
        return False
    cells = (
        f"(({source} IN ('{first}', '{second}'))::INT + ({target} IN ('{first}', '{second}'))::INT)"
    )
    edge = f"({source} = '{first}' AND {target} = '{second}')::INT"
    counts = f"SELECT coalesce(sum({cells}), 0), coalesce(sum({edge}), 0) FROM {EDGES}"
    ends, same = map(int, db.rows(counts)[0])
    return ends == 2 * same and same in (1, files)


def _share_ids(db: Database, source: str, target: str) -> bool:
    query = f"SELECT 1 FROM (SELECT {source} AS id FROM {EDGES}) a SEMI JOIN "
    query += f"(SELECT {target} AS id FROM {EDGES}) b ON a.id = b.id LIMIT 1"
    return bool(db.rows(query))


Pairs = Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], pa.RecordBatch]]
"""Sources, targets and the record batch that they come from."""
