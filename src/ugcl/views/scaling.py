"""Feature scaling, and powers of the adjacency times the features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import CSRMatrix, Features, FeatureScaling

MAX_DENSITY = 0.15
"""The fraction of non-zero entries above which X is stored dense."""


def scale_features(
    features: Features, scaling: FeatureScaling, idf: npt.NDArray[np.float32] | None = None
) -> Features:
    """Scale X: `none`, rows of L1 norm 1 (`row`), rows of L2 norm 1 (`l2`), or TF-IDF.

    Rows of zeros stay zeros; sparse stays sparse.

    Args:
        features: X, N x D.
        scaling: which scaling.
        idf: the weights of TF-IDF, by default those of X itself; pass those of the training graph
            to scale another graph.
    """
    if scaling == "none":
        return features
    from sklearn.preprocessing import normalize

    if scaling == "tfidf":
        weights = idf_weights(features) if idf is None else idf
        features = features @ sp.diags_array(weights, format="csr")
    return normalize(features, norm="l1" if scaling == "row" else "l2")


def densify(matrix: Features) -> Features:
    """Convert a sparse matrix with more than `MAX_DENSITY` non-zeros to an array.

    Dense products do many times as many operations in a second as sparse ones.
    """
    dense = sp.issparse(matrix) and matrix.nnz > MAX_DENSITY * np.prod(matrix.shape)
    return matrix.toarray() if dense else matrix


def smooth_features(
    adjacency: CSRMatrix, features: Features, powers: Sequence[int]
) -> Iterator[tuple[int, Features]]:
    """Yield k and `A^k X` for each of the ascending powers; dense once that is smaller."""
    previous = 0
    for k in powers:
        for _ in range(k - previous):
            features = densify(adjacency @ features)
        previous = k
        yield k, features


def idf_weights(features: Features) -> npt.NDArray[np.float32]:
    """Return TF-IDF's weight of each column: `1 + log((1 + N) / (1 + document frequency))`."""
    frequency = np.asarray((features != 0).sum(axis=0)).ravel()
    weights: npt.NDArray[np.float64] = 1 + np.log((1 + features.shape[0]) / (1 + frequency))
    return weights.astype(np.float32)
