"""Ids of a table, converted in batches exactly as `as_ids` converts a whole column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.ids import INTEGER, INTEGER_AS_FLOAT, as_ids
from ugcl.data.readers.tables import Table

MODES = ("integers", "rounded", "text")
"""Text is read as integers if all of it is; else as 7.0, 8.0, ... if all is; else it stays text."""

POWERS = np.array([10**i for i in range(1, 18)])

HEX = (b"x", b"X")
"""Bytes of hexadecimal numbers, which Arrow reads as integers."""

TEXT = pa.large_string()


class ModeError(Exception):
    """A batch shows that the ids must be read from the beginning in the next mode."""


class IdColumn:
    """Converts the ids of a column.

    Args:
        table: the table.
        name: of the column.

    Attributes:
        rows: number of ids so far.
        first: the first one.
        low, high: smallest and largest integer.
    """

    def __init__(self, table: Table, name: str) -> None:
        self.name, self.where = name, f"the column '{name}' of {table.name}"
        self.is_text, self.mode = table.is_text, 0
        if not table.is_text:
            kind = table.schema.field(name).type
            numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            self.mode = 0 if numbers else 2
            as_ids(pa.array([], kind), self.where)  # refuses types that cannot be ids
        self.restart()

    def restart(self) -> None:
        """Forget what was read."""
        self.rows, self.missing, self.first_missing = 0, 0, -1
        self.first: Any = None
        self.low, self.high = 2**63 - 1, -(2**63)

    @property
    def type(self) -> pa.DataType:
        """The type of the converted ids."""
        return TEXT if MODES[self.mode] == "text" else pa.int64()

    def convert(self, column: pa.Array) -> pa.Array:
        """Return the ids of a batch; those that are missing are null."""
        values = self._converted(column)
        if missing := values.null_count:
            if not self.missing:
                self.first_missing = self.rows + int(pc.index(pc.is_null(values), True).as_py())
            self.missing += missing
        if self.rows == 0 and len(values):
            self.first = values[0].as_py()
        self.rows += len(values)
        if len(values) > missing and self.type != TEXT:
            ends = pc.min_max(values).as_py()
            self.low, self.high = min(self.low, ends["min"]), max(self.high, ends["max"])
        return values

    def finish(self) -> None:
        """Check what can be checked in the end only."""
        if self.missing:
            raise UGCLError(
                f"{self.missing:,} row(s) of {self.where} have no id, the first being row "
                f"{self.first_missing + 1}: fill them in or remove them"
            )
        if self.is_text and self.rows == 0 and self.mode < 2:
            self.mode = 2  # as no text at all is read

    def _converted(self, column: pa.Array) -> pa.Array:
        if self.is_text:
            return self._from_text(column)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        if MODES[self.mode] == "text":
            return column.cast(pa.string()).cast(TEXT)
        present = column.drop_null()
        ids = as_ids(present, self.where)
        if ids.type != pa.int64():
            self._next(2)
        return column.cast(pa.int64())

    def _from_text(self, column: pa.Array) -> pa.Array:
        if MODES[self.mode] == "integers":
            integers = as_integers(column)
            if integers is None:
                self._next(1)
            return integers
        if MODES[self.mode] == "rounded":
            matches = pc.match_substring_regex(column, INTEGER_AS_FLOAT)
            if pc.all(matches).as_py() is False:
                self._next(2)
            return column.cast(pa.float64()).cast(pa.int64())
        return column.cast(TEXT)

    def _next(self, mode: int) -> None:
        self.mode = mode
        raise ModeError


def as_integers(texts: pa.Array) -> pa.Array | None:
    """Return text as integers; None if any is written otherwise, as 007, 1e3 or 0x10.

    The same as the regular expression `INTEGER`, and several times as fast.
    """
    try:
        values = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    present = values.drop_null().to_numpy()
    lengths = pc.binary_length(texts).drop_null().to_numpy()
    magnitudes = np.abs(present)
    digits = 1 + np.searchsorted(POWERS, magnitudes, side="right")
    if (lengths != digits + (present < 0)).any() or (magnitudes >= 10**18).any():
        return None
    data = texts.buffers()[2]
    if data is not None and any(mark in data.to_pybytes() for mark in HEX):
        return values if pc.all(pc.match_substring_regex(texts, INTEGER)).as_py() else None
    return values


def id_batches(
    table: Table, columns: list[IdColumn], others: list[str] | None = None
) -> Iterator[tuple[list[pa.Array], list[pa.Array]]]:
    """Yield the ids of batches of rows, and other columns of them as unparsed text.

    Args:
        table: a table with `batches`.
        columns: the columns of ids, which are restarted.
        others: names of other columns.
    """
    assert table.batches is not None
    for column in columns:
        column.restart()
    names = list(dict.fromkeys([*(column.name for column in columns), *(others or [])]))
    for batch in table.batches(names, True):
        yield (
            [column.convert(batch[column.name]) for column in columns],
            [batch[name] for name in others or []],
        )
    for column in columns:
        column.finish()
