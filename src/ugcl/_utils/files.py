"""Atomic writes: a reader never sees half of a file."""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import json
import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.signals import deferred
from ugcl.typing import CSRMatrix

if TYPE_CHECKING:
    from torch import Tensor

TEMPORARY = ".ugcl-tmp-"
"""How the names of temporary files begin."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that room on the disk, or a higher limit, would have avoided."""

LARGE = 2**24
SAMPLE = 2**20
MAX_RATIO = 0.75
"""Arrays of at least `LARGE` bytes are compressed if `SAMPLE` bytes shrink to this fraction."""

READ_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # of which RecursionError is one
    SyntaxError,  # that of XML, too
    SystemError,
    TypeError,
    ValueError,
    csv.Error,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of NumPy, SciPy, PyArrow, NetworkX and Python's modules for files that are damaged or
in another format."""


@contextlib.contextmanager
def atomic(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which replaces `path` if no error is raised.

    A process that is killed leaves its temporary file, which the next write of `path` removes.

    Args:
        path: the file.
        durable: whether the file also survives a crash of the machine once this returns.
    """
    temporary: Path | None = None
    handle = -1
    try:
        remove_temporaries(path.parent, path.name)
        with deferred():  # else a signal could leave a file whose name is lost
            handle, temporary = _temporary(path)
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        if durable:
            os.fsync(handle)
        temporary.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        raise UGCLError(cannot_write(path, error)) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
            os.close(handle)


def cannot_write(path: Path, error: OSError) -> str:
    """Return the sentence of an error of writing a file."""
    advice = "choose a folder that exists, is writable and has free space"
    if error.errno in (None, *FULL):  # None: NumPy could not write all bytes
        advice = "make room, then run the command again, a training with `resume`"
    return f"cannot write {path} ({error.strerror or error}): {advice}"


def remove_temporaries(folder: Path, name: str = "") -> None:
    """Remove the temporary files of killed processes; those that are being written stay.

    Args:
        folder: where they are.
        name: only those of this file.
    """
    with os.scandir(folder) as entries:
        found = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(TEMPORARY)
            and entry.name.endswith(f"-{_end(name)}" * bool(name))
        ]
    for path in found:
        with contextlib.suppress(OSError):  # it is gone, or somebody else's
            handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _lock(handle):
                    path.unlink()
            finally:
                os.close(handle)


def _temporary(path: Path) -> tuple[int, Path]:
    """Make a temporary file, whose lock says that its process lives, and return its handle."""
    while True:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=TEMPORARY, suffix=f"-{_end(path.name)}"
        )
        _lock(handle)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # removed by another process before it was locked


def _end(name: str) -> str:
    """Return the end of a file's name, which keeps its extension and leaves room for a prefix."""
    return name[-50:]


def _lock(handle: int) -> bool:
    """Return whether the file could be locked; False, too, where the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Write the entries of a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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


def write_safetensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write tensors atomically, in the format of safetensors.

    `safetensors.torch.save_file` has a temporary file of its own, which a kill would leave behind.
    The format: the length of the header in eight bytes, the header as JSON, the tensors.
    """
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, value in ordered:
        start, end = end, end + value.nbytes
        dtype = _DTYPES[str(value.dtype).removeprefix("torch.")]
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with atomic(path) as temporary, temporary.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for _, value in ordered:
            stream.write(tensor_bytes(value))


def tensor_bytes(tensor: Tensor) -> memoryview:
    """Return the bytes of a tensor's elements, without a copy where it is contiguous."""
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


_DTYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
}
"""The names of PyTorch's dtypes in safetensors."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
