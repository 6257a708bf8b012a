"""Limits of text files: expansion of compressed ones, and depth and columns of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.expansion import check_expansion, max_expanded
from ugcl.data.readers.streams import PIECE, compression_of, open_stream

COMPRESSED = (".gz", ".bz2", ".zst")

MAX_DEPTH = 100
"""Lists and objects within each other in JSON: PyArrow crashes at some thousands."""

MAX_COLUMNS = 2**15
"""Columns of a table: PyArrow needs 0.2 ms and 12 kB for each, even if there are few rows."""

CELL = 8
"""Bytes of a number in memory."""

_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1
_RELEVANT = _STEP != 0
_RELEVANT[list(b'"n')] = True
_KEY = re.compile(rb'([^"]*)"\s*:')


def check_columns(name: str, columns: int) -> None:
    """Refuse a table that is too wide."""
    if columns > MAX_COLUMNS:
        raise UGCLError(
            f"{name} has {columns:,} columns, and a table may have {MAX_COLUMNS:,}: save the "
            "features as .npy, or as a sparse .npz (scipy.sparse.save_npz)"
        )


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file piece by piece, without its compression; refuse one that expands too much."""
    size, expanded = path.stat().st_size, 0
    with open_stream(path) as stream:
        while piece := stream.read(PIECE):
            expanded += len(piece)
            check_expansion(path.name, size, expanded)
            yield piece


def check_compressed(path: Path) -> None:
    """Refuse a compressed file that expands too much, before a parser reads it."""
    if compression_of(path) is not None:
        for _ in pieces(path):
            pass


def check_json(path: Path, *, lines: bool) -> None:
    """Refuse JSON that is nested too deeply, or lines whose table would fill the memory.

    A table of lines has a column for each key that occurs in any of them. PyArrow crashes on lines
    of `null` only.

    Args:
        path: the file, compressed or not.
        lines: whether it has an object in each line, not just one.
    """
    check_compressed(path)  # which is faster than the following
    depth, in_text, objects, end = 0, 0, 0, b""
    keys: set[bytes] = set()
    size = 0
    for piece in pieces(path):
        size += len(piece)
        data = end + piece
        cut = len(data) - (len(data) - len(data.rstrip(b"\\"))) % 2  # the first half of an escape
        data, end = data[:cut], data[cut:]
        data = data.replace(b"\\\\", b"--").replace(b'\\"', b"--")
        codes = np.frombuffer(data, dtype=np.uint8)
        codes = codes[_RELEVANT[codes]]
        quotes = np.cumsum(codes == ord('"')) + in_text
        depths = depth + np.cumsum(np.where(quotes % 2 == 0, _STEP[codes], 0))
        if codes.size:
            depth, in_text = int(depths[-1]), int(quotes[-1]) % 2
            if depths.max() > MAX_DEPTH:
                raise UGCLError(
                    f"{path.name} nests lists or objects more than {MAX_DEPTH} deep: give a number "
                    "or a list of numbers for each column"
                )
        if lines:
            if ((codes == ord("n")) & (depths == 0) & (quotes % 2 == 0)).any():
                raise ValueError("it has null or other text between objects")
            objects += data.count(b"{")
            keys.update(_KEY.findall(data))
            if len(keys) * objects * CELL > max_expanded(size):
                raise UGCLError(
                    f"{path.name} has at least {len(keys):,} different keys in {objects:,} "
                    "objects: give all lines the same keys, or save the table as .npy or .npz"
                )
