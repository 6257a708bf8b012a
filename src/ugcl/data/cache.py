"""Cache of graphs that were read from raw files.

The key of a cached graph is the content of its raw files and the version of the package; when
either changes, the files are read again and the old graph is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import sha256
from ugcl.graph import Graph

READER_VERSION = "1"
"""Increase it if a reader's result changes within one version of the package."""


def user_cache() -> Path:
    """Return the folder of downloads and cached graphs, `ugcl` in the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ugcl"


def read_cached(
    name: str,
    files: Sequence[Path],
    read: Callable[[Sequence[Path], str], Graph],
    known: Mapping[Path, str] | None = None,
) -> Graph:
    """Return the cached graph of raw files, or check their checksums, read and cache it.

    The key of a cached graph contains the checksums, so that they need not be compared again.

    Args:
        name: name of the graph.
        files: its raw files.
        read: the reader, called with the files and the name.
        known: the checksums of those that have known ones.
    """
    digests = [sha256(file) for file in files]
    path = user_cache() / "parsed" / f"{name}-{_key(files, digests)}.npz"
    if path.is_file():
        with contextlib.suppress(UGCLError):
            return Graph.load(path)
    _compare(files, digests, known or {})
    graph = read(files, name)
    with contextlib.suppress(OSError, UGCLError):
        _save(graph, path)
    return graph


def _save(graph: Graph, path: Path) -> None:
    """Write a graph and delete outdated ones of the same name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    graph.save(path, compressed=False)
    digits = path.stem.rpartition("-")[2]
    for old in path.parent.glob(f"{graph.name}-{'[0-9a-f]' * len(digits)}.npz"):
        if old != path:
            old.unlink()


def _key(files: Sequence[Path], digests: Sequence[str]) -> str:
    """Return the hash of everything that the graph depends on."""
    digest = hashlib.sha256(f"{__version__} {READER_VERSION}".encode())
    for file, content in zip(files, digests, strict=True):
        digest.update(f" {file.name} {content}".encode())
    return digest.hexdigest()[:32]


def _compare(files: Sequence[Path], digests: Sequence[str], known: Mapping[Path, str]) -> None:
    """Refuse files that are not those of the catalogue."""
    for file, digest in zip(files, digests, strict=True):
        if known.get(file, digest) != digest:
            raise ValueError(f"the SHA-256 of {file.name} is {digest}, not {known[file]}")
