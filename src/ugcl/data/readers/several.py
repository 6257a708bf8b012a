"""Several tables with the same columns as one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.paths import name_of
from ugcl.data.readers.tables import Table, read_error


def one_table(source: Any, tables: Sequence[Table]) -> Table:
    """Return the rows of several tables with the same columns as one table.

    Args:
        source: where they come from.
        tables: the tables, in order.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    name = f"{name_of(source)} ({len(tables):,} files)"
    for table in tables[1:]:
        if set(table.columns) != set(first.columns):
            raise UGCLError(
                f"{first.name} has the columns {_quoted(first)} but {table.name} has "
                f"{_quoted(table)}: give files of the same columns, all with a header or all "
                "without"
            )
        if table.is_text != first.is_text:
            raise UGCLError(
                f"{first.name} and {table.name} have different formats: give files that are all "
                "text or all Parquet"
            )
    schema = pa.schema([_field(column, tables) for column in first.schema.names])

    def load(columns: list[str], text: bool) -> pa.Table:
        parts = [table.load(columns, text).select(columns) for table in tables]
        if text and first.is_text:
            return pa.concat_tables([part for part in parts if part.num_rows] or parts[:1])
        return pa.concat_tables(_cast(part, schema, name) for part in parts)

    def batches(columns: list[str], text: bool) -> Iterator[pa.RecordBatch]:
        for table in tables:
            assert table.batches is not None
            for batch in table.batches(columns, text):
                part = batch.select(columns)
                if text and first.is_text:
                    yield part
                else:
                    yield from _cast(pa.Table.from_batches([part]), schema, name).to_batches()

    streams = all(table.batches is not None for table in tables)
    notes = tuple(note for table in tables for note in table.notes)
    return Table(name, schema, load, notes, batches if streams else None, first.is_text)


def _field(column: str, tables: Sequence[Table]) -> pa.Field:
    """Return the field that holds a column of all tables; text where their types have none."""
    fields = [table.schema.field(column).remove_metadata() for table in tables]
    try:
        merged = pa.unify_schemas([pa.schema([f]) for f in fields], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.field(column, pa.large_string())
    return merged.field(0)


def _cast(part: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    """Return a table with the types of a schema; those of text files are read as float32."""
    columns = []
    for column in part.column_names:
        kind, values = schema.field(column).type, part[column]
        if pa.types.is_floating(values.type) and not pa.types.is_floating(kind):
            kind = kind if _is_text(kind) else values.type
        try:
            columns.append(values.cast(kind, safe=False) if values.type != kind else values)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise read_error(f"the column '{column}' of {name}", error) from error
    return pa.table(columns, names=part.column_names)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _quoted(table: Table) -> str:
    names = [f"'{name}'" for name in table.columns]
    return ", ".join(names[:5]) + ", ..." * (len(names) > 5)
