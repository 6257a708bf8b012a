"""Tables as people have them: CSV, TSV, other text, Parquet, JSON lines, data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from ugcl.data.npz import UNREADABLE
from ugcl.data.own.columns import looks_like_header
from ugcl.errors import UGCLError
from ugcl.suggest import unknown

SAMPLE = 2**20
"""Bytes of a text file that its columns' names and types are told by."""

SEPARATORS = {
    ".csv": ",;\t|",
    ".tsv": "\t",
    ".txt": "\t,; ",
    ".edges": "\t,; ",
    ".edgelist": "\t,; ",
}
"""Endings of text files, and what may separate their columns, the likeliest first."""

JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
ENDINGS = (*SEPARATORS, *PARQUET, *JSON_LINES)
COMPRESSED = (".gz", ".bz2", ".zst")

Load = Callable[[list[str], bool], pa.Table]


@dataclass(frozen=True)
class Table:
    """A table that has been looked at, and whose columns are read when they are wanted.

    Attributes:
        name: what messages call it.
        schema: names and types of its columns, of text files as far as their beginning tells.
        load: reads columns; its second argument says whether as text, exactly as it stands there.
        notes: what a user may want to know about how it was read.
    """

    name: str
    schema: pa.Schema
    load: Load
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def called(self, names: Iterable[str]) -> str | None:
        """The column that has the first of these names that occurs, however it is capitalised."""
        known = {column.strip().lower(): column for column in reversed(self.columns)}
        return next((known[name] for name in names if name in known), None)

    def chosen(self, column: str, names: Iterable[str]) -> str | None:
        """The column that the user names, if it is here, else one that has a common name."""
        return column if column and column in self.columns else self.called(names)

    def asked(self, column: str) -> str:
        """The column of a name that the user gave."""
        if column in self.columns:
            return column
        raise UGCLError(unknown(f"column in {self.name}", column, self.columns, most=20))

    def read(self, columns: Collection[str], *, text: bool = False) -> pa.Table:
        """Read columns, in this order."""
        try:
            return self.load(list(columns), text).select(list(columns))
        except UGCLError:
            raise
        except UNREADABLE as error:
            raise unreadable(self.name, error) from error

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers (or truth values), or lists of them."""
        kind = self.schema.field(column).type
        if _is_list(kind):
            kind = kind.value_type
        checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
        return any(check(kind) for check in (*checks, pa.types.is_decimal))

    def is_list(self, column: str) -> bool:
        """Whether a column holds a list in each row."""
        return _is_list(self.schema.field(column).type)

    def is_whole(self, column: str) -> bool:
        """Whether a column holds whole numbers."""
        return bool(pa.types.is_integer(self.schema.field(column).type))


def open_table(source: Any, what: str, *, named: Collection[str] = ()) -> Table:
    """Look at a file or a data frame.

    Args:
        source: a path, or anything that speaks Arrow's C interface, as pandas and polars do.
        what: what it holds, for messages.
        named: columns that the user names: a first line that has them is a header.
    """
    if isinstance(source, str | Path):
        return _open_file(Path(source), named)
    table = _arrow(source, what)
    return Table(f"the {what}", table.schema, lambda columns, text: table)


def _arrow(frame: Any, what: str) -> pa.Table:
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UGCLError(f"the {what} cannot be read as a table: {error}") from error
    if any(pa.types.is_string_view(kind) for kind in table.schema.types):
        table = table.cast(
            pa.schema(
                (
                    entry.name,
                    pa.large_string() if pa.types.is_string_view(entry.type) else entry.type,
                )
                for entry in table.schema
            )
        )
    return table


def ending(path: Path) -> str:
    """The ending that tells a file's format, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_file(path: Path) -> None:
    """Refuse a file that is not there."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise UGCLError(f"the file {path} {what}: check the path")


def unreadable(name: str, error: Exception) -> UGCLError:
    """The error of a file that is damaged or something else than its ending says."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return UGCLError(
        f"{name} cannot be read ({reason}): check that it is whole and what its ending says"
    )


def _open_file(path: Path, named: Collection[str]) -> Table:
    check_file(path)
    kind = ending(path)
    if kind not in ENDINGS:
        raise UGCLError(
            f"{path.name} ends in nothing that tells its format: give a file that ends in "
            f"{', '.join(ENDINGS)}, with or without .gz"
        )
    try:
        if kind in PARQUET:
            return Table(
                path.name,
                pq.read_schema(path),
                lambda columns, text: pq.read_table(path, columns=columns),
            )
        if kind in JSON_LINES:
            with pa.input_stream(str(path), compression="detect") as stream:
                table = pa.json.read_json(stream)
            return Table(path.name, table.schema, lambda columns, text: table)
        return _open_text(path, SEPARATORS[kind], named)
    except UGCLError:
        raise
    except UNREADABLE as error:
        raise unreadable(path.name, error) from error


def _open_text(path: Path, separators: str, named: Collection[str]) -> Table:
    with pa.input_stream(str(path), compression="detect") as stream:
        start = stream.read(SAMPLE)
    lines = start.decode("utf-8-sig", errors="replace").splitlines()
    skipped = next((i for i, line in enumerate(lines) if line[:1] not in ("#", "%")), len(lines))
    lines = [line for line in lines[skipped:] if line.strip()]
    if not lines:
        raise UGCLError(f"{path.name} is empty: give a file with at least one row")
    separator = next((mark for mark in separators if mark in lines[0]), separators[0])
    rows = list(csv.reader(io.StringIO("\n".join(lines[:2])), delimiter=separator))
    first, second = rows[0], rows[1] if len(rows) > 1 else None
    header = set(named) <= set(first) if named else False
    header = header or looks_like_header(first, second)
    notes = () if header else (f"{path.name} has no header: columns are called 0, 1, 2, ...",)
    names = first if header else [str(i) for i in range(len(first))]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UGCLError(f"{path.name} has two columns called '{twice}': rename one of them")

    def parsed(stream: Any, convert: pyarrow.csv.ConvertOptions) -> pa.Table:
        return pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                skip_rows=skipped + header, column_names=names, block_size=2**23
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
            convert_options=convert,
        )

    whole = start if len(start) < SAMPLE else start[: start.rfind(b"\n") + 1]
    if header and len(lines) == 1:
        schema = pa.schema([(name, pa.null()) for name in names])
    else:
        schema = parsed(io.BytesIO(whole), pyarrow.csv.ConvertOptions()).schema

    def load(columns: list[str], text: bool) -> pa.Table:
        if header and len(lines) == 1:
            return schema.empty_table()
        types = {
            column: pa.dictionary(pa.int32(), pa.string()) if text else pa.float32()
            for column in columns
            if text or not pa.types.is_boolean(schema.field(column).type)
        }
        options = {"null_values": [""], "strings_can_be_null": True} if text else {}
        convert = pyarrow.csv.ConvertOptions(column_types=types, include_columns=columns, **options)
        with pa.input_stream(str(path), compression="detect") as stream:
            return parsed(stream, convert)

    return Table(path.name, schema, load, notes)


def _is_list(kind: pa.DataType) -> bool:
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in checks)


def count_missing(column: pa.ChunkedArray) -> int:
    """How many entries are null or NaN."""
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += pc.sum(pc.is_nan(column)).as_py() or 0
    return int(missing)
