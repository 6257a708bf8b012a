"""The map of a page: t-SNE positions of embeddings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.extras import required
from ugcl._utils.random import seed_of
from ugcl.report.nearest import Indices, Matrix, OnProgress, principal_components
from ugcl.typing import Embeddings

MIN_TSNE_NODES = 8
"""Fewer nodes are placed by their two principal components."""

PERPLEXITY = 30

MIN_FFT_NODES = 10_000
"""Fewer nodes repel each other by Barnes-Hut trees, more on a grid by Fourier transforms."""

EXAGGERATION = 12
"""Early exaggeration: how much stronger attraction is in the first steps."""

STEPS, LARGE_STEPS = (250, 500), (125, 250)
"""Steps with and without exaggeration, of graphs that are searched exactly and of larger ones."""

LARGE_NEIGHBOURS = 15
"""Neighbours that attract a node of a large graph, all equally (Böhm et al., 2022)."""

REPORT_EVERY = 10
"""Steps between two reports of progress."""


def layout(
    embeddings: Embeddings,
    *,
    components: Matrix | None = None,
    neighbours: Indices | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Matrix:
    """Return t-SNE positions (openTSNE) of unit rows, N x 2, between 0 and 1.

    It starts from the principal components. The same seed and number of threads give the same
    positions.

    Args:
        embeddings: N x D, dense or sparse.
        components: their principal components, if known.
        neighbours: the nearest neighbours of the nodes of a large graph: the first
            `LARGE_NEIGHBOURS` attract a node, in half as many steps.
        threads: threads of openTSNE.
        seed: seed of the principal components and of t-SNE.
        progress: called with the number of steps that are done, and of all.
    """
    count = embeddings.shape[0]
    if count < MIN_TSNE_NODES:
        rows = embeddings.toarray() if sp.issparse(embeddings) else np.array(embeddings)
        left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        return _fit_unit_square((left * values)[:, :2])
    tsne = required("openTSNE", "the map of a report", "report")
    if components is None:
        components = principal_components(embeddings, seed)
    rows = components.astype(np.float64)
    if neighbours is None:
        steps = STEPS
        affinities = tsne.affinity.PerplexityBasedNN(
            rows,
            min(PERPLEXITY, (count - 1) / 3),
            n_jobs=threads,
            random_state=seed_of("map", seed),
        )
    else:
        steps = LARGE_STEPS
        near = neighbours[:, :LARGE_NEIGHBOURS].astype(np.int64)
        graph = tsne.nearest_neighbors.PrecomputedNeighbors(near, np.ones(near.shape))
        affinities = tsne.affinity.Uniform(
            knn_index=graph, k_neighbors=near.shape[1], symmetrize="max", n_jobs=threads
        )
    start = tsne.initialization.pca(rows, random_state=seed_of("map", seed))
    forces = "bh" if count < MIN_FFT_NODES else "fft"
    positions = tsne.TSNEEmbedding(
        start,
        affinities,
        negative_gradient_method=forces,
        n_jobs=threads,
        random_state=seed_of("map", seed),
    )
    done = 0

    def report(step: int, _error: float, _positions: object) -> None:
        if progress is not None:
            progress(done + step, sum(steps))

    watch = {"callbacks": report, "callbacks_every_iters": REPORT_EVERY, "inplace": True}
    for number, exaggeration in zip(steps, (EXAGGERATION, 1), strict=True):
        positions.optimize(number, exaggeration=exaggeration, momentum=0.8, **watch)
        done += number
    return _fit_unit_square(np.asarray(positions))


def _fit_unit_square(positions: npt.NDArray[np.floating]) -> Matrix:
    """Shift and scale positions to the centre of the unit square, keeping the aspect ratio."""
    if positions.shape[1] < 2:
        positions = np.column_stack([positions, np.zeros(len(positions))])
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    scaled = 0.5 + (positions - (low + high) / 2) / side
    return np.asarray(np.clip(scaled, 0, 1), dtype=np.float32)
