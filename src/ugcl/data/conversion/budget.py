"""Limits of a conversion: memory and disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl._utils.sizes import size
from ugcl.data.readers.streams import compression_of, open_stream
from ugcl.data.readers.tables import PARQUET, file_extension

DEFAULT_MEMORY = "4GB"

MIN_MEMORY = 600 * 10**6
"""The libraries and the batches of rows need about half of it."""

OVERHEAD = 450 * 10**6
"""Memory of the libraries and of batches of rows."""

SHARE = 0.7
"""Part of the rest that DuckDB's limit may be; it does not count all that it allocates."""

PER_NODE = 16
"""Bytes of arrays with an element for each node."""

COMPRESSION = 4
"""Assumed ratio of text files that are compressed."""


def check_memory(memory: int) -> None:
    """Refuse a limit that the libraries alone would exceed."""
    if memory < MIN_MEMORY:
        raise UGCLError(
            f"`memory` is {size(memory)}, but a conversion needs at least {size(MIN_MEMORY)}: "
            "raise it"
        )


def for_database(memory: int, num_nodes: int = 0) -> int:
    """Return the part of the memory that the database may use.

    Args:
        memory: the limit of the conversion.
        num_nodes: N, as far as it is known.
    """
    left = memory - OVERHEAD - PER_NODE * num_nodes
    if left < 10**8:
        raise UGCLError(
            f"`memory` is {size(memory)}, which is too little for {num_nodes:,} nodes: raise it "
            f"to {size(OVERHEAD + PER_NODE * num_nodes + 10**9)}"
        )
    return int(SHARE * left)


def estimated_rows(files: Iterable[Path]) -> int:
    """Return about how many rows the tables in these files have."""
    return sum(_rows(file) for file in files)


def _rows(file: Path) -> int:
    if file_extension(file) in PARQUET:
        return int(pq.read_metadata(file).num_rows)
    with open_stream(file) as stream:
        start: bytes = stream.read(2**20)
    ratio = 1 if compression_of(file) is None else COMPRESSION
    lines = max(start.count(b"\n"), 1)
    return int(ratio * file.stat().st_size * lines / max(len(start), 1)) + 1


def check_disk(needs: Mapping[Path, int]) -> None:
    """Refuse to begin what will not fit onto the disk.

    Args:
        needs: bytes that will be written into each folder, of which the parents exist.
    """
    by_device: dict[int, tuple[Path, int]] = {}
    for folder, need in needs.items():
        place = next(parent for parent in (folder, *folder.parents) if parent.exists())
        device = place.stat().st_dev
        first, total = by_device.get(device, (place, 0))
        by_device[device] = first, total + need
    for place, need in by_device.values():
        free = shutil.disk_usage(place).free
        if need > free:
            raise UGCLError(
                f"the conversion needs about {size(need)} in {place}, where {size(free)} are free: "
                "make room, or choose another `temp` or `out`"
            )
