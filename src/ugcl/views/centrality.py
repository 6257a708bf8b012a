"""Which nodes matter most, and edges and features by them: what GCA would rather keep."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.views.scaling import CROWDED

Array = npt.NDArray[np.float64]
Centrality = Literal["degree", "pagerank", "eigenvector"]

CENTRALITIES: tuple[str, ...] = get_args(Centrality)

DAMPING = 0.85
MIN_CENTRALITY = 1e-8
"""The smallest centrality, beside the largest: logarithms of zeros are not wanted."""

_STEPS = 1000
_TOLERANCE = 1e-6


def centrality(adjacency: Any, kind: Centrality) -> Array:
    """The centrality of each node, the largest being 1.

    `degree` is that of the node, its weights added up; `pagerank` the share of time that a random
    walk spends there which starts anew with probability 0.15 in every step; `eigenvector` the entry
    of the first eigenvector of A, small in all components but the densest.

    Args:
        adjacency: A, symmetric, SciPy CSR.
        kind: which of them.
    """
    if kind == "degree":
        found = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    else:
        found = _pagerank(adjacency) if kind == "pagerank" else _eigenvector(adjacency)
    max_drop = found.max(initial=0.0)
    return np.maximum(found / max_drop if max_drop else np.ones_like(found), MIN_CENTRALITY)


def drop_probabilities(weights: Array, rate: float, max_drop: float) -> Array:
    """How likely each is dropped: on average about `rate`, the more the smaller its weight.

    `min((s_max - s) / (s_max - s_mean) rate, most)` with s = log weight; what has no weight is
    dropped with probability `most` and does not count in the mean. If all weigh the same, `rate`.

    Zhu et al., "Graph Contrastive Learning with Adaptive Augmentation", 2021, Equations 2 and 5.
    """
    some = weights > 0
    logs = np.log(weights[some])
    gaps = logs.max(initial=-np.inf) - logs
    mean = gaps.mean() if gaps.size else 0.0
    found = np.full(weights.shape, max_drop)
    found[some] = np.minimum(gaps / mean * rate if mean > 1e-12 else rate, max_drop)
    return found


def edge_weights(nodes: Array, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Array:
    """The weight of an edge: the mean centrality of its ends."""
    weights: Array = (nodes[first] + nodes[second]) / 2
    return weights


def feature_weights(nodes: Array, features: Any) -> Array:
    """The weight of a column of X: the centralities of all nodes that have it, added up.

    Where more than `CROWDED` of X is not zero, each counts as much as the size of its entry.
    """
    share = np.count_nonzero(features.data if sp.issparse(features) else features)
    has = abs(features) if share > CROWDED * np.prod(features.shape) else features != 0
    weights: Array = np.asarray(has.T @ nodes, dtype=np.float64).ravel()
    return weights


def _pagerank(adjacency: Any) -> Array:
    """By power iteration; a walk at an isolated node starts anew."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    walk = sp.csr_array(adjacency @ sp.diags_array(inverse))
    found = np.full(degree.size, 1 / degree.size)
    for _ in range(_STEPS):
        after = DAMPING * (walk @ found)
        after += (1 - after.sum()) / degree.size
        moved = np.abs(after - found).sum()
        found = after
        if moved < _TOLERANCE:
            break
    return found


def _eigenvector(adjacency: Any) -> Array:
    """By power iteration of `A + d I`, which does not go back and forth on bipartite graphs.

    d is the mean degree, so that the unit of the weights does not matter.
    """
    found = np.full(adjacency.shape[0], adjacency.shape[0] ** -0.5)
    shift = adjacency.sum() / adjacency.shape[0] or 1.0
    for _ in range(_STEPS):
        after = adjacency @ found + shift * found
        after /= np.linalg.norm(after)
        moved = np.linalg.norm(after - found)
        found = after
        if moved < _TOLERANCE:
            break
    return found
