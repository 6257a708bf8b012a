"""Arrays in NumPy's and SciPy's files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data.npz import UNREADABLE
from ugcl.data.readers.tables import check_file, unreadable

MATRIX = {"format", "shape", "data"}
"""What an `.npz` of SciPy holds at least."""


@dataclass(frozen=True)
class ArrayFile:
    """The array or SciPy matrix of a file, and the ids of its rows where they are in it."""

    array: Any
    ids: npt.NDArray[Any] | None = None


def is_array_file(path: Path) -> bool:
    """Whether a file is NumPy's or SciPy's by its ending."""
    return path.suffix.lower() in (".npy", ".npz")


def is_matrix(path: Path) -> bool:
    """Whether an `.npz` holds a SciPy matrix."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return set(archive.files) >= MATRIX
    except UNREADABLE:
        return False


def array_file(path: Path) -> ArrayFile:
    """Read an `.npy`, or an `.npz` with a SciPy matrix or one table; nothing is unpickled.

    An `.npz` may hold the table under any name, and beside it `ids`.
    """
    check_file(path)
    try:
        if path.suffix.lower() == ".npy":
            return ArrayFile(np.load(path, allow_pickle=False))
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            names = set(archive.files)
            if not names >= MATRIX:
                tables = sorted(names - {"ids"})
                if len(tables) != 1:
                    listed = ", ".join(tables) or "none"
                    raise UGCLError(
                        f"{path.name} must hold a SciPy matrix or one array (and 'ids'), but it "
                        f"has {len(tables)}: {listed}"
                    )
                return ArrayFile(archive[tables[0]], archive["ids"] if "ids" in names else None)
        with path.open("rb") as stream:
            return ArrayFile(sp.load_npz(stream))
    except UGCLError:
        raise
    except UNREADABLE as error:
        raise unreadable(path.name, error) from error
