"""Diagnosis of collapsed embeddings, without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.linalg import dense_rows, one_thread
from ugcl._utils.random import numpy_generator
from ugcl.typing import CSRMatrix, Embeddings

if TYPE_CHECKING:
    from ugcl.engine.streaming import StoredEmbeddings

SAMPLE = 1000
"""Nodes and edges that the diagnosis uses."""

MIN_RANK = 4.0
MIN_SPREAD = 0.05


@dataclass(frozen=True)
class Collapse:
    """Measures of collapse.

    Attributes:
        effective_rank: exp of the entropy of the singular values of the centred embeddings (Roy
            and Vetterli, 2007): between 1 and the dimension.
        alignment: mean squared distance between a node and its neighbours, as unit vectors (Wang
            and Isola, 2020): 0 where neighbours coincide, 2 where they are unrelated.
        uniformity: log of the mean of exp(-2 squared distance) over pairs (the same): 0 where all
            nodes coincide, near -4 where they are spread evenly.
        collapsed: whether the effective rank is below `MIN_RANK` (less for narrow or few
            embeddings) or the uniformity is closer to 0 than `MIN_SPREAD`.
    """

    effective_rank: float
    alignment: float | None
    uniformity: float
    collapsed: bool


@one_thread()
def diagnose_collapse(embeddings: Embeddings | StoredEmbeddings, adjacency: CSRMatrix) -> Collapse:
    """Diagnose collapse on at most `SAMPLE` nodes and edges, always the same ones.

    Args:
        embeddings: N x D'.
        adjacency: A, whose edges are the pairs of the alignment.
    """
    rng = numpy_generator("collapse")
    size = embeddings.shape[0]
    nodes = np.sort(rng.choice(size, min(SAMPLE, size), replace=False))
    rows = dense_rows(embeddings[nodes]).astype(np.float64)

    rank = _effective_rank(rows - rows.mean(axis=0))

    unit = _unit(rows)
    squared = np.clip(2 - 2 * unit @ unit.T, 0, None)[np.triu_indices(nodes.size, k=1)]
    uniformity = float(np.log(np.exp(-2 * squared).mean())) if squared.size else 0.0

    collapsed = rank < min(MIN_RANK, 1 + min(rows.shape) / 4) or uniformity > -MIN_SPREAD
    return Collapse(
        effective_rank=round(rank, 2),
        alignment=_alignment(embeddings, adjacency, rng),
        uniformity=round(uniformity, 4),
        collapsed=bool(collapsed),
    )


def _effective_rank(rows: npt.NDArray[np.float64]) -> float:
    """Return exp of the entropy of the singular values, from the smaller Gram matrix.

    Its eigenvalues, their squares, take a quarter of the time of an SVD and are exact to 1e-8.
    """
    gram = rows @ rows.T if rows.shape[0] < rows.shape[1] else rows.T @ rows
    values = np.sqrt(np.clip(np.linalg.eigvalsh(gram), 0, None))
    values = values[values > 1e-7 * max(values.max(initial=0), 1e-150)]
    fraction = values / values.sum() if values.size else np.ones(1)
    return float(np.exp(-(fraction * np.log(fraction)).sum()))


def _alignment(
    embeddings: Embeddings | StoredEmbeddings, adjacency: CSRMatrix, rng: np.random.Generator
) -> float | None:
    if adjacency.nnz == 0:
        return None
    edges = np.sort(rng.choice(adjacency.nnz, min(SAMPLE, adjacency.nnz), replace=False))
    starts = adjacency.indptr
    sources = np.searchsorted(starts, edges.astype(starts.dtype), side="right") - 1
    ends = (_unit(dense_rows(embeddings[nodes])) for nodes in (sources, adjacency.indices[edges]))
    first, second = ends
    return round(float(((first - second) ** 2).sum(axis=1).mean()), 4)


def _unit(rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    wide = rows.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(length > 0, length, 1)
