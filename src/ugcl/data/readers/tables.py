"""Tables as people have them: CSV, TSV, other text, Parquet, JSON lines, data frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.data.npz import UNREADABLE
from ugcl.data.readers.columns import IDS, NUMBERING, is_id_name
from ugcl.data.readers.text import SEPARATORS, open_text

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
        index = [name for name in _pandas_index(self.schema) if name in self.schema.names]
        return [*index, *(name for name in self.schema.names if name not in index)]

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
        words = unknown(f"column in {self.name}", column, self.columns, most=20)
        raise UGCLError(" ".join([f"{words}", *(f"({note})" for note in self.notes)]))

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

    def id_column(self, column: str) -> str | None:
        """The column of ids: as named, if it is here, or called `id`, `node` or like `user_id`."""
        known = self.chosen(column, IDS)
        if known is None:
            like = [name for name in self.columns if is_id_name(name)]
            known = like[0] if len(like) == 1 else None
        return known

    def numbering(self) -> str | None:
        """The index of a pandas frame that has no name."""
        return self.called(NUMBERING)

    def is_time(self, column: str) -> bool:
        """Whether a column holds dates or times."""
        return bool(pa.types.is_temporal(self.schema.field(column).type))

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
        return _open_file(Path(source), named, edges=what == "edges")
    if type(source).__name__ == "LazyFrame":
        source = source.collect()
    try:
        table = _plain(_with_index(pa.table(source)))
    except (*UNREADABLE, pa.ArrowException) as error:
        raise UGCLError(f"the {what} cannot be read as a table: {_words(error)}") from error
    return _checked(Table(f"the {what}", table.schema, lambda columns, text: table))


def _with_index(table: pa.Table) -> pa.Table:
    """The table of a frame with its index as a column, if it is a range that is not 0, 1, 2, ..."""
    for entry in _pandas(table.schema):
        if isinstance(entry, dict) and (entry.get("start"), entry.get("step")) != (0, 1):
            index = range(entry["start"], entry["stop"], entry["step"])
            return table.append_column(entry.get("name") or NUMBERING[-1], pa.array(index))
    return table


def _pandas(schema: pa.Schema) -> list[Any]:
    """What pandas wrote about its index: the names of its columns, or a range."""
    try:
        return list(json.loads((schema.metadata or {})[b"pandas"])["index_columns"])
    except (KeyError, TypeError, ValueError):
        return []


def _pandas_index(schema: pa.Schema) -> list[str]:
    """The columns of a pandas index that has a name; they come first."""
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in _pandas(schema)]
    return [name for name in names if isinstance(name, str) and name not in NUMBERING]


def _plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries (pandas's and polars's categories) and views."""
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
    """Refuse two columns of one name."""
    names = list(table.schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UGCLError(f"{table.name} has two columns called '{twice}': rename one of them")
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
    words = _words(error)
    advice = "check that it is whole and what its ending says"
    if "UTF8" in words or "utf-8" in words:
        advice = "save it as UTF-8"
    elif "Object arrays" in words:
        advice = "save it as text or numbers, for example by .astype(str)"
    return UGCLError(f"{name} cannot be read ({words}): {advice}")


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _open_file(path: Path, named: Collection[str], *, edges: bool) -> Table:
    check_file(path)
    kind = ending(path)
    if kind not in ENDINGS:
        others = ", .graphml, .gml, .npy or .npz" if edges else ", .npy, .npz or .json"
        raise UGCLError(
            f"{path.name} ends in nothing that tells a format known here: give a file that ends in "
            f"{', '.join(ENDINGS)} (with or without .gz){others}"
        )
    try:
        if kind in PARQUET:
            return _checked(_open_parquet(path))
        if kind in JSON_LINES:
            with pa.input_stream(str(path), compression="detect") as stream:
                table = pa.json.read_json(stream)
            return Table(path.name, table.schema, lambda columns, text: table)
        text = open_text(path, SEPARATORS[kind], named, edges=edges)
        return _checked(Table(path.name, text.schema, text.load, text.notes))
    except UGCLError:
        raise
    except UNREADABLE as error:
        raise unreadable(path.name, error) from error


def _open_parquet(path: Path) -> Table:
    schema = _plain_schema(pq.read_schema(path))

    def load(columns: list[str], text: bool) -> pa.Table:
        return _plain(pq.read_table(path, columns=columns))

    return Table(path.name, schema, load)


def _is_list(kind: pa.DataType) -> bool:
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in checks)


def count_missing(column: pa.ChunkedArray) -> int:
    """How many entries are null or NaN."""
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += pc.sum(pc.is_nan(column)).as_py() or 0
    return int(missing)
