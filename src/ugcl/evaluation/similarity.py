"""Similarities of pairs of nodes, and how well they separate edges from other pairs."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg
from sklearn.preprocessing import normalize

from ugcl.typing import Embeddings, NodeIndices

Scores = npt.NDArray[np.float64]

Similarity = Literal["cosine", "dot"]
SIMILARITIES: tuple[Similarity, ...] = ("cosine", "dot")

BLOCK = 4096
"""Pairs whose rows are gathered at a time."""

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
"""Ridge penalties of the columns' weights, as fractions of the trace of the Gram matrix."""

MIN_FITTED = 100
"""Validation edges below which columns have equal weights: too few to fit others."""

MAX_FITTED = 20_000
"""Maximum number of edges, and of negative pairs, that the weights are fitted to."""


def auc(positive: Scores, negative: Scores) -> float:
    """Return the area under the ROC curve, in percent; ties count half."""
    return 100 * float(normalised_ranks(positive, negative)[0].mean())


def normalised_ranks(positive: Scores, negative: Scores) -> tuple[Scores, Scores]:
    """Return the fraction of negatives below each edge, and of edges above each negative."""
    return _fraction_below(positive, negative), 1 - _fraction_below(negative, positive)


def _fraction_below(values: Scores, reference: Scores) -> Scores:
    ranked = np.sort(reference)
    left, right = (np.searchsorted(ranked, values, side=side) for side in ("left", "right"))
    return np.asarray((left + right) / (2 * reference.size))


def pair_scores(
    embeddings: Embeddings,
    pairs: NodeIndices,
    similarity: Similarity,
    weights: Scores | None = None,
) -> Scores:
    """Return the inner product or cosine of each of E x 2 pairs of rows.

    Args:
        embeddings: N x D.
        pairs: E x 2 node numbers.
        similarity: "cosine" scales rows to L2 norm 1.
        weights: the weights of the D columns in the sum; None: all 1.
    """
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), BLOCK):
        block = slice(start, start + BLOCK)
        first, second = _rows_of_pairs(embeddings, pairs[block], similarity)
        if weights is not None:
            scores[block] = _products(first, second) @ weights
        elif sp.issparse(first):
            scores[block] = np.asarray(first.multiply(second).sum(axis=1)).ravel()
        else:
            scores[block] = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return scores


def _rows_of_pairs(
    embeddings: Embeddings, pairs: NodeIndices, similarity: Similarity
) -> tuple[Embeddings, Embeddings]:
    first, second = (embeddings[nodes] for nodes in pairs.T)
    return (normalize(first), normalize(second)) if similarity == "cosine" else (first, second)


def _products(first: Embeddings, second: Embeddings) -> Scores:
    """Return the element-wise products of rows, dense."""
    if sp.issparse(first):
        return np.asarray(first.multiply(second).toarray(), dtype=np.float64)
    return np.asarray(np.multiply(first, second, dtype=np.float64))


def best_similarity(
    embeddings: Embeddings, positive: NodeIndices, negative: NodeIndices
) -> tuple[float, Similarity]:
    """Return the higher AUC on these pairs, and the similarity that gives it."""
    areas = [
        auc(*(pair_scores(embeddings, pairs, similarity) for pairs in (positive, negative)))
        for similarity in SIMILARITIES
    ]
    best = int(np.argmax(areas))
    return areas[best], SIMILARITIES[best]


def fit_weights(
    embeddings: Embeddings, positive: NodeIndices, negative: NodeIndices, similarity: Similarity
) -> tuple[float, Scores]:
    """Fit a weight for each column: ridge regression of "is an edge" on products of rows.

    The Hadamard product of two rows is the usual input of a classifier of links (Grover and
    Leskovec, 2016). Weights shrink towards equal weights, those of the plain similarity. Pairs
    outside one half, to which weights are fitted, choose the penalty, and the reverse.

    Returns:
        The mean AUC of the halves and the weights fitted to both; minus infinity and equal
        weights for fewer than `MIN_FITTED` edges.
    """
    if len(positive) < MIN_FITTED:
        return -np.inf, np.ones(embeddings.shape[1])
    positive, negative = positive[:MAX_FITTED], negative[:MAX_FITTED]
    products = np.vstack(
        [
            _products(*_rows_of_pairs(embeddings, pairs, similarity))
            for pairs in (positive, negative)
        ]
    )
    edges = np.repeat([1.0, 0.0], [len(positive), len(negative)])
    halves = [np.arange(len(edges)) % 2 == half for half in (0, 1)]
    areas = [
        [
            _area(products[other] @ weights, edges[other])
            for weights in _ridge(products, edges, half)
        ]
        for half, other in (halves, halves[::-1])
    ]
    mean_areas = np.mean(areas, axis=0)
    best = int(np.argmax(mean_areas))
    every = np.ones(len(edges), dtype=bool)
    return float(mean_areas[best]), _ridge(products, edges, every)[best]


def _area(scores: Scores, edges: Scores) -> float:
    return auc(scores[edges > 0], scores[edges == 0])


def _ridge(products: Scores, edges: Scores, rows: npt.NDArray[np.bool_]) -> list[Scores]:
    """Return the weights at each of `PENALTIES`: equal ones, and a ridge fit of what they leave."""
    centred, target = products[rows], edges[rows]
    centred, target = centred - centred.mean(axis=0), target - target.mean()
    total = centred.sum(axis=1)
    equal = (total @ target) / max(total @ total, 1e-12)
    right = centred.T @ (target - equal * total)
    gram = centred.T @ centred
    scale = float(np.trace(gram)) or 1.0
    identity = np.eye(len(gram))
    return [
        equal + linalg.solve(gram + penalty * scale * identity, right, assume_a="pos")
        for penalty in PENALTIES
    ]
