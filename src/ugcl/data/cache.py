"""Graphs that were read from raw files, kept so that the next time is faster.

A kept graph belongs to one content of the raw files and one version of the package; when either
changes, the files are read again and the old graph is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from ugcl._utils.errors import UGCLError
from ugcl.data.npz import read_npz
from ugcl.graph import Graph

READERS = "1"
"""Raise it when a reader makes another graph of the same files within one version."""


def user_cache() -> Path:
    """`ugcl` in the user's cache folder, the home of downloads and of kept graphs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ugcl"


def parsed(name: str, files: Sequence[Path], read: Callable[[Sequence[Path], str], Graph]) -> Graph:
    """The graph that `read` makes of the files: the one that was kept, or a new one.

    Args:
        name: what the graph is called.
        files: its raw files.
        read: the reader; it gets the files and the name.
    """
    kept = user_cache() / "parsed" / f"{name}-{_digest(files)}.npz"
    if kept.is_file():
        with contextlib.suppress(UGCLError):
            return read_npz(kept)
    graph = read(files, name)
    with contextlib.suppress(OSError, UGCLError):
        _keep(graph, kept)
    return graph


def _keep(graph: Graph, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    graph.save(path, compressed=False)
    digits = path.stem.rpartition("-")[2]
    for old in path.parent.glob(f"{graph.name}-{'[0-9a-f]' * len(digits)}.npz"):
        if old != path:
            old.unlink()


def _digest(files: Sequence[Path]) -> str:
    """Of everything that the parsed graph depends on."""
    digest = hashlib.sha256(f"{version('ugcl')} {READERS}".encode())
    for file in files:
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f" {file.name} {content}".encode())
    return digest.hexdigest()[:32]
