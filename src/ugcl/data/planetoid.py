"""Reader of the raw Planetoid files (`ind.NAME.x`, ..., `ind.NAME.test.index`).

They are pickles, so they are read by an unpickler that builds arrays, matrices, lists and
dictionaries and refuses everything else.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy._core.multiarray import _reconstruct

from ugcl.errors import UGCLError
from ugcl.graph import Graph
from ugcl.validation import UNLABELLED

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
NUM_VALIDATION = 500
MALFORMED = (AttributeError, EOFError, LookupError, OSError, TypeError, ValueError)


def read_planetoid(files: Sequence[Path], name: str) -> Graph:
    """Read a Planetoid data set with its public split (20 nodes a class, 500, 1,000).

    Known traps: the rows of `tx` are in the order of `test.index`; CiteSeer's test nodes have
    gaps, and the 15 nodes in them have neither features nor a label (here -1, not class 0).

    Args:
        files: the raw files, one for each of `PARTS`.
        name: the data set's name in the file names.
    """
    held = dict(zip(PARTS, files, strict=True))
    try:
        parts = {part: _read_pickle(held[part]) for part in PARTS if part != "test.index"}
        return _graph(parts, np.loadtxt(held["test.index"], dtype=np.int64), name)
    except UGCLError:
        raise
    except MALFORMED as error:
        raise UGCLError(
            f"the files in {files[0].parent} are not those of {name} ({error}): fetch them again"
        ) from error


def _graph(parts: dict[str, Any], test: npt.NDArray[np.int64], name: str) -> Graph:
    known, num_nodes = parts["allx"].shape[0], int(test.max()) + 1
    rows = np.concatenate([np.arange(known), test])
    place = sp.csr_array(
        (np.ones(rows.size, dtype=np.float32), (rows, np.arange(rows.size))),
        shape=(num_nodes, rows.size),
    )
    one_hot = np.zeros((num_nodes, parts["y"].shape[1]), dtype=np.int64)
    one_hot[rows] = np.concatenate([parts["ally"], parts["ty"]])
    labels = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    train = parts["y"].shape[0]
    return Graph.from_edges(
        _edges(parts["graph"]),
        place @ sp.vstack([parts["allx"], parts["tx"]]),
        labels=labels,
        splits={
            "train": np.arange(train),
            "val": np.arange(train, train + NUM_VALIDATION),
            "test": test,
        },
        name=name,
    )


def _edges(neighbours: dict[int, list[int]]) -> npt.NDArray[np.int64]:
    sources = np.repeat(
        np.fromiter(neighbours, dtype=np.int64), [len(listed) for listed in neighbours.values()]
    )
    targets = np.concatenate([np.asarray(listed, dtype=np.int64) for listed in neighbours.values()])
    return np.stack([sources, targets], axis=1)


class _Attributes:
    """Stands in for a pickled SciPy matrix: holds its attributes, has no behaviour."""


class _ArrayUnpickler(pickle.Unpickler):
    """Builds arrays, SciPy matrices, lists and dictionaries of them; refuses everything else."""

    allowed: dict[tuple[str, str], Any] = {  # noqa: RUF012 (the base class has no ClassVar)
        ("numpy", "dtype"): np.dtype,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
        ("scipy.sparse.csr", "csr_matrix"): _Attributes,
        ("scipy.sparse._csr", "csr_matrix"): _Attributes,
        ("collections", "defaultdict"): lambda *_: {},
        ("__builtin__", "list"): list,
        ("builtins", "list"): list,
        ("__builtin__", "object"): object,
        ("builtins", "object"): object,
        ("copy_reg", "_reconstructor"): lambda kind, *_: kind(),
        ("copyreg", "_reconstructor"): lambda kind, *_: kind(),
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.allowed[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def _read_pickle(file: Path) -> Any:
    try:
        with file.open("rb") as stream:
            value = _ArrayUnpickler(stream, encoding="latin1").load()
        if not isinstance(value, _Attributes):
            return value
        held = vars(value)
        shape = held.get("_shape", held.get("shape"))
        return sp.csr_array((held["data"], held["indices"], held["indptr"]), shape=shape)
    except (pickle.UnpicklingError, *MALFORMED) as error:
        raise UGCLError(f"{file} is not a Planetoid file ({error}): fetch it again") from error
