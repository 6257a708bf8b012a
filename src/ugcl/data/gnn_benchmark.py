"""Reader of the `.npz` files of Shchur et al., *Pitfalls of Graph Neural Network Evaluation*.

Amazon Computers and Photo, Coauthor CS and Physics come in this form: the arrays of two CSR
matrices, `adj_*` and `attr_*`, and `labels`. The files may also contain names of nodes, words and
classes as pickled objects, which are never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import scipy.sparse as sp

from ugcl._utils.expansion import ArrayArchive, open_npz
from ugcl.graph import Graph
from ugcl.typing import CSRMatrix


def read_gnn_benchmark(files: Sequence[Path], name: str) -> Graph:
    """Read a data set of the benchmark, which has no published split.

    The Coauthor files hold word counts and the Amazon files ones; all four are used as binary
    features in the literature, so every positive value becomes 1. The Amazon files list most edges
    in one direction only; `Graph` makes them symmetric.

    Args:
        files: the raw file.
        name: name of the graph.
    """
    (file,) = files
    with open_npz(file) as archive:
        return Graph(
            _csr(archive, "adj"),
            _csr(archive, "attr") > 0,
            labels=archive["labels"],
            name=name,
            weighted=False,
        )


def _csr(archive: ArrayArchive, prefix: str) -> CSRMatrix:
    """Return the matrix whose array names begin with `prefix`."""
    parts = tuple(archive[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=tuple(archive[f"{prefix}_shape"]))
    matrix.check_format(full_check=True)
    return matrix
