"""Limits of what compressed files expand to: a small file must not fill the memory."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError

MAX_EXPANDED = 2**28
MAX_EXPANSION = 100
"""A file that expands to more than so many bytes may be compressed to this fraction at most."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression in `.npz` files: the methods of NumPy."""


def max_expanded(compressed: int) -> int:
    """Return the bytes to which a file of a compressed size may expand."""
    return max(MAX_EXPANDED, MAX_EXPANSION * compressed)


def check_expansion(name: str, compressed: int, expanded: int) -> None:
    """Refuse what expands to more than is plausible.

    Args:
        name: the file.
        compressed: its size in bytes.
        expanded: its size in memory in bytes, at least.
    """
    if expanded > max_expanded(compressed):
        raise UGCLError(
            f"{name} has {compressed:,} bytes and expands to at least {expanded:,}, which looks "
            "damaged or made to fill the memory: save it uncompressed, or as a sparse matrix "
            "(scipy.sparse.save_npz)"
        )


class ArrayArchive:
    """The arrays of an `.npz`, which are read on demand and never unpickled.

    Args:
        archive: the open archive.
        name: its name for messages.
    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name
        self._members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

    @property
    def files(self) -> list[str]:
        """Names of the arrays."""
        return list(self._members)

    def check(self, names: Collection[str]) -> None:
        """Refuse arrays that would fill the memory."""
        members = [self._members[name] for name in names]
        if any(member.compress_type not in METHODS for member in members):
            raise ValueError("it is compressed in another way than NumPy does")
        sizes = [member.compress_size for member in members]
        check_expansion(self._name, sum(sizes), sum(member.file_size for member in members))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        self.check([name])
        with self._archive.open(self._members[name]) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
        return checked_array(array)


def checked_array(array: Any) -> npt.NDArray[Any]:
    """Refuse elements without bytes, of which any number fits in a file, and text that is none."""
    if not isinstance(array, np.ndarray) or array.dtype.itemsize == 0:
        raise ValueError("it holds no array of numbers or text")
    if array.dtype.kind == "U":
        codes = (
            np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1).view(np.uint32)
        )
        if ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise ValueError("its text holds numbers of no character")
    return array


@contextmanager
def open_npz(path: Path) -> Iterator[ArrayArchive]:
    """Open an `.npz`."""
    with zipfile.ZipFile(path) as archive:
        yield ArrayArchive(archive, path.name)
