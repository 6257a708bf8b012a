"""Other ways to choose n without labels, which `masked_features` was compared with.

All give scores, repetitions x (most + 1), the larger the better. The docs say where each fails.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from ugcl.scope import (
    SMOOTHING_SELF_LOOPS,
    average_degree,
    edge_homophily,
    lower_bounds,
    normalised_adjacency,
)
from ugcl.selection.paper_rule import last_dominant
from ugcl.selection.readouts import COLUMNS, Matrix, Readouts, sketch
from ugcl.sparse import SparseMatrix

Scores = npt.NDArray[np.float64]

HELD_OUT = 0.1
"""The share of edges that `held_out_links` takes away."""

CLUSTERS = 10
"""Pseudo-classes."""

PAIRS = 20_000
"""Pairs of nodes that similarities are compared on."""


def held_out_links(readouts: Readouts, seed: int = 0) -> Scores:
    """How well cosines tell edges that were taken away from random pairs of nodes (AUC)."""
    rng = np.random.default_rng(seed)
    edges = sp.coo_array(sp.triu(readouts.graph.adjacency, 1))
    shuffled = rng.permutation(edges.nnz)
    count = max(1, min(round(HELD_OUT * edges.nnz), PAIRS))
    held, left = shuffled[:count], shuffled[count:]
    upper = sp.csr_array((edges.data[left], (edges.row[left], edges.col[left])), edges.shape)
    adjacency = SparseMatrix.from_scipy(
        normalised_adjacency(upper + upper.T, SMOOTHING_SELF_LOOPS), symmetric=True
    )
    start = (adjacency @ torch.from_numpy(sketch(readouts.features, COLUMNS))).numpy()
    others = rng.integers(readouts.graph.num_nodes, size=(2, count))
    linked = np.vstack([edges.row[held], edges.col[held]])
    aucs = []
    for rows in readouts.of(start, adjacency=adjacency):
        unit = normalize(rows - rows.mean(axis=0))
        near, far = ((unit[a] * unit[b]).sum(axis=1) for a, b in (linked, others))
        above = stats.mannwhitneyu(near, far).statistic
        aucs.append(above / (near.size * far.size))
    return np.array([aucs])


def pseudo_labels(readouts: Readouts, seed: int = 0, embeddings: Matrix | None = None) -> Scores:
    """Lemma 1 with the edge homophily of k-means' clusters instead of classes.

    The clusters are those of `A X`, or of embeddings that somebody has trained. The score is 1 for
    the last n that holds strong dominance and 0 for the others.
    """
    found = readouts.encoded if embeddings is None else embeddings
    means = KMeans(CLUSTERS, n_init=3, random_state=seed)
    labels = means.fit_predict(normalize(found)).astype(np.int64)
    homophily = edge_homophily(readouts.graph.adjacency, labels)
    degree = average_degree(readouts.graph.adjacency)
    assert homophily is not None  # every node has a cluster
    last = last_dominant(lower_bounds(homophily, degree, readouts.max_n))
    return np.eye(1, readouts.max_n + 1, last)


def denoising(readouts: Readouts, seed: int = 0) -> Scores:
    """Generalised cross-validation of `A^n` as a smoother of the features (a spectral choice).

        -GCV(n) = -|X - A^n X|^2 / N / (1 - tr(A^n) / N)^2,

    the trace by Hutchinson's estimate.
    """
    count = readouts.graph.num_nodes
    start = sketch(readouts.features, COLUMNS)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(count, 32)).astype(np.float32)
    width = start.shape[1]
    scores = [-np.inf]  # n = 0 leaves nothing to judge by: 0 / 0
    context = both = torch.from_numpy(np.hstack([start, signs]))
    for _ in range(readouts.max_n):
        context = readouts.adjacency @ context
        trace = float((context[:, width:] * both[:, width:]).sum()) / signs.shape[1]
        residual = float(((context - both)[:, :width] ** 2).sum())
        scores.append(-residual / count / (1 - trace / count) ** 2)
    return np.array([scores])


def agreement(readouts: Readouts, seed: int = 0) -> Scores:
    """Rank correlation of similarities by one half of the features with those by the other."""
    rng = np.random.default_rng(seed)
    half = readouts.halves(rng)
    pairs = rng.integers(readouts.graph.num_nodes, size=(2, PAIRS))
    halves = [
        readouts.of(readouts.encode(sketch(readouts.part(part), COLUMNS))) for part in (half, ~half)
    ]
    correlations = []
    for both in zip(*halves, strict=True):
        units = [normalize(rows - rows.mean(axis=0)) for rows in both]
        cosines = [(unit[pairs[0]] * unit[pairs[1]]).sum(axis=1) for unit in units]
        ranks = [stats.rankdata(cosine) for cosine in cosines]
        with np.errstate(invalid="ignore"):  # cosines that are all the same
            correlations.append(float(np.corrcoef(*ranks)[0, 1]))
    return np.nan_to_num(np.array([correlations], dtype=np.float64))
