"""Reader of the raw Planetoid files (`ind.NAME.x`, ..., `ind.NAME.test.index`).

They are pickles, of which `inert_pickle` reads arrays, matrices, lists and dictionaries only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS
from ugcl.data.inert_pickle import load_inert
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED
from ugcl.typing import NodeIndices

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
    num_entries = next(file for file in files if file.name.endswith(".graph")).stat().st_size
    if sum(map(len, parts["graph"].values())) > num_entries:  # the same list for many nodes
        raise ValueError("the graph has more entries than its file has bytes")
    return _graph(parts, np.loadtxt(test_index, dtype=np.int64, ndmin=1), name)


def _graph(parts: dict[str, Any], test: NodeIndices, name: str) -> Graph:
    widths = {part: parts[part].shape[1] for part in ("x", "tx", "allx", "y", "ty", "ally")}
    for one, *others in (("x", "tx", "allx"), ("y", "ty", "ally")):
        if any(widths[other] != widths[one] for other in others) or parts[one].shape[0] == 0:
            raise ValueError(f"{one}, {' and '.join(others)} have different columns, or none")
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


def _read_pickle(file: Path) -> Any:
    try:
        return load_inert(file.read_bytes())
    except READ_ERRORS as error:
        raise UGCLError(f"{file.name} is not a Planetoid file: {error}") from error
