"""Reader of the `.npz` files of Shchur et al., *Pitfalls of Graph Neural Network Evaluation*.

Amazon Computers and Photo, Coauthor CS and Physics come in this form: the arrays of two CSR
matrices, `adj_*` and `attr_*`, and `labels`. The names of nodes, words and classes that the files
may hold too are pickled objects, and are never opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl.graph import Graph


def read_gnn_benchmark(files: Sequence[Path], name: str) -> Graph:
    """Read a data set of the benchmark; it has no split of its own.

    Known traps: the Coauthor files hold word counts where the Amazon files hold ones, and the
    field uses all four as binary features, so every positive value becomes 1; the Amazon files
    list most edges in one direction only, which `Graph` mends.

    Args:
        files: the one raw file.
        name: what to call the graph.
    """
    (file,) = files
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return Graph(
            _csr(archive, "adj"),
            _csr(archive, "attr") > 0,
            labels=archive["labels"],
            name=name,
            weighted=False,
        )


def _csr(archive: Any, prefix: str) -> Any:
    """The matrix whose arrays begin with `prefix`."""
    parts = tuple(archive[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=tuple(archive[f"{prefix}_shape"]))
    matrix.check_format(full_check=True)
    return matrix
