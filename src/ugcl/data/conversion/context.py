"""What the stages of a conversion share: options, files and folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl.data.conversion import budget
from ugcl.data.conversion.database import Database
from ugcl.data.conversion.stages import Progress
from ugcl.data.readers.arrays import is_array_file
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.paths import is_several, matching_files
from ugcl.data.readers.tables import Table, file_extension, open_table
from ugcl.graph.folder import WORK, FolderWriter

SOURCES = ("edges", "features", "labels", "ids")


@dataclass
class Context:
    """Options, files and folders of a conversion.

    Attributes:
        writer: of the folder of the graph.
        files: of the graph.
        memory: limit in bytes.
        dtype: of dense features.
        threads: of DuckDB.
        progress: called with the progress of each stage.
        work: folder of temporary files.
        sources: the files of edges, features, labels and ids.
        db: sorts and joins; it is opened after the checks.
    """

    writer: FolderWriter
    files: GraphFiles
    memory: int
    dtype: np.dtype[Any]
    threads: int
    progress: Progress
    work: Path
    sources: Mapping[str, list[Path]]
    db: Database

    @property
    def columns(self) -> Columns:
        """Names of columns."""
        return self.files.columns

    @property
    def folder(self) -> Path:
        """The unfinished folder of the graph."""
        return self.writer.folder

    def rows(self, name: str) -> int:
        """Return about how many rows the files of edges, features or labels have."""
        return budget.estimated_rows(self.sources[name])

    def open(self, source: str, what: str) -> Table | None:
        """Open a table that is read in batches; None for all others."""
        if not is_several(source):
            path = Path(source)
            if is_array_file(path) or file_extension(path) == ".json":
                return None
        table = open_table(source, what, named=self.columns.node_columns)
        return None if table.batches is None else table


def sources_of(files: GraphFiles) -> dict[str, list[Path]]:
    """Return the files of edges, features, labels and ids, which must exist."""
    found = {name: matching_files(source) for name in SOURCES if (source := getattr(files, name))}
    for paths in found.values():
        for path in paths:
            if not path.is_file():
                raise UGCLError(f"the file {path} does not exist: check the path")
    return found


def work_folder(writer: FolderWriter, temp: str | Path | None) -> Path:
    """Return the folder of temporary files, in `temp` or in the unfinished folder."""
    if temp is None:
        return writer.folder / WORK
    name = sha256(str(writer.path.resolve()).encode()).hexdigest()[:12]
    return Path(temp) / f"ugcl-convert-{name}"


def inputs_of(
    files: GraphFiles, sources: Mapping[str, list[Path]], dtype: np.dtype[Any], work: Path
) -> dict[str, Any]:
    """Return all that the result of the stages depends on."""
    stamps = [
        (name, str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns)
        for name, paths in sources.items()
        for path in paths
    ]
    return {"files": stamps, "options": asdict(files), "dtype": dtype.str, "work": str(work)}
