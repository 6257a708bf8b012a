"""Nearest neighbours of embeddings by cosine similarity: exact, or with an index."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import atomic
from ugcl._utils.suggest import unknown
from ugcl._utils.workspace import size
from ugcl.engine.requirements import available_memory
from ugcl.typing import Embeddings

logger = logging.getLogger(__name__)

MAX_SUGGESTED = 100_000
"""Up to so many ids are searched for one that is similar to an unknown one."""

BLOCK = 2**26
"""Bytes of embeddings that are read at a time."""

CANDIDATES = 4
"""The index returns so many times k candidates, of which the exact best k are taken."""

EXPANSION = 64
"""Expansion factor of the index: half of usearch's default takes half the time, and the candidates
beyond k make up for it."""

LINKS = 256
"""Bytes of the links of a node in the index, beside its half-precision vector."""

Nearest = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]


def nearest(embeddings: Embeddings, node: int, k: int) -> Nearest:
    """Return the k other nodes with the highest cosine similarity to a node.

    One pass over the embeddings in blocks of rows: O(N D) time, memory of one block. Ties keep the
    order of the nodes; a row of zeros has the cosine 0 with all.

    Returns:
        Node numbers and cosines, the highest first.
    """
    count, width = embeddings.shape
    wanted = _unit(_dense(embeddings[[node]]))[0]
    step = max(1, BLOCK // (4 * width))
    best = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    for first in range(0, count, step):
        rows = embeddings[first : first + step]
        cosines = _cosines(rows, wanted)
        numbers = np.arange(first, first + cosines.size)
        others = numbers != node
        numbers = np.concatenate([best[0], numbers[others]])
        cosines = np.concatenate([best[1], cosines[others]])
        order = np.argsort(-cosines, kind="stable")[:k]
        best = numbers[order], cosines[order]
    return best


def indexed_nearest(embeddings: Embeddings, node: int, k: int, index_file: Path) -> Nearest:
    """Return the k nearest nodes by an approximate index, which is built the first time.

    The cosines are exact; a neighbour may be missing.

    Args:
        embeddings: N x D', dense.
        node: the node's number.
        k: how many.
        index_file: where the index is stored.
    """
    if sp.issparse(embeddings):
        raise UGCLError("sparse embeddings have no index: leave out `approximate`")
    index = _index(embeddings, index_file)
    found = index.search(_unit(embeddings[[node]])[0], min(CANDIDATES * k + 1, len(embeddings)))
    numbers = np.sort(np.asarray(found.keys).astype(np.int64))
    numbers = numbers[numbers != node]
    cosines = _cosines(embeddings[numbers], _unit(embeddings[[node]])[0])
    order = np.argsort(-cosines, kind="stable")[:k]
    return numbers[order], cosines[order]


def _index(embeddings: npt.NDArray[np.float32], path: Path) -> Any:
    library = required("usearch.index", "an approximate search", "index")
    if path.is_file():
        try:
            index = library.Index.restore(str(path), view=True)
            if index is not None and (len(index), index.ndim) == embeddings.shape:
                return index
        except (RuntimeError, ValueError):
            pass  # built again
    count, width = embeddings.shape
    needed, available = count * (2 * width + LINKS), available_memory()
    if available is not None and needed > available:
        raise UGCLError(
            f"an index of {count:,} nodes needs about {size(needed)} of memory and "
            f"{size(available)} are available: leave out `approximate`"
        )
    logger.info("building the index of %s nodes, once", f"{count:,}")
    index = library.Index(ndim=width, metric="cos", dtype="f16", expansion_add=EXPANSION)
    step = max(1, BLOCK // (4 * width))
    for first in range(0, count, step):
        rows = _unit(embeddings[first : first + step])
        index.add(np.arange(first, first + len(rows)), rows)
    with atomic(path) as temporary:
        try:
            index.save(str(temporary))
        except RuntimeError as error:  # of writing
            raise OSError(str(error)) from error
    return index


def _cosines(rows: Any, unit: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    if sp.issparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1))
    else:
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    cosines = np.asarray(rows @ unit) / np.where(lengths > 0, lengths, 1)
    return np.clip(cosines, -1, 1).astype(np.float32)


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _dense(rows: Any) -> npt.NDArray[np.float32]:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows)


def row_of(ids: npt.NDArray[Any], node: Any) -> int:
    """Return the row of the node with this id."""
    wanted = str(node)
    if ids.dtype.kind == "U":
        rows = np.flatnonzero(ids == wanted)
    else:
        try:
            rows = np.flatnonzero(ids == int(wanted))
        except (OverflowError, ValueError):
            rows = np.empty(0, dtype=np.int64)
    if rows.size:
        return int(rows[0])
    if ids.dtype.kind == "U" and len(ids) <= MAX_SUGGESTED:
        raise UGCLError(unknown("node", wanted, ids.tolist(), max_listed=3))
    raise UGCLError(f"there is no node called '{wanted}' in the run: pass one of the graph's ids")
