"""Tables: CSV, TSV and other text, Parquet, JSON lines and data frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl._utils.expansion import check_expansion
from ugcl._utils.files import READ_ERRORS
from ugcl._utils.suggest import unknown
from ugcl.data.readers.columns import IDS, INDEX_NAMES, is_id_name
from ugcl.data.readers.limits import (
    CELL,
    COMPRESSED,
    check_columns,
    check_compressed,
    check_json,
)
from ugcl.data.readers.paths import is_several, matching_files
from ugcl.data.readers.streams import open_stream
from ugcl.data.readers.text import SEPARATORS, open_text

JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
SMALL = 2**20
"""Bytes of a table that is read faster without threads."""

MAX_TEXT = 300
"""Characters of an error of a library."""

EXTENSIONS = (*SEPARATORS, *PARQUET, *JSON_LINES)

PARQUET_BATCH = 2**18
"""Rows of a record batch of Parquet files that are read in batches."""

Load = Callable[[list[str], bool], pa.Table]
Batches = Callable[[list[str], bool], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Table:
    """Table with a known schema whose columns are read on demand.

    Attributes:
        name: name of the table for messages.
        schema: names and types of its columns; for text files inferred from their beginning.
        load: function that reads columns; its second argument says whether as unparsed text.
        notes: descriptions of how the table was read.
        batches: like `load`, but a generator of record batches, in which unparsed text is not a
            dictionary; None where the table is in memory anyway.
        is_text: whether the cells are unparsed text.
    """

    name: str
    schema: pa.Schema
    load: Load
    notes: tuple[str, ...] = field(default=())
    batches: Batches | None = None
    is_text: bool = False

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns, those of a pandas index first."""
        index = [name for name in _pandas_index(self.schema) if name in self.schema.names]
        return [*index, *(name for name in self.schema.names if name not in index)]

    def find(self, names: Iterable[str]) -> str | None:
        """Return the column with the first of these names that occurs, ignoring case."""
        columns = {column.strip().lower(): column for column in reversed(self.columns)}
        return next((columns[name] for name in names if name in columns), None)

    def choose(self, column: str, names: Iterable[str]) -> str | None:
        """Return the given column if the table has it, else one with a common name."""
        return column if column and column in self.columns else self.find(names)

    def require(self, column: str) -> str:
        """Return the given column, or raise an error if the table does not have it."""
        if column in self.columns:
            return column
        message = unknown(f"column in {self.name}", column, self.columns, max_listed=20)
        raise UGCLError(" ".join([message, *(f"({note})" for note in self.notes)]))

    def read(self, columns: Collection[str], *, text: bool = False) -> pa.Table:
        """Read columns, in this order."""
        with reading(self.name):
            return self.load(list(columns), text).select(list(columns))

    def is_number(self, column: str) -> bool:
        """Return whether a column holds numbers, booleans, or lists of them."""
        kind = self.schema.field(column).type
        if _is_list(kind):
            kind = kind.value_type
        checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
        return any(check(kind) for check in (*checks, pa.types.is_decimal))

    def id_column(self, column: str) -> str | None:
        """Return the column of ids: as given, or named `id`, `node` or like `user_id`."""
        id_column = self.choose(column, IDS)
        if id_column is None:
            similar = [name for name in self.columns if is_id_name(name)]
            id_column = similar[0] if len(similar) == 1 else None
        return id_column

    def index_column(self) -> str | None:
        """Return the unnamed index of a pandas frame."""
        return self.find(INDEX_NAMES)

    def is_time(self, column: str) -> bool:
        """Return whether a column holds dates or times."""
        return bool(pa.types.is_temporal(self.schema.field(column).type))

    def is_list(self, column: str) -> bool:
        """Return whether a column holds lists."""
        return _is_list(self.schema.field(column).type)

    def is_integer(self, column: str) -> bool:
        """Return whether a column holds integers."""
        return bool(pa.types.is_integer(self.schema.field(column).type))


def open_table(
    source: Any, what: str, *, named: Collection[str] = (), header: bool | None = None
) -> Table:
    """Open a file or a data frame.

    Args:
        source: a path; several, as `matching_files` takes them; or an object with Arrow's C
            interface, such as pandas and polars frames.
        what: its content, for messages: "edges", "features", "labels" or "ids".
        named: columns that the user gives; a first line that contains them is a header.
        header: whether the first line of text files is a header; None to guess.
    """
    edges = what == "edges"
    if is_several(source):
        from ugcl.data.readers.several import one_table  # imports this module

        files = matching_files(source)
        return one_table(source, [_open_file(file, named, header, edges=edges) for file in files])
    if isinstance(source, str | Path):
        return _open_file(Path(source), named, header, edges=edges)
    if type(source).__name__ == "LazyFrame":
        source = source.collect()
    try:
        table = _plain(_with_index(pa.table(source)))
    except (*READ_ERRORS, pa.ArrowException) as error:
        raise UGCLError(f"the {what} cannot be read as a table: {error_text(error)}") from error
    return _checked(Table(f"the {what}", table.schema, lambda columns, text: table))


def _with_index(table: pa.Table) -> pa.Table:
    """Append the index of a pandas frame as a column if it is a range other than 0, 1, 2, ..."""
    for entry in _pandas_metadata(table.schema):
        if isinstance(entry, dict) and (entry.get("start"), entry.get("step")) != (0, 1):
            index = range(entry["start"], entry["stop"], entry["step"])
            return table.append_column(entry.get("name") or INDEX_NAMES[-1], pa.array(index))
    return table


def _pandas_metadata(schema: pa.Schema) -> list[Any]:
    """Return what pandas stored about its index: names of columns, or a range."""
    try:
        return list(json.loads((schema.metadata or {})[b"pandas"])["index_columns"])
    except (KeyError, TypeError, ValueError):
        return []


def _pandas_index(schema: pa.Schema) -> list[str]:
    """Return the columns of a pandas index with names."""
    entries = _pandas_metadata(schema)
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in entries]
    return [name for name in names if isinstance(name, str) and name not in INDEX_NAMES]


def _plain(table: pa.Table) -> pa.Table:
    """Convert dictionaries (categories of pandas and polars) and string views."""
    columns = [_plain_column(column) for column in table.columns]
    return pa.table(columns, schema=_plain_schema(table.schema))


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = _plain_type(column.type)
    if not pa.types.is_dictionary(column.type):
        return column if column.type == kind else column.cast(kind)
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    fields = [(entry.name, _plain_type(entry.type)) for entry in schema]
    return pa.schema(fields, metadata=schema.metadata)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def _checked(table: Table) -> Table:
    """Raise an error if there are too many columns, or two have the same name."""
    names = list(table.schema.names)
    check_columns(table.name, len(names))
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise UGCLError(f"{table.name} has two columns called '{repeated}': rename one of them")
    return table


def file_extension(path: Path) -> str:
    """Return the extension of a file in lower case, without that of its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_file(path: Path) -> None:
    """Raise an error if a file does not exist."""
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise UGCLError(f"the file {path} {problem}: check the path")


@contextmanager
def reading(name: str, *others: type[Exception]) -> Iterator[None]:
    """Turn exceptions of libraries for a damaged file into a `UGCLError`.

    Args:
        name: the file.
        *others: exceptions besides those of `READ_ERRORS` and PyArrow.
    """
    try:
        yield
    except UGCLError:
        raise
    except (*READ_ERRORS, pa.ArrowException, *others) as error:
        raise read_error(name, error) from error


def read_error(name: str, error: Exception) -> UGCLError:
    """Return the error for a file that is damaged or has the wrong extension."""
    reason = error_text(error)
    advice = "check that it is complete and has the extension of its format"
    if "UTF8" in reason or "utf-8" in reason:
        advice = "save it as UTF-8"
    elif "Object arrays" in reason:
        advice = "save it as text or numbers, for example by .astype(str)"
    elif "straddl" in reason or "field limit" in reason:
        advice = "check that its lines and cells end, or save long rows as .npy or .npz"
    return UGCLError(f"{name} cannot be read ({reason}): {advice}")


def error_text(error: Exception) -> str:
    """Return the message of an error in one line; some contain half a file."""
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    text = " ".join(str(error)[:1000].split()) or type(error).__name__
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]} ..."


def _open_file(path: Path, named: Collection[str], header: bool | None, *, edges: bool) -> Table:
    check_file(path)
    kind = file_extension(path)
    if kind not in EXTENSIONS:
        others = ", .graphml, .gml, .gexf, .net, .npy or .npz" if edges else ", .npy, .npz or .json"
        raise UGCLError(
            f"{path.name} has no known extension: give a file that ends in {', '.join(EXTENSIONS)} "
            f"(with or without .gz){others}"
        )
    with reading(path.name):
        if kind in PARQUET:
            return _checked(_open_parquet(path))
        if kind in JSON_LINES:
            check_json(path, lines=True)
            with open_stream(path) as stream:
                table = pa.json.read_json(stream, pa.json.ReadOptions(use_threads=False))
            return _checked(Table(path.name, table.schema, lambda columns, text: table))
        check_compressed(path)
        text = open_text(path, SEPARATORS[kind], named, header, edges=edges)
        return _checked(Table(path.name, text.schema, text.load, text.notes, text.batches, True))


def _open_parquet(path: Path) -> Table:
    about = pq.read_metadata(path)
    groups = (about.row_group(i) for i in range(about.num_row_groups))
    # The number of values of a column would be better; PyArrow aborts if a file states another one.
    expanded = max(
        CELL * about.num_rows * about.num_columns, sum(g.total_byte_size for g in groups)
    )
    check_expansion(path.name, path.stat().st_size, expanded)
    schema = _plain_schema(about.schema.to_arrow_schema())

    def load(columns: list[str], text: bool) -> pa.Table:
        return _plain(pq.read_table(path, columns=columns, use_threads=expanded > SMALL))

    def batches(columns: list[str], text: bool) -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(PARQUET_BATCH, columns=columns):
                yield from _plain(pa.Table.from_batches([batch])).to_batches()

    return Table(path.name, schema, load, batches=batches)


def _is_list(kind: pa.DataType) -> bool:
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in checks)


def count_missing(column: pa.ChunkedArray) -> int:
    """Return the number of entries that are null or NaN."""
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += pc.sum(pc.is_nan(column)).as_py() or 0
    return int(missing)
