"""Nearest neighbours of all nodes by cosine similarity."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

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
Indices = npt.NDArray[np.int32]
OnProgress = Callable[[int, int], None]

NUM_COMPONENTS = 50
"""Principal components that t-SNE and the search in large graphs are computed from."""

MAX_EXACT_NODES = 20_000
"""Nodes up to which the search uses all columns; in larger graphs, candidates come first."""

CANDIDATES = 32
"""Candidates of each node, of which the exact cosines are computed."""

BLOCK = 64
"""Cosines of which only the maximum is compared first."""

CONNECTIVITY, EXPANSION = 16, 64
"""Settings of the index: of 100,000 noisy rows it finds 95 % of the ten nearest neighbours."""


def principal_components(embeddings: Embeddings, seed: int) -> Matrix:
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


def nearest_of_all(
    embeddings: Embeddings,
    k: int,
    *,
    components: Matrix | None = None,
    threads: int = 1,
    progress: OnProgress | None = None,
) -> tuple[Indices, Matrix]:
    """Return for each node the k others with the largest cosine, and the cosines, N x k each.

    Exact without `components`. With them, `CANDIDATES` neighbours in the principal components are
    found, by usearch where it is installed, and ordered by their exact cosines: a neighbour may be
    missing. Computed in blocks of rows; no N x N array is formed.

    Args:
        embeddings: N x D, dense or sparse.
        k: how many, at most `CANDIDATES` with components.
        components: the principal components.
        threads: threads of the search.
        progress: called with the number of nodes that are done, and N.
    """
    count = embeddings.shape[0]
    k = min(k, count - 1)
    unit = normalize(embeddings)
    if components is None:
        return _exact(unit, k, progress)
    rows = components / np.maximum(np.linalg.norm(components, axis=1, keepdims=True), 1e-30)
    wanted = min(CANDIDATES, count - 1)
    if find_spec("usearch") is not None:
        candidates = _indexed(rows, wanted, threads, progress)
    else:
        candidates = _exact(rows, wanted, progress)[0]
    return _best(unit, candidates, k)


def _exact(unit: Embeddings, k: int, progress: OnProgress | None) -> tuple[Indices, Matrix]:
    """Compare all pairs; the k largest of a row are in the k blocks with the largest maxima."""
    count = unit.shape[0]
    indices = np.empty((count, k), dtype=np.int32)
    cosines = np.empty((count, k), dtype=np.float32)
    step = max(1, 2**25 // count)
    padding = -count % BLOCK
    for start in range(0, count, step):
        rows = slice(start, start + step)
        products = torch.from_numpy(_inner_products(unit[rows], unit))
        diagonal = torch.arange(len(products))
        products[diagonal, diagonal + start] = -2
        if k * BLOCK < count:
            products = torch.nn.functional.pad(products, (0, padding), value=-3.0)
            blocks = products.view(len(products), -1, BLOCK)
            first = blocks.amax(2).topk(k, dim=1).indices.sort(dim=1).values
            products = blocks[diagonal[:, None], first].flatten(1)
            columns = (first[:, :, None] * BLOCK + torch.arange(BLOCK)).flatten(1)
            cosines[rows], places = products.topk(k, dim=1)
            indices[rows] = columns.gather(1, places)
        else:
            cosines[rows], indices[rows] = products.topk(k, dim=1)
        if progress is not None:
            progress(min(start + step, count), count)
    return indices, cosines


def _indexed(rows: Matrix, k: int, threads: int, progress: OnProgress | None) -> Indices:
    """Search with an index; nodes are added by one thread, so that it is the same every time."""
    library = required("usearch.index", "an approximate search", "index")
    index = library.Index(
        ndim=rows.shape[1],
        metric="ip",
        dtype="f32",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
    count, step = len(rows), 5_000
    for start in range(0, count, step):
        keys = np.arange(start, min(start + step, count))
        index.add(keys, rows[keys], threads=1)
        if progress is not None:
            progress(int(keys[-1] + 1) // 2, count)
    found = np.empty((count, k), dtype=np.int32)
    for start in range(0, count, step):
        block = rows[start : start + step]
        keys = np.asarray(index.search(block, k + 1, threads=threads).keys, dtype=np.int64)
        own = keys == np.arange(start, start + len(block))[:, None]
        own[~own.any(axis=1), -1] = True  # among equal rows, a node may not find itself
        found[start : start + step] = keys[~own].reshape(-1, k)
        if progress is not None:
            progress((count + min(start + step, count)) // 2, count)
    return found


def _best(unit: Embeddings, candidates: Indices, k: int) -> tuple[Indices, Matrix]:
    """Return the k candidates of each node with the largest cosine, and the cosines."""
    count = len(candidates)
    indices = np.empty((count, k), dtype=np.int32)
    cosines = np.empty((count, k), dtype=np.float32)
    step = max(1, 2**26 // (unit.shape[1] * candidates.shape[1]))
    for start in range(0, count, step):
        chosen = candidates[start : start + step]
        block = unit[start : start + step]
        if sp.issparse(unit):
            pairs = block[np.repeat(np.arange(len(chosen)), chosen.shape[1])]
            products = np.asarray(pairs.multiply(unit[chosen.ravel()]).sum(axis=1))
            products = products.reshape(chosen.shape)
        else:
            products = np.einsum("ijd,id->ij", unit[chosen], block)
        order = np.argsort(-products, axis=1, kind="stable")[:, :k]
        indices[start : start + step] = np.take_along_axis(chosen, order, axis=1)
        cosines[start : start + step] = np.take_along_axis(products, order, axis=1)
    return indices, cosines


def _inner_products(a: Embeddings, b: Embeddings) -> Matrix:
    if sp.issparse(a):
        return np.asarray((a @ b.T).toarray(), dtype=np.float32)
    return (torch.from_numpy(a) @ torch.from_numpy(b).T).numpy()
