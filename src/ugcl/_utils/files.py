"""Writing files so that a reader never sees half of one."""

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

LARGE = 2**24
SAMPLE = 2**20
WORTHWHILE = 0.75
"""Arrays of at least `LARGE` bytes are compressed if a sample of them shrinks to this share."""


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it takes the place of `path` if all goes well."""
    temporary: Path | None = None
    try:
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
            f"cannot write {path} ({error.strerror or error}): choose a place that exists, is "
            "writable and has room"
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before the work that fills it."""
    if path.is_dir():
        raise UGCLError(f"{path} is a folder: name a file to write")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UGCLError(
            f"cannot write {path}: the folder {path.parent} is not there or not writable"
        )


def write_text(path: Path, text: str) -> None:
    """Write `text` atomically, as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write `value` atomically, as JSON that a person can read."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_npy(path: Path, array: np.ndarray) -> None:
    """Write one array atomically, in NumPy's format, without pickles."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def write_csr(path: Path, matrix: Any) -> None:
    """Write a SciPy CSR matrix atomically, as an `.npz` that `scipy.sparse.load_npz` reads."""
    arrays = {name: getattr(matrix, name) for name in ("indices", "indptr", "data")}
    about = {"format": np.array(b"csr"), "shape": np.array(matrix.shape), "_is_array": np.array(1)}
    write_npz(path, arrays | about)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], *, compressed: bool = True) -> None:
    """Write arrays atomically as an `.npz` without pickles.

    Unlike `numpy.savez_compressed`, equal arrays give equal bytes: the members carry no time. A
    large array that hardly shrinks, such as one of random numbers, is stored as it is.
    """
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            deflated = compressed and _shrinks(array)
            member.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)


def _shrinks(array: np.ndarray) -> bool:
    """Whether compressing is worth the time: tells by the beginning of a large array."""
    if array.nbytes < LARGE:
        return True
    sample = array.reshape(-1)[: SAMPLE // array.itemsize].tobytes()
    return len(zlib.compress(sample)) < WORTHWHILE * len(sample)


def _umask() -> int:
    """The process's file mode mask (there is no call that only reads it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
