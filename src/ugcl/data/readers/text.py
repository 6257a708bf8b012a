"""Text tables: CSV, TSV and edge lists as written by SNAP, KONECT and NetworkX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.columns import looks_like_header
from ugcl.data.readers.limits import check_columns
from ugcl.data.readers.streams import MAX_LINE, check_is_text, open_utf8, with_tabs

SAMPLE = 2**20
"""Bytes from which names and types of columns are inferred."""

LINES = 100
"""Lines from which the separator and the header are inferred."""

SEPARATORS = {
    ".csv": ",;\t|",
    ".tsv": "\t",
    ".txt": "\t,; ",
    ".edges": " \t,;",
    ".edgelist": " \t,;",
}
"""Extensions and their possible separators, the likeliest first."""

ALIGNED = "  "
"""Stands for any number of spaces and tabs as separator."""

COMMENTS = ("#", "%")

ALIGNING = re.compile(r"^[ \t]|[ \t]$| [ \t]|\t ")
"""White space that is no separator of one character."""

TEXT_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class TextTable:
    """Schema of a text file, the functions that read its columns, and notes for the user."""

    schema: pa.Schema
    load: Callable[[list[str], bool], pa.Table]
    notes: tuple[str, ...]
    batches: Callable[[list[str], bool], Iterator[pa.RecordBatch]]


def open_text(
    path: Path,
    separators: str,
    named: Collection[str],
    header: bool | None = None,
    *,
    edges: bool,
) -> TextTable:
    """Open a text file and infer separator, header and types.

    Args:
        path: the file, compressed or not.
        separators: possible separators.
        named: columns that the user gives; a first line that contains them is a header.
        header: whether the first line is one; None to guess.
        edges: whether it is a list of edges.
    """
    start, complete = _beginning(path)
    check_is_text(path.name, start)
    lines = re.split(r"\r\n|\n|\r", start.decode("utf-8-sig", errors="replace"))
    skipped = next((i for i, line in enumerate(lines) if _is_row(line)), len(lines))
    lines = [line for line in lines[skipped:] if line.strip()]
    if not lines:
        raise UGCLError(f"{path.name} is empty: give a file with at least one row")
    check_columns(path.name, max(map(lines[0].count, separators)) + 1)
    separator, rows = _split_lines(lines[:LINES], separators, edges=edges)
    first = [cell.strip() for cell in rows[0]]
    header_names = {name for name in named if not name.isdecimal()}
    if header is None:
        header = bool(header_names) and header_names <= set(first)
        header = header or looks_like_header([first, *rows[1:]], edges=edges)
    names = first if header else [str(i) for i in range(len(first))]
    shown = ", ".join(first[:4]) + ", ..." * (len(first) > 4)
    note = f"{path.name} has no header (it begins with {shown}): columns are named 0, 1, 2, ..."
    parse = pyarrow.csv.ParseOptions(
        delimiter="\t" if separator == ALIGNED else separator, newlines_in_values=b'"' in start
    )
    read = pyarrow.csv.ReadOptions(
        use_threads=not complete,
        skip_rows=skipped + header,
        column_names=names,
        block_size=max(2**23, 2 * len(start)),
    )

    def parse_csv(stream: Any, convert: pyarrow.csv.ConvertOptions) -> pa.Table:
        return pyarrow.csv.read_csv(stream, read, parse, convert)

    empty = header and complete and len(lines) == 1
    if empty:
        schema = pa.schema([(name, pa.null()) for name in names])
    else:
        full_lines = start if complete else start[: start.rfind(b"\n") + 1]
        full_lines = with_tabs(full_lines) if separator == ALIGNED else full_lines
        sample = pa.BufferReader(_in_arrow_memory(full_lines))
        schema = parse_csv(sample, pyarrow.csv.ConvertOptions()).schema

    def load(columns: list[str], text: bool) -> pa.Table:
        if empty:
            return schema.empty_table()
        convert = _as_text(columns) if text else _as_numbers(columns, schema)
        with open_utf8(path, aligned=separator == ALIGNED) as stream:
            table = parse_csv(stream, convert)
        return _trimmed(table) if text else table

    def batches(columns: list[str], text: bool) -> Iterator[pa.RecordBatch]:
        if empty:
            return
        convert = _as_text(columns, pa.string()) if text else _as_numbers(columns, schema)
        with (
            open_utf8(path, aligned=separator == ALIGNED) as stream,
            pyarrow.csv.open_csv(stream, read, parse, convert) as reader,
        ):
            yield from map(_trimmed_batch if text else lambda batch: batch, reader)

    return TextTable(schema, load, () if header else (note,), batches)


def _beginning(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes, with at least two lines, and whether they are the whole file."""
    with open_utf8(path) as stream:
        start: bytes = stream.read(SAMPLE)
        while start.count(b"\n") < 2 and (more := stream.read(SAMPLE)):
            start += more
            if len(start) > 2 * MAX_LINE:
                raise UGCLError(
                    f"{path.name} has lines of more than {MAX_LINE:,} bytes: check that each row "
                    "is a line, or save wide tables as .npy or .npz"
                )
        return start, not stream.read(1)


def _in_arrow_memory(data: bytes) -> pa.Buffer:
    """Copy bytes into memory that Arrow owns.

    Arrow's worker threads may release what they read after `read_csv` has returned. To release
    memory of Python they need its global lock, and abort the process while Python shuts down.
    """
    stream = pa.BufferOutputStream()
    stream.write(data)
    return stream.getvalue()


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(COMMENTS)


def _split_lines(lines: list[str], separators: str, *, edges: bool) -> tuple[str, list[list[str]]]:
    """Return the separator that gives all lines the same number of columns, and their cells.

    Spaces separate the columns of a `.csv` or `.tsv` file only where no other separator occurs, and
    they align columns or the columns are endpoints of edges.
    """
    rows_by_separator = {}
    spaces = any(ALIGNING.search(line) for line in lines)
    for separator in separators:
        if separator == " " and spaces and (cells := _aligned_cells(lines)):
            return ALIGNED, cells
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=separator))
        rows = rows_by_separator[separator] = [row for row in rows if row]
        if len(rows[0]) > 1 and len({len(row) for row in rows[:-1] or rows}) == 1:
            return separator, rows
    other = not any(mark in lines[0] for mark in separators)
    if other and (spaces or edges) and (cells := _aligned_cells(lines)):
        return ALIGNED, cells
    separator = next((mark for mark in separators if mark in lines[0]), separators[0])
    return separator, rows_by_separator[separator]


def _aligned_cells(lines: list[str]) -> list[list[str]] | None:
    """Return the cells between spaces and tabs, if all lines have the same number of them."""
    rows = [line.split() for line in lines]
    equal = len(rows[0]) > 1 and len({len(row) for row in rows[:-1] or rows}) == 1
    return rows if equal and not any('"' in line for line in lines) else None


def _as_text(columns: list[str], kind: pa.DataType = TEXT_DICTIONARY) -> pyarrow.csv.ConvertOptions:
    return pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(columns, kind),
        include_columns=columns,
        null_values=[""],
        strings_can_be_null=True,
    )


def _as_numbers(columns: list[str], schema: pa.Schema) -> pyarrow.csv.ConvertOptions:
    types = {
        name: pa.bool_() if pa.types.is_boolean(schema.field(name).type) else pa.float32()
        for name in columns
    }
    return pyarrow.csv.ConvertOptions(column_types=types, include_columns=columns)


def _trimmed(table: pa.Table) -> pa.Table:
    """Strip white space from text; empty text is missing."""
    for i, name in enumerate(table.column_names):
        column = table[name].unify_dictionaries()
        texts = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
        if not texts.equals(pc.utf8_trim_whitespace(texts)):
            text = pc.utf8_trim_whitespace(column.cast(pa.string()))
            text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
            table = table.set_column(i, name, text.dictionary_encode())
    return table


def _trimmed_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Strip white space from columns of text; empty text is missing."""
    for i, name in enumerate(batch.schema.names):
        texts = pc.utf8_trim_whitespace(batch[name])
        if not texts.equals(batch[name]):
            texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
            batch = batch.set_column(i, name, texts)
    return batch
