"""DuckDB as a sorter and joiner of more rows than memory holds."""

from __future__ import annotations

import errno
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.signals import raise_if_requested

ROWS = 2**18
"""Rows of a record batch."""

_names = count()

FULL = ("No space left", "max_temp_directory_size")
"""Parts of DuckDB's messages when the disk is full."""


class Database:
    """A DuckDB database in a folder, which also holds what does not fit into memory.

    Args:
        folder: of the database and its temporary files.
        memory: bytes that DuckDB's buffers may use.
        threads: of DuckDB.
        about: what the user has set, for messages.
    """

    def __init__(self, folder: Path, memory: int, threads: int, about: str) -> None:
        self.duckdb = required("duckdb", "converting files to the folder of a graph", "big")
        self.about = about
        config: dict[str, Any] = {
            "memory_limit": f"{memory // 10**6}MB",
            "threads": threads,
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": False,
        }
        with self.errors():
            self.connection = self.duckdb.connect(str(folder / "tables.duckdb"), config=config)

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def limit(self, memory: int) -> None:
        """Change the memory of the buffers."""
        self.run(f"SET memory_limit = '{memory // 10**6}MB'")

    def run(self, query: str) -> None:
        """Run a statement that returns no rows."""
        with self.errors():
            self.connection.execute(query)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query with a small result."""
        with self.errors():
            return list(self.connection.execute(query).fetchall())

    def batches(
        self, query: str, inputs: Mapping[str, pa.RecordBatchReader] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Return the result of a query in record batches, as it is computed.

        Args:
            query: which may use the names of the inputs as tables.
            inputs: readers of record batches, each for one scan.
        """
        with closing(self.connection.cursor()) as cursor:
            try:
                for name, reader in (inputs or {}).items():
                    cursor.register(name, reader)
                with self.errors():
                    result = cursor.sql(query).to_arrow_reader(ROWS)
                while True:
                    with self.errors():
                        batch = next(iter(result), None)
                    if batch is None:
                        return
                    yield batch
            finally:
                result = None
                for name in inputs or {}:
                    cursor.unregister(name)

    def fill(self, table: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Make a table of record batches; an earlier one of this name is replaced."""
        feed = Feed(schema, batches)
        name = f"feed{next(_names)}"
        with closing(self.connection.cursor()) as cursor, feed.errors(), self.errors():
            cursor.register(name, feed.reader)
            try:
                cursor.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {name}")
            finally:
                cursor.unregister(name)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn exceptions of DuckDB into one sentence; a full disk is an `OSError`."""
        try:
            yield
        except (self.duckdb.Error, RuntimeError) as error:
            raise_if_requested()  # a signal, which DuckDB turns into an exception of its own
            if not isinstance(error, self.duckdb.Error):
                raise
            if isinstance(error, self.duckdb.InterruptException):
                raise KeyboardInterrupt from None
            text = str(error)
            if any(part in text for part in FULL):
                raise OSError(errno.ENOSPC, "No space left on device") from None
            if isinstance(error, self.duckdb.OutOfMemoryException):
                raise UGCLError(
                    f"the conversion does not fit into {self.about} of memory: raise `memory`"
                ) from None
            raise UGCLError(
                f"the conversion failed ({text.splitlines()[0]}): check the files and `temp`"
            ) from None


class Feed:
    """Record batches for DuckDB, which keeps an exception of their generator.

    Attributes:
        reader: for one scan.
    """

    def __init__(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        self.failure: BaseException | None = None
        self.batches = self._kept(batches)
        self.reader = pa.RecordBatchReader.from_batches(schema, self.batches)

    def _kept(self, batches: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        try:
            yield from batches
        except GeneratorExit:
            raise
        except BaseException as error:
            self.failure = error
            raise

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the exception of the generator in place of DuckDB's, and close the generator."""
        try:
            yield
        except Exception:
            if self.failure is not None:
                raise self.failure from None
            raise
        finally:
            with suppress(ValueError):  # it runs in a thread that DuckDB has not stopped yet
                self.batches.close()
