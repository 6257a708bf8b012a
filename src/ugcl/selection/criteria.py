"""Other label-free criteria, which `masked_features` is compared with.

Each returns scores, repetitions x (max_n + 1), higher is better.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl._utils.random import numpy_generator, seed_of
from ugcl.scope import average_degree, edge_homophily, lower_bounds
from ugcl.selection.paper_rule import last_dominant_n
from ugcl.selection.readouts import NUM_COMPONENTS, Matrix, Readouts, smoothing_adjacency
from ugcl.views import reduce_columns

Scores = npt.NDArray[np.float64]

HELD_OUT_FRACTION = 0.1
"""Fraction of edges that `held_out_links` removes."""

NUM_CLUSTERS = 10
"""Clusters that `pseudo_labels` uses as classes."""

MAX_PAIRS = 20_000
"""Pairs of nodes whose cosine similarity is computed."""


def held_out_links(readouts: Readouts, seed: int = 0) -> Scores:
    """Return the AUC of the cosine similarity on held-out edges against random pairs of nodes."""
    from scipy.stats import mannwhitneyu

    rng = numpy_generator("held-out links", seed)
    edges = sp.coo_array(sp.triu(readouts.graph.adjacency, 1))
    order = rng.permutation(edges.nnz)
    count = max(1, min(round(HELD_OUT_FRACTION * edges.nnz), MAX_PAIRS))
    test, train = order[:count], order[count:]
    upper = sp.csr_array((edges.data[train], (edges.row[train], edges.col[train])), edges.shape)
    adjacency = smoothing_adjacency(upper + upper.T)
    hidden = (
        adjacency @ torch.from_numpy(reduce_columns(readouts.features, NUM_COMPONENTS))
    ).numpy()
    random_pairs = rng.integers(readouts.graph.num_nodes, size=(2, count))
    pairs = np.hstack([np.vstack([edges.row[test], edges.col[test]]), random_pairs])
    aucs = []
    for rows in readouts.for_each_n(hidden, adjacency=adjacency):
        positive, negative = np.split(_cosines(rows, pairs), [count])
        aucs.append(mannwhitneyu(positive, negative).statistic / count**2)
    return np.array([aucs])


def pseudo_labels(readouts: Readouts, seed: int = 0, embeddings: Matrix | None = None) -> Scores:
    """Apply Lemma 1 with the edge homophily of k-means clusters instead of classes.

    The clusters are those of `A X`, or of trained embeddings. The score is 1 for the last n with
    strong dominance and 0 elsewhere.
    """
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    rows = readouts.encoded if embeddings is None else embeddings
    k_means = KMeans(NUM_CLUSTERS, n_init=3, random_state=seed_of("pseudo-labels", seed))
    clusters = k_means.fit_predict(normalize(rows)).astype(np.int64)
    homophily = edge_homophily(readouts.graph.adjacency, clusters)
    assert homophily is not None  # every node has a cluster
    degree = average_degree(readouts.graph.adjacency)
    n = last_dominant_n(lower_bounds(homophily, degree, readouts.max_n))
    return np.eye(1, readouts.max_n + 1, n)


def denoising(readouts: Readouts, seed: int = 0) -> Scores:
    """Return the negative generalised cross-validation error of `A^n` as a smoother of X.

        -GCV(n) = -|X - A^n X|^2 / N / (1 - tr(A^n) / N)^2,

    with Hutchinson's estimate of the trace.
    """
    num_nodes = readouts.graph.num_nodes
    features = reduce_columns(readouts.features, NUM_COMPONENTS)
    signs = numpy_generator("denoising", seed).choice([-1.0, 1.0], size=(num_nodes, 32))
    width = features.shape[1]
    scores = [-np.inf]  # GCV(0) is 0 / 0
    context = start = torch.from_numpy(np.hstack([features, signs.astype(np.float32)]))
    for _ in range(readouts.max_n):
        context = readouts.adjacency @ context
        trace = float((context[:, width:] * start[:, width:]).sum()) / signs.shape[1]
        residual = float(((context - start)[:, :width] ** 2).sum())
        scores.append(-residual / num_nodes / (1 - trace / num_nodes) ** 2)
    return np.array([scores])


def agreement(readouts: Readouts, seed: int = 0) -> Scores:
    """Return the rank correlation of the similarities by two random halves of the features."""
    from scipy.stats import rankdata

    rng = numpy_generator("agreement", seed)
    mask = readouts.sample_columns(rng)
    pairs = rng.integers(readouts.graph.num_nodes, size=(2, MAX_PAIRS))
    halves = [
        readouts.for_each_n(readouts.encode(readouts.graph.features[:, columns]))
        for columns in (mask, ~mask)
    ]
    correlations = []
    for both in zip(*halves, strict=True):
        ranks = [rankdata(_cosines(rows, pairs)) for rows in both]
        with np.errstate(invalid="ignore"):  # all cosines are equal
            correlations.append(float(np.corrcoef(*ranks)[0, 1]))
    return np.nan_to_num(np.array([correlations], dtype=np.float64))


def _cosines(rows: Matrix, pairs: npt.NDArray[np.integer]) -> Matrix:
    """Return the cosine similarity of centred rows for each pair, 2 x P."""
    from sklearn.preprocessing import normalize

    unit = normalize(rows - rows.mean(axis=0))
    cosines: Matrix = (unit[pairs[0]] * unit[pairs[1]]).sum(axis=1)
    return cosines
