"""Streams of text files: decompressed and in UTF-8, whatever the name of the file says."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from ugcl._utils.errors import UGCLError

PIECE = 2**20
"""Bytes that are read at a time."""

MAX_LINE = 2**23
"""Bytes of a line of text."""

COMPRESSIONS = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
}
"""How compressed files begin."""

ENCODINGS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte order marks of encodings other than UTF-8."""

OTHER_FORMATS = (
    (rb"\s*<(!doctype html|html\b)", "a web page (HTML), not a table: download the file itself"),
    (rb"\s*<\?xml", "XML, not a table: give it the extension of its format, such as .graphml"),
    (rb"PK\x03\x04", "a ZIP archive or an Excel file: unpack it, or export the sheet as CSV"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file: export the sheet as CSV"),
    (rb"PAR1", "a Parquet file: give it the extension .parquet"),
    (rb"version https://git-lfs", "a pointer of Git LFS: fetch the file itself by git lfs pull"),
)
"""How files begin that are no text tables, and what they are."""


def compression_of(path: Path) -> str | None:
    """Return the compression of a file by its first bytes."""
    with path.open("rb") as stream:
        begin = stream.read(16)
    return next((name for name, magic in COMPRESSIONS.items() if magic.match(begin)), None)


def open_stream(path: Path) -> Any:
    """Open a file for reading, without its compression."""
    return pa.input_stream(str(path), compression=compression_of(path))


def open_utf8(path: Path, *, aligned: bool = False) -> Any:
    """Open a text file for reading, without its compression and in UTF-8.

    Args:
        path: the file.
        aligned: whether any number of spaces and tabs separates columns; they become one tab.
    """
    with open_stream(path) as stream:
        begin = stream.read(4)
    encoding = next((ENCODINGS[mark] for mark in ENCODINGS if begin.startswith(mark)), None)
    stream = open_stream(path)
    if encoding is not None:
        stream = pa.transcoding_input_stream(stream, encoding, "utf-8")
    if aligned:
        stream = pa.PythonFile(io.BufferedReader(AlignedColumns(stream), PIECE), "r")
    if aligned or encoding is not None:
        # It copies into memory of Arrow: see `_in_arrow_memory` in text.py.
        stream = pa.BufferedInputStream(stream, PIECE)
    return stream


class AlignedColumns(io.RawIOBase):
    """Stream of lines in which one tab takes the place of spaces and tabs between columns.

    Args:
        stream: the lines.
    """

    def __init__(self, stream: Any) -> None:
        self.stream, self.rest, self.ready = stream, b"", memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer and return the number of bytes; 0 at the end."""
        while not self.ready:
            piece = self.stream.read(PIECE)
            data = self.rest + piece
            cut = data.rfind(b"\n") + 1 if piece else len(data)
            self.ready, self.rest = memoryview(with_tabs(data[:cut])), data[cut:]
            if not piece:
                break
            if len(self.rest) > MAX_LINE:
                raise ValueError(f"it has lines of more than {MAX_LINE:,} bytes")
        count = min(len(buffer), len(self.ready))
        buffer[:count] = self.ready[:count]
        self.ready = self.ready[count:]
        return count

    def close(self) -> None:
        """Close the lines, too."""
        self.stream.close()
        super().close()


def with_tabs(lines: bytes) -> bytes:
    """Replace the spaces and tabs between columns by one tab, and drop those around lines."""
    return re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", lines))


def check_is_text(name: str, start: bytes) -> None:
    """Refuse a file whose beginning is not that of a text table, and say what it is."""
    for pattern, what in OTHER_FORMATS:
        if re.match(pattern, start.removeprefix(b"\xef\xbb\xbf"), re.IGNORECASE):
            raise UGCLError(f"{name} is {what}")
    if start.count(b"\0") > len(start) / 4:
        raise UGCLError(
            f"{name} is full of NUL characters, as UTF-16 text without a byte order mark is: save "
            "it as UTF-8"
        )
