"""Paths of tables: one file, or several as a list, a glob or a folder."""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError

WILDCARDS = frozenset("*?[")


def is_several(source: Any) -> bool:
    """Return whether a source may be several files: a list of paths, a glob or a folder."""
    if isinstance(source, str | Path):
        return not Path(source).is_file() and (
            Path(source).is_dir() or bool(WILDCARDS & set(str(source))) or "," in str(source)
        )
    several = isinstance(source, Sequence) and len(source) > 0
    return several and all(isinstance(each, str | Path) for each in source)


def matching_files(source: Any) -> list[Path]:
    """Return the files of a source, sorted where a glob or a folder gives no order.

    Args:
        source: a path, a glob such as `days/*.csv`, a folder, these separated by commas, or a list
            of them. Of a folder, files with the extension of a table count, except those that begin
            with `.` or `_`.
    """
    if not is_several(source):
        return [Path(source)]
    if not isinstance(source, str | Path):
        return [file for each in source for file in matching_files(each)]
    path, text = Path(source), str(source)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _is_table(file))
        if not files:
            raise UGCLError(
                f"the folder {source} is not that of a graph, and has no tables: give one that "
                "Graph.save_folder or ugcl convert wrote, or one with .csv, .tsv, .txt, .parquet "
                "or .jsonl files"
            )
        return files
    if "," in text:
        return [file for each in _split(text) for file in matching_files(each)]
    files = sorted(Path(file) for file in glob.glob(text, recursive=True))  # noqa: PTH207
    files = [file for file in files if file.is_file()]
    if not files:
        raise UGCLError(f"no file matches {source}: check the path and the pattern")
    return files


def absolute(source: str) -> str:
    """Return a source with absolute paths."""
    several = is_several(source) and "," in source and not Path(source).is_dir()
    parts = [str(Path(each).resolve()) for each in (_split(source) if several else [source])]
    return joined(parts) if several else parts[0]


def joined(sources: Sequence[str | Path]) -> str:
    """Return sources as one text; `matching_files` is the inverse."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([str(source) for source in sources])
    return line.getvalue()


def name_of(source: Any) -> str:
    """Return the name of a source for messages and as the name of a graph."""
    if isinstance(source, str | Path):
        return Path(_split(str(source))[0] if is_several(source) else source).name
    return Path(source[0]).name if is_several(source) else ""


def _is_table(file: Path) -> bool:
    from ugcl.data.readers.tables import EXTENSIONS, file_extension  # slow to import

    return not file.name.startswith((".", "_")) and file_extension(file) in EXTENSIONS


def _split(text: str) -> list[str]:
    (parts,) = csv.reader([text], skipinitialspace=True)
    return [part.strip() for part in parts if part.strip()]
