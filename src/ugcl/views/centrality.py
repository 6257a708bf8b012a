"""Node centrality, and the drop probabilities that GCA derives from it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import Centrality, CSRMatrix, Features
from ugcl.views.scaling import MAX_DENSITY

Array = npt.NDArray[np.float64]

DAMPING = 0.85
MIN_CENTRALITY = 1e-8
"""The smallest centrality relative to the largest, so that logarithms are finite."""

_STEPS = 1000
_TOLERANCE = 1e-6


def centrality(adjacency: CSRMatrix, kind: Centrality) -> Array:
    """Return the centrality of each node, scaled to a maximum of 1.

    Args:
        adjacency: A, symmetric.
        kind: the weighted `degree`; `pagerank` with restart probability 0.15; or the entry of the
            leading `eigenvector` of A, which is small in all components but the densest.
    """
    if kind == "degree":
        values = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    else:
        values = _pagerank(adjacency) if kind == "pagerank" else _eigenvector(adjacency)
    largest = values.max(initial=0.0)
    return np.maximum(values / largest if largest else np.ones_like(values), MIN_CENTRALITY)


def drop_probabilities(weights: Array, rate: float, max_drop: float) -> Array:
    """Return the probability that each edge or column is dropped; low weights are dropped more.

    `min((s_max - s) / (s_max - s_mean) rate, max_drop)` with s = log weight, on average about
    `rate`. Items of weight zero are dropped with probability `max_drop` and do not count in the
    mean. Equal weights give `rate`.

    Zhu et al., "Graph Contrastive Learning with Adaptive Augmentation", 2021, Equations 2 and 5.
    """
    positive = weights > 0
    logs = np.log(weights[positive])
    gaps = logs.max(initial=-np.inf) - logs
    mean = gaps.mean() if gaps.size else 0.0
    probabilities = np.full(weights.shape, max_drop)
    probabilities[positive] = np.minimum(gaps / mean * rate if mean > 1e-12 else rate, max_drop)
    return probabilities


def edge_weights(
    nodes: Array, source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]
) -> Array:
    """Return the weight of each edge: the mean centrality of its endpoints."""
    weights: Array = (nodes[source] + nodes[target]) / 2
    return weights


def feature_weights(nodes: Array, features: Features) -> Array:
    """Return the weight of each column of X: the summed centrality of the nodes that have it.

    Where more than `MAX_DENSITY` of X is not zero, nodes count by the size of their entry.
    """
    nonzero = np.count_nonzero(features.data if sp.issparse(features) else features)
    dense = nonzero > MAX_DENSITY * np.prod(features.shape)
    membership = abs(features) if dense else features != 0
    weights: Array = np.asarray(membership.T @ nodes, dtype=np.float64).ravel()
    return weights


def _pagerank(adjacency: CSRMatrix) -> Array:
    """Compute PageRank by power iteration; isolated nodes teleport."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    walk = sp.csr_array(adjacency @ sp.diags_array(inverse))
    scores = np.full(degree.size, 1 / degree.size)
    for _ in range(_STEPS):
        updated = DAMPING * (walk @ scores)
        updated += (1 - updated.sum()) / degree.size
        change = np.abs(updated - scores).sum()
        scores = updated
        if change < _TOLERANCE:
            break
    return scores


def _eigenvector(adjacency: CSRMatrix) -> Array:
    """Compute the leading eigenvector by power iteration of `A + d I`, d the mean degree.

    The shift prevents oscillation on bipartite graphs, at any scale of the weights.
    """
    scores = np.full(adjacency.shape[0], adjacency.shape[0] ** -0.5)
    shift = adjacency.sum() / adjacency.shape[0] or 1.0
    for _ in range(_STEPS):
        updated = adjacency @ scores + shift * scores
        updated /= np.linalg.norm(updated)
        change = np.linalg.norm(updated - scores)
        scores = updated
        if change < _TOLERANCE:
            break
    return scores
