"""The map of a page: t-SNE positions and nearest neighbours of embeddings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.preprocessing import normalize

from ugcl._utils.extras import required
from ugcl._utils.random import seed_of
from ugcl.typing import Embeddings

Matrix = npt.NDArray[np.float32]

NUM_COMPONENTS = 50
"""Principal components that t-SNE is computed from."""

MIN_TSNE_NODES = 8
"""Fewer nodes are placed by their two principal components."""

PERPLEXITY = 30


def layout(embeddings: Embeddings, *, threads: int = 1, seed: int = 0) -> Matrix:
    """Return t-SNE positions (openTSNE) of unit rows, N x 2, between 0 and 1.

    The same seed and number of threads give the same positions.
    """
    count = embeddings.shape[0]
    if count < MIN_TSNE_NODES:
        rows = embeddings.toarray() if sp.issparse(embeddings) else np.array(embeddings)
        left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        return _fit_unit_square((left * values)[:, :2])
    tsne = required("openTSNE", "the map of a report", "report")
    positions = tsne.TSNE(
        perplexity=min(PERPLEXITY, (count - 1) / 3),
        initialization="pca",
        random_state=seed_of("map", seed),
        n_jobs=threads,
    ).fit(_principal_components(embeddings, seed).astype(np.float64))
    return _fit_unit_square(np.asarray(positions))


def _principal_components(embeddings: Embeddings, seed: int) -> Matrix:
    """Return the leading principal components of unit rows."""
    if sp.issparse(embeddings):
        width = max(1, min(NUM_COMPONENTS, min(embeddings.shape) - 1))
        reduced = TruncatedSVD(width, random_state=seed_of("svd", seed)).fit_transform(embeddings)
    else:
        reduced = np.array(embeddings)
    norms = np.linalg.norm(reduced, axis=1, keepdims=True)
    reduced = reduced / np.where(norms > 0, norms, 1)
    width = min(NUM_COMPONENTS, *reduced.shape)
    if reduced.shape[1] > width:
        reduced = PCA(width, random_state=seed_of("svd", seed)).fit_transform(reduced)
    return np.asarray(reduced, dtype=np.float32)


def _fit_unit_square(positions: npt.NDArray[np.floating]) -> Matrix:
    """Shift and scale positions to the centre of the unit square, keeping the aspect ratio."""
    if positions.shape[1] < 2:
        positions = np.column_stack([positions, np.zeros(len(positions))])
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    scaled = 0.5 + (positions - (low + high) / 2) / side
    return np.asarray(np.clip(scaled, 0, 1), dtype=np.float32)


def nearest_of_all(embeddings: Embeddings, k: int) -> tuple[npt.NDArray[np.int32], Matrix]:
    """Return for each node the k others with the largest cosine, and the cosines, N x k each.

    Computed in blocks of rows; no N x N array is formed.
    """
    count = embeddings.shape[0]
    k = min(k, count - 1)
    unit = normalize(embeddings)
    indices = np.empty((count, k), dtype=np.int32)
    cosines = np.empty((count, k), dtype=np.float32)
    step = max(1, 2**25 // count)
    for start in range(0, count, step):
        rows = slice(start, start + step)
        block = torch.from_numpy(_inner_products(unit[rows], unit))
        diagonal = torch.arange(len(block))
        block[diagonal, diagonal + start] = -2
        cosines[rows], indices[rows] = block.topk(k, dim=1)
    return indices, cosines


def _inner_products(a: Embeddings, b: Embeddings) -> Matrix:
    if sp.issparse(a):
        return np.asarray((a @ b.T).toarray(), dtype=np.float32)
    return (torch.from_numpy(a) @ torch.from_numpy(b).T).numpy()
