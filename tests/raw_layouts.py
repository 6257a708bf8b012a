"""Small data sets, written as the real ones are laid out under a data root."""

from __future__ import annotations

import gzip
import pickle
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def write_cora(root: Path) -> Path:
    """Six known nodes and three test nodes, 6, 9 and 8: node 7 is in a gap, as CiteSeer's are."""
    folder = root / "Planetoid/Cora/raw"
    folder.mkdir(parents=True)
    eye = np.eye(2, dtype=np.int32)
    parts = {
        "x": sp.csr_matrix(np.eye(6, 3)[:2]),
        "y": eye,
        "allx": sp.csr_matrix(np.arange(18.0).reshape(6, 3)),
        "ally": np.asfortranarray(eye[[0, 1, 0, 1, 0, 1]]),
        "tx": sp.csr_matrix(np.array([[60.0, 0, 0], [90.0, 0, 0], [80.0, 0, 0]])),
        "ty": eye[[1, 0, 1]],
        "graph": defaultdict(list, {0: [1, 1, 0], 1: [0], 6: [9], 9: [6, 8], 8: [9]}),
    }
    for part, value in parts.items():
        (folder / f"ind.cora.{part}").write_bytes(pickle.dumps(value, protocol=4))
    (folder / "ind.cora.test.index").write_text("6\n9\n8\n")
    return folder


def photo_arrays() -> dict[str, np.ndarray]:
    """Four nodes with word counts; an edge in both directions, one in one, one to itself."""
    adjacency = sp.csr_matrix(
        (np.ones(4, dtype=np.float32), ([0, 1, 1, 3], [1, 0, 2, 3])), shape=(4, 4)
    )
    counts = sp.csr_matrix(np.array([[2.0, 0], [0, 1], [7, 1], [0, 0]], dtype=np.float32))
    return {
        f"{prefix}_{part}": np.asarray(getattr(matrix, part))
        for prefix, matrix in (("adj", adjacency), ("attr", counts))
        for part in ("data", "indices", "indptr", "shape")
    } | {"labels": np.array([0, 1, 1, 2])}


def write_photo(root: Path, **changed: np.ndarray) -> Path:
    """The arrays above, but for those given."""
    file = root / "Amazon/Photo/raw/amazon_electronics_photo.npz"
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, **photo_arrays() | changed)
    return file


ARXIV = {
    "raw/edge": "0,1\n1,0\n2,1\n4,3\n4,3\n",
    "raw/node-feat": "0,-0.5\n1,1e-3\n2,0\n3.25,0\n4,1\n",
    "raw/node-label": "2\nnan\nnan\n0\n1\n",
    "raw/num-edge-list": "5\n",
    "raw/num-node-list": "5\n",
    "split/time/train": "4\n",
    "split/time/valid": "3\n",
    "split/time/test": "0\n",
}
"""Five papers, of which 1 and 2 have no label; what stands in each file."""


def write_arxiv(root: Path, changed: Mapping[str, str] = ARXIV) -> Path:
    """The files above, but for those given."""
    folder = root / "ogbn_arxiv"
    for name, text in (ARXIV | dict(changed)).items():
        file = folder / f"{name}.csv.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()))
    return folder
