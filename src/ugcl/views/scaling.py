"""How features are scaled before an encoder sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.preprocessing import normalize

FeatureScaling = Literal["none", "row", "l2", "tfidf"]

CROWDED = 0.15
"""The share of entries that are not zero above which X is dense rather than sparse."""


def scale_features(
    features: Any, scaling: FeatureScaling, column_weights: npt.NDArray[np.float32] | None = None
) -> Any:
    """X as it is, with rows of L1 or L2 length 1, or as TF-IDF; rows of zeros stay zeros.

    Sparse stays sparse.

    Args:
        features: X, N x D.
        scaling: which scaling.
        column_weights: for TF-IDF, the weights of the graph that was trained on; by default those
            of X itself.
    """
    if scaling == "none":
        return features
    if scaling == "tfidf":
        weights = inverse_frequency(features) if column_weights is None else column_weights
        features = features @ sp.diags_array(weights, format="csr")
    return normalize(features, norm="l1" if scaling == "row" else "l2")


def dense_if_crowded(matrix: Any) -> Any:
    """A sparse matrix of which more than `CROWDED` is not zero, made dense; others as they are.

    Dense products do many times as many operations in a second as sparse ones.
    """
    crowded = sp.issparse(matrix) and matrix.nnz > CROWDED * np.prod(matrix.shape)
    return matrix.toarray() if crowded else matrix


def smoothed(adjacency: Any, matrix: Any, steps: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """`A^k matrix` for each k of ascending steps; dense once that is smaller."""
    done = 0
    for k in steps:
        for _ in range(k - done):
            matrix = dense_if_crowded(adjacency @ matrix)
        done = k
        yield k, matrix


def inverse_frequency(features: Any) -> npt.NDArray[np.float32]:
    """TF-IDF's weight of each column: `1 + log((1 + N) / (1 + number of nodes that have it))`."""
    frequency = np.asarray((features != 0).sum(axis=0)).ravel()
    weights: npt.NDArray[np.float64] = 1 + np.log((1 + features.shape[0]) / (1 + frequency))
    return weights.astype(np.float32)
