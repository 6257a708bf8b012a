"""Numbers of nodes: from ids to positions, by a table of integers or by joins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ugcl.data.conversion.database import ROWS, Database
from ugcl.data.conversion.edges import EDGES, EdgeFacts, Pairs
from ugcl.graph.folder import mapped

NODES = "nodes"
"""The table of nodes: their id and number, unless a `Lookup` has them."""

NUMBERED = "numbered"
"""The table of edges with numbers of nodes s and t in place of ids, -1 where there is no node."""

BYTES_PER_ID = 6
"""Of the table of integers, and of the flags of sources and targets."""

Ints = npt.NDArray[np.int64]


class Lookup:
    """Positions of integer ids in a table of all integers from the smallest to the largest."""

    def __init__(self, low: int, table: npt.NDArray[np.int32]) -> None:
        self.low, self.table = low, table

    def __call__(self, ids: Ints) -> Ints:
        """Return the node of each id, -1 where there is none."""
        high = self.low + self.table.size - 1
        inside = (ids >= self.low) & (ids <= high)
        if inside.all():
            return self.table[ids - self.low].astype(np.int64)
        nodes = np.full(ids.size, -1)
        nodes[inside] = self.table[ids[inside] - self.low]
        return nodes


def column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """Return a column of numbers without missing values."""
    values: npt.NDArray[Any] = batch[name].to_numpy(zero_copy_only=False)
    return values


def mark_ends(db: Database, low: int, count: int) -> tuple[npt.NDArray[np.bool_], ...]:
    """Return for each integer whether it is a source, and a target."""
    marks = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for batch in db.batches(f"SELECT s, t FROM {EDGES}"):
        for mark, name in zip(marks, "st", strict=True):
            mark[column(batch, name) - low] = True
    return marks


def table_of_present(file: Path, low: int, present: npt.NDArray[np.bool_]) -> Lookup:
    """Number the integers that are present in ascending order."""
    with_table = np.lib.format.open_memmap(file, "w+", np.int32, present.shape)
    last = 0
    for start in range(0, present.size, ROWS):
        part = present[start : start + ROWS]
        numbers = np.cumsum(part) + (last - 1)
        with_table[start : start + ROWS] = np.where(part, numbers, -1)
        last = int(numbers[-1]) + 1
    with_table.flush()
    return Lookup(low, with_table)


def table_of_rows(file: Path, low: int, count: int, ids: Iterator[Ints]) -> tuple[Lookup, int]:
    """Number integers by their row; also return how many distinct ones there are."""
    table = np.lib.format.open_memmap(file, "w+", np.int32, (count,))
    table[:] = -1
    row = 0
    for part in ids:
        table[part - low] = np.arange(row, row + part.size)
        row += part.size
    table.flush()
    present = sum(int((table[i : i + ROWS] >= 0).sum()) for i in range(0, count, ROWS))
    return Lookup(low, table), present


def stored_table(file: Path, low: int) -> Lookup:
    """Open a table that was written before."""
    return Lookup(low, mapped(file))


def write_id_file(path: Path, text: bool, parts: Iterator[pa.Array]) -> int:
    """Write ids as Parquet, in pieces; return how many."""
    schema = pa.schema([("id", pa.string() if text else pa.int64())])
    rows, left = 0, []
    size = 2**20  # rows of a row group, as by default
    with pq.ParquetWriter(path, schema) as writer:
        for part in parts:
            rows += len(part)
            left.append(part.cast(schema.field(0).type))
            while sum(map(len, left)) >= size:
                whole = pa.chunked_array(left).combine_chunks()
                writer.write_table(pa.table([whole[:size]], schema=schema), size)
                left = [whole[size:]]
        if sum(map(len, left)) or rows == 0:
            writer.write_table(
                pa.table([pa.chunked_array(left, schema.field(0).type)], schema=schema)
            )
    return rows


def join_edges(db: Database, facts: EdgeFacts, text: bool) -> None:
    """Make the table of edges with numbers of nodes, by joins."""
    s, t = (f"CAST(e.{end} AS VARCHAR)" if text else f"e.{end}" for end in "st")
    extra = ", e.w, e.r" if facts.weighted else ""
    db.run(
        f"CREATE OR REPLACE TABLE {NUMBERED} AS SELECT coalesce(a.node, -1) AS s, "
        f"coalesce(b.node, -1) AS t{extra} FROM {EDGES} e "
        f"LEFT JOIN {NODES} a ON {s} = a.id LEFT JOIN {NODES} b ON {t} = b.id"
    )


def pairs_of(db: Database, facts: EdgeFacts, lookup: Callable[[Ints], Ints] | None) -> Pairs:
    """Yield the numbers of sources and targets, in any order of the edges."""
    extra = ", w, r" if facts.weighted else ""
    table = NUMBERED if lookup is None else EDGES
    for batch in db.batches(f"SELECT s, t{extra} FROM {table}"):
        s, t = (column(batch, name) for name in "st")
        yield (s, t, batch) if lookup is None else (lookup(s), lookup(t), batch)
