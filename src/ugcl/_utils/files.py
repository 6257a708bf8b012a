"""Atomic writes: a reader never sees half of a file."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.signals import deferred
from ugcl.typing import CSRMatrix

LARGE = 2**24
SAMPLE = 2**20
MAX_RATIO = 0.75
"""Arrays of at least `LARGE` bytes are compressed if `SAMPLE` bytes shrink to this fraction."""

READ_ERRORS = (
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of NumPy, SciPy and PyArrow for files that are damaged or in another format."""


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which replaces `path` if no error is raised."""
    temporary: Path | None = None
    try:
        with deferred():  # else a signal could leave a file whose name is lost
            handle, name = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name[:50]}.", suffix=path.suffix
            )
            os.close(handle)
            temporary = Path(name)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise UGCLError(
            f"cannot write {path} ({error.strerror or error}): choose a folder that exists, is "
            "writable and has free space"
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise an error if a file cannot be written; call it before long computations."""
    if path.is_dir():
        raise UGCLError(f"{path} is a folder: name a file to write")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UGCLError(
            f"cannot write {path}: the folder {path.parent} does not exist or is not writable"
        )


def make_folder(path: Path) -> None:
    """Make a folder if there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UGCLError(
            f"cannot write into {path} ({error.strerror}): pass a folder that exists or can be made"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write `text` atomically, as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: Path, value: Any) -> None:
    """Write `value` atomically, as indented JSON."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_npy(path: Path, array: np.ndarray) -> None:
    """Write one array atomically, in NumPy's format, without pickles."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def write_csr(path: Path, matrix: CSRMatrix) -> None:
    """Write a SciPy CSR matrix atomically, as an `.npz` that `scipy.sparse.load_npz` reads."""
    arrays = {name: getattr(matrix, name) for name in ("indices", "indptr", "data")}
    header = {"format": np.array(b"csr"), "shape": np.array(matrix.shape), "_is_array": np.array(1)}
    write_npz(path, arrays | header)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], *, compressed: bool = True) -> None:
    """Write arrays atomically as an `.npz` without pickles.

    Unlike with `numpy.savez_compressed`, equal arrays give equal bytes: the members have no
    timestamp. Large arrays that hardly compress, such as random numbers, are stored uncompressed.
    """
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            deflate = compressed and _is_compressible(array)
            member.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)


def _is_compressible(array: np.ndarray) -> bool:
    """Return whether compression is worth the time, judged by the beginning of a large array."""
    if array.nbytes < LARGE:
        return True
    sample = array.reshape(-1)[: SAMPLE // array.itemsize].tobytes()
    return len(zlib.compress(sample)) < MAX_RATIO * len(sample)


def _umask() -> int:
    """Return the file mode mask of the process (no system call only reads it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
