"""Readers of the array files of NumPy and SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.expansion import checked_array, open_npz
from ugcl._utils.files import READ_ERRORS
from ugcl.data.readers.tables import check_file, reading

MATRIX = {"format", "shape", "data"}
"""Members that every `.npz` of a SciPy matrix has."""


MATRIX_PARTS = {*MATRIX, "indices", "indptr", "row", "col", "coords", "offsets", "_is_array"}
"""Members that SciPy reads."""

MANY, MAX_EMPTY = 10**6, 100
"""A matrix of more rows or columns than `MANY` has `MAX_EMPTY` times its entries at most."""


@dataclass(frozen=True)
class ArrayFile:
    """Array or SciPy matrix of a file, and the ids of its rows if the file has them."""

    array: Any
    ids: npt.NDArray[Any] | None = None


def is_array_file(path: Path) -> bool:
    """Return whether the extension is `.npy` or `.npz`."""
    return path.suffix.lower() in (".npy", ".npz")


def is_matrix(path: Path) -> bool:
    """Return whether an `.npz` contains a SciPy matrix."""
    try:
        with open_npz(path) as archive:
            return set(archive.files) >= MATRIX
    except READ_ERRORS:
        return False


def read_array(path: Path) -> ArrayFile:
    """Read an `.npy`, or an `.npz` with a SciPy matrix or one array; nothing is unpickled.

    The array in an `.npz` may have any name; a second one may be called `ids`.
    """
    check_file(path)
    with reading(path.name):
        if path.suffix.lower() == ".npy":
            return ArrayFile(checked_array(np.load(path, allow_pickle=False)))
        with open_npz(path) as archive:
            names = set(archive.files)
            if not names >= MATRIX:
                arrays = sorted(names - {"ids"})
                if len(arrays) != 1:
                    raise UGCLError(
                        f"{path.name} must contain a SciPy matrix or one array (and 'ids'), but it "
                        f"has {len(arrays)}: {', '.join(arrays) or 'none'}"
                    )
                return ArrayFile(archive[arrays[0]], archive["ids"] if "ids" in names else None)
            archive.check(names & MATRIX_PARTS)
        with path.open("rb") as stream:
            return ArrayFile(_checked_matrix(sp.load_npz(stream)))


def _checked_matrix(matrix: Any) -> Any:
    """Refuse a matrix of empty rows or columns, of which any number fits in a file."""
    if max(matrix.shape) > MAX_EMPTY * (matrix.nnz + 1) + MANY:
        raise ValueError(f"its shape is {matrix.shape}, but it has {matrix.nnz:,} entries")
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    return matrix
