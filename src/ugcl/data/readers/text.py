"""Tables in text: CSV, TSV and lists of edges as SNAP, KONECT and NetworkX write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.columns import looks_like_header

SAMPLE = 2**20
"""Bytes of a file that its columns' names and types are told by."""

LINES = 100
"""Lines that the separator and the header are told by."""

SEPARATORS = {
    ".csv": ",;\t|",
    ".tsv": "\t",
    ".txt": "\t,; ",
    ".edges": " \t,;",
    ".edgelist": " \t,;",
}
"""Endings, and what may separate columns, the likeliest first."""

COMMENTS = ("#", "%")


@dataclass(frozen=True)
class TextTable:
    """Names and types of the columns, what reads them, and what a user may want to know."""

    schema: pa.Schema
    load: Callable[[list[str], bool], pa.Table]
    notes: tuple[str, ...]


def open_text(path: Path, separators: str, named: Collection[str], *, edges: bool) -> TextTable:
    """Look at a text file.

    Args:
        path: the file, compressed or not.
        separators: what may separate columns.
        named: columns that the user names: a first line that has them is a header.
        edges: whether it is a list of edges.
    """
    start, complete = _beginning(path)
    lines = re.split(r"\r\n|\n|\r", start.decode("utf-8-sig", errors="replace"))
    skipped = next((i for i, line in enumerate(lines) if _is_row(line)), len(lines))
    lines = [line for line in lines[skipped:] if line.strip()]
    if not lines:
        raise UGCLError(f"{path.name} is empty: give a file with at least one row")
    separator, rows = _separated(lines[:LINES], separators)
    first = [cell.strip() for cell in rows[0]]
    words = {name for name in named if not name.isdecimal()}
    header = bool(words) and words <= set(first)
    header = header or looks_like_header([first, *rows[1:]], edges=edges)
    names = first if header else [str(i) for i in range(len(first))]
    shown = ", ".join(first[:4]) + ", ..." * (len(first) > 4)
    note = f"{path.name} has no header (it begins with {shown}): columns are called 0, 1, 2, ..."
    parse = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in start)
    read = pyarrow.csv.ReadOptions(
        skip_rows=skipped + header, column_names=names, block_size=max(2**23, 2 * len(start))
    )

    def parsed(stream: Any, convert: pyarrow.csv.ConvertOptions) -> pa.Table:
        return pyarrow.csv.read_csv(stream, read, parse, convert)

    empty = header and complete and len(lines) == 1
    if empty:
        schema = pa.schema([(name, pa.null()) for name in names])
    else:
        whole = start if complete else start[: start.rfind(b"\n") + 1]
        schema = parsed(pa.BufferReader(whole), pyarrow.csv.ConvertOptions()).schema

    def load(columns: list[str], text: bool) -> pa.Table:
        if empty:
            return schema.empty_table()
        convert = _as_text(columns) if text else _as_numbers(columns, schema)
        with pa.input_stream(str(path), compression="detect") as stream:
            table = parsed(stream, convert)
        return _trimmed(table) if text else table

    return TextTable(schema, load, () if header else (note,))


def _beginning(path: Path) -> tuple[bytes, bool]:
    """The first bytes, with at least two lines; and whether that is all."""
    with pa.input_stream(str(path), compression="detect") as stream:
        start: bytes = stream.read(SAMPLE)
        while start.count(b"\n") < 2 and (more := stream.read(SAMPLE)):
            start += more
        return start, not stream.read(1)


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(COMMENTS)


def _separated(lines: list[str], separators: str) -> tuple[str, list[list[str]]]:
    """The separator that gives all lines the same number of columns, and their cells."""
    tried = {}
    for mark in separators:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=mark))
        rows = [row for row in rows if row]
        tried[mark] = rows
        if len(rows[0]) > 1 and len({len(row) for row in rows[:-1] or rows}) == 1:
            return mark, rows
    mark = next((mark for mark in separators if mark in lines[0]), separators[0])
    return mark, tried[mark]


def _as_text(columns: list[str]) -> pyarrow.csv.ConvertOptions:
    kind = pa.dictionary(pa.int32(), pa.string())
    return pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(columns, kind),
        include_columns=columns,
        null_values=[""],
        strings_can_be_null=True,
    )


def _as_numbers(columns: list[str], schema: pa.Schema) -> pyarrow.csv.ConvertOptions:
    truth = [name for name in columns if pa.types.is_boolean(schema.field(name).type)]
    types = {name: pa.bool_() if name in truth else pa.float32() for name in columns}
    return pyarrow.csv.ConvertOptions(column_types=types, include_columns=columns)


def _trimmed(table: pa.Table) -> pa.Table:
    """Text without the spaces around it; what is nothing else is missing."""
    for i, name in enumerate(table.column_names):
        column = table[name].unify_dictionaries()
        known = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
        if not known.equals(pc.utf8_trim_whitespace(known)):
            text = pc.utf8_trim_whitespace(column.cast(pa.string()))
            text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
            table = table.set_column(i, name, text.dictionary_encode())
    return table
