"""Reader of the raw Planetoid files (`ind.NAME.x`, ..., `ind.NAME.test.index`).

They are pickles, read by an unpickler that accepts arrays, matrices, lists and dictionaries only.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED
from ugcl.typing import CSRMatrix, NodeIndices

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
NUM_VALIDATION = 500


def read_planetoid(files: Sequence[Path], name: str) -> Graph:
    """Read a Planetoid data set with its public split (20 nodes per class, 500, 1,000).

    The rows of `tx` are in the order of `test.index`. The test indices of CiteSeer have gaps; the
    15 nodes in them have neither features nor a label (-1). All three graphs list some edges twice,
    and CiteSeer and PubMed contain self-loops.

    Args:
        files: the raw files, one for each of `PARTS`.
        name: the data set's name in the file names.
    """
    *pickles, test_index = files
    parts = {part: _read_pickle(file) for part, file in zip(PARTS[:-1], pickles, strict=True)}
    return _graph(parts, np.loadtxt(test_index, dtype=np.int64, ndmin=1), name)


def _graph(parts: dict[str, Any], test: NodeIndices, name: str) -> Graph:
    num_nodes = int(test.max()) + 1
    rows = np.concatenate([np.arange(parts["allx"].shape[0]), test])
    if num_nodes > 2 * rows.size:  # CiteSeer's gaps are 15 nodes of 3,327
        raise ValueError(
            f"test.index contains node {num_nodes - 1:,}, but there are {rows.size:,} nodes"
        )
    permutation = sp.csr_array(
        (np.ones(rows.size, dtype=np.float32), (rows, np.arange(rows.size))),
        shape=(num_nodes, rows.size),
    )
    one_hot = np.zeros((num_nodes, parts["y"].shape[1]), dtype=np.int64)
    one_hot[rows] = np.concatenate([parts["ally"], parts["ty"]])
    labels = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    train = parts["y"].shape[0]
    return Graph.from_edges(
        _edges(parts["graph"]),
        permutation @ sp.vstack([parts["allx"], parts["tx"]]),
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
    targets = np.fromiter(chain.from_iterable(neighbours.values()), dtype=np.int64)
    return np.stack([sources, targets], axis=1)


class _Matrix:
    """Attributes of a pickled SciPy matrix."""

    def value(self) -> CSRMatrix:
        state = vars(self)
        parts = tuple(state[part].value() for part in ("data", "indices", "indptr"))
        matrix = sp.csr_array(parts, shape=state.get("_shape", state.get("shape")))
        matrix.check_format(full_check=True)
        return matrix


class _Dtype:
    """Type code and byte order of a pickled NumPy dtype."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code = code

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.code = state[1].replace("|", "") + self.code


class _Array:
    """Shape, dtype, order and bytes of a pickled NumPy array."""

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.dtype, self.fortran, self.content = state

    def value(self) -> npt.NDArray[Any]:
        content = self.content
        if isinstance(content, str):  # pickled by Python 2
            content = content.encode("latin1")
        flat = np.frombuffer(content, dtype=np.dtype(self.dtype.code))
        return flat.reshape(self.shape, order="F" if self.fortran else "C")


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler of arrays, SciPy matrices, and lists and dictionaries of them.

    NumPy's unpickling is not used either, because it trusts the sizes that a pickle states.
    """

    allowed: dict[tuple[str, str], Any] = {  # noqa: RUF012 (the base class has no ClassVar)
        ("numpy", "dtype"): _Dtype,
        ("numpy", "ndarray"): _Array,
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
        ("scipy.sparse.csr", "csr_matrix"): _Matrix,
        ("scipy.sparse._csr", "csr_matrix"): _Matrix,
        ("collections", "defaultdict"): lambda *_: {},
        ("__builtin__", "list"): list,
        ("builtins", "list"): list,
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.allowed[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it contains {module}.{name}") from None


def _read_pickle(file: Path) -> Any:
    try:
        with file.open("rb") as stream:
            value = _ArrayUnpickler(stream, encoding="latin1").load()
        return value.value() if isinstance(value, _Array | _Matrix) else value
    except (pickle.UnpicklingError, *READ_ERRORS) as error:
        raise UGCLError(f"{file.name} is not a Planetoid file: {error}") from error
