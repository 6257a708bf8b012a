"""A map of embeddings: two numbers for each node, so that near nodes stay near."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from ugcl._utils.extras import required

COLUMNS = 50
"""Leading directions that the map is made from: the rest is mostly noise."""

LEAST = 8
"""Fewer nodes are laid out by their two leading directions."""

PERPLEXITY = 30


def layout(embeddings: Any, *, threads: int = 1, seed: int = 0) -> npt.NDArray[np.float32]:
    """Positions by t-SNE (openTSNE), N x 2, between 0 and 1; rows of length 1 are compared.

    The same seed and number of threads give the same map.
    """
    count = embeddings.shape[0]
    if count < LEAST:
        rows = embeddings.toarray() if sp.issparse(embeddings) else np.array(embeddings)
        left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        return _into_square((left * sizes)[:, :2])
    leading = _leading(embeddings, seed)
    tsne = required("openTSNE", "the map of a report", "report")
    made = tsne.TSNE(
        perplexity=min(PERPLEXITY, (count - 1) / 3),
        initialization="pca",
        random_state=seed,
        n_jobs=threads,
    ).fit(leading.astype(np.float64))
    return _into_square(np.asarray(made))


def _leading(embeddings: Any, seed: int) -> npt.NDArray[np.float32]:
    """The leading directions of unit rows."""
    if sp.issparse(embeddings):
        width = max(1, min(COLUMNS, min(embeddings.shape) - 1))
        reduced = TruncatedSVD(width, random_state=seed).fit_transform(embeddings)
    else:
        reduced = np.array(embeddings)
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    reduced = reduced / np.where(lengths > 0, lengths, 1)
    width = min(COLUMNS, *reduced.shape)
    if reduced.shape[1] > width:
        reduced = PCA(width, random_state=seed).fit_transform(reduced)
    return np.asarray(reduced, dtype=np.float32)


def _into_square(positions: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Positions moved and scaled into the middle of the unit square, their shape kept."""
    if positions.shape[1] < 2:
        positions = np.column_stack([positions, np.zeros(len(positions))])
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    placed = 0.5 + (positions - (low + high) / 2) / side
    return np.asarray(np.clip(placed, 0, 1), dtype=np.float32)


def nearest_of_all(
    embeddings: Any, k: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """For each node the k others with the largest cosine, and the cosines: N x k each.

    By blocks of rows, so that no N x N array is held.
    """
    count = embeddings.shape[0]
    k = min(k, count - 1)
    unit = normalize(embeddings)
    numbers = np.empty((count, k), dtype=np.int32)
    cosines = np.empty((count, k), dtype=np.float32)
    step = max(1, 2**25 // count)
    for first in range(0, count, step):
        block = torch.from_numpy(_products(unit[first : first + step], unit))
        own = torch.arange(len(block))
        block[own, own + first] = -2
        values, columns = block.topk(k, dim=1)
        numbers[first : first + step], cosines[first : first + step] = columns, values
    return numbers, cosines


def _products(rows: Any, others: Any) -> npt.NDArray[np.float32]:
    """Inner products of rows, dense."""
    if sp.issparse(rows):
        return np.asarray((rows @ others.T).toarray(), dtype=np.float32)
    return (torch.from_numpy(rows) @ torch.from_numpy(others).T).numpy()
