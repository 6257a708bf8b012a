"""Feature scaling, and powers of the adjacency times the features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import normalize_rows
from ugcl._utils.rows import pieces, single, take_rows
from ugcl.typing import CSRMatrix, Features, FeatureScaling, NodeIndices

MAX_DENSITY = 0.15
"""The fraction of non-zero entries above which X is stored dense."""

MAX_COUNT_DENSITY = 0.5
"""The fraction of non-zero entries up to which non-negative features count as counts."""

BLOCK_SIZE = 2**20
"""Entries of X that are standardised at a time, in double precision."""


def scale_features(
    features: Features, scaling: FeatureScaling, statistics: npt.NDArray[Any] | None = None
) -> Features:
    """Scale X; sparse stays sparse.

    - `none`: X as it is;
    - `row`, `l2`: rows of L1 or L2 norm 1, rows of zeros stay zeros;
    - `tfidf`: columns times their IDF weights, then `l2`;
    - `standard`: columns of mean 0 and standard deviation 1. Sparse columns are divided by their
      standard deviation but not centred, as by scikit-learn's `StandardScaler(with_mean=False)`.
      Constant columns become zeros.

    Args:
        features: X, N x D.
        scaling: which scaling.
        statistics: what `fit_scaling` returned for the training graph, to scale another graph in
            the same way; by default those of X itself.
    """
    features = single(features)
    if scaling == "none":
        return features
    if statistics is None:
        statistics = fit_scaling(features, scaling)
    if scaling == "standard":
        assert statistics is not None
        return _standardise(features, *statistics)
    if scaling == "tfidf":
        features = features @ sp.diags_array(statistics, format="csr")
    return normalize_rows(features, "l1" if scaling == "row" else "l2")


def fit_scaling(features: Features, scaling: FeatureScaling) -> npt.NDArray[Any] | None:
    """Return what a scaling needs to know about the columns of the training graph.

    Returns:
        For `tfidf` the IDF weights, (D,) float32; for `standard` what to subtract and the standard
        deviations, (2, D) float64; None for all others.
    """
    if scaling == "tfidf":
        return idf_weights(features)
    return _centre_and_deviation(features) if scaling == "standard" else None


class ScaledRows:
    """X whose rows are scaled when they are read, with the bits of `scale_features`.

    X may be mapped from disk. Rows of a sparse X are dense where `densify` makes X dense.

    Args:
        features: X, N x D.
        scaling: which scaling.
        statistics: what `fit_scaling` returned for the training graph.
        factor: a number that rows are multiplied by after that.
    """

    def __init__(
        self,
        features: Features,
        scaling: FeatureScaling = "none",
        statistics: npt.NDArray[Any] | None = None,
        factor: float = 1.0,
    ) -> None:
        self.features, self.scaling, self.statistics = features, scaling, statistics
        self.factor, self.shape = factor, features.shape
        self.dense = sp.issparse(features) and _is_dense(features)

    @classmethod
    def of(cls, features: Features | ScaledRows) -> ScaledRows:
        """Return rows that are not scaled, unless they are `ScaledRows` already."""
        return features if isinstance(features, ScaledRows) else cls(features)

    def __getitem__(self, nodes: NodeIndices | slice) -> Features:
        """Read some rows; those of a slice are as sparse as X."""
        if isinstance(nodes, slice):
            return self._scaled(single(self.features[nodes]))
        rows = self._scaled(take_rows(self.features, nodes))
        return rows.toarray() if self.dense and sp.issparse(rows) else rows

    def all(self) -> Features:
        """Read all rows, as sparse as X."""
        return self._scaled(self.features)

    def _scaled(self, rows: Features) -> Features:
        rows = scale_features(rows, self.scaling, self.statistics)
        return rows if self.factor == 1 else rows * np.float32(self.factor)


def is_counts(features: Features) -> bool:
    """Return whether features look like counts or indicators: never negative, mostly zero."""
    values = features.data if sp.issparse(features) else features
    density = np.count_nonzero(values) / max(1, int(np.prod(features.shape)))
    return bool(density <= MAX_COUNT_DENSITY and not (values < 0).any())


def densify(matrix: Features) -> Features:
    """Convert a sparse matrix with more than `MAX_DENSITY` non-zeros to an array.

    Dense products do many times as many operations in a second as sparse ones.
    """
    return matrix.toarray() if sp.issparse(matrix) and _is_dense(matrix) else matrix


def _is_dense(matrix: CSRMatrix) -> bool:
    return bool(matrix.nnz > MAX_DENSITY * np.prod(matrix.shape))


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
    frequency = np.zeros(features.shape[1], dtype=np.int64)
    if sp.issparse(features):
        for columns, values in zip(pieces(features.indices), pieces(features.data), strict=True):
            frequency += np.bincount(columns[values != 0], minlength=frequency.size)
    else:
        for rows in _row_blocks(features):
            frequency += np.count_nonzero(features[rows], axis=0)
    weights: npt.NDArray[np.float64] = 1 + np.log((1 + features.shape[0]) / (1 + frequency))
    return weights.astype(np.float32)


def _centre_and_deviation(features: Features) -> npt.NDArray[np.float64]:
    """Return mean (zero for sparse X) and standard deviation of each column, 2 x D.

    The deviation of a constant column is exactly 0, although its mean is rounded.
    """
    num_rows, num_columns = features.shape
    if sp.issparse(features):  # whose `sum` is in single precision
        mean = _sums_by_column(features, lambda values, _: values) / num_rows
        num_zeros = num_rows - _sums_by_column(features, lambda values, _: np.ones(values.size))
        total = _sums_by_column(features, lambda values, columns: (values - mean[columns]) ** 2)
        total += num_zeros * mean**2
    else:
        mean, total = np.zeros(num_columns), np.zeros(num_columns)
        for rows in _row_blocks(features):
            mean = np.vstack([mean, features[rows].astype(np.float64)]).sum(axis=0)
        mean /= num_rows
        for rows in _row_blocks(features):
            total += ((features[rows] - mean) ** 2).sum(axis=0)
    deviation = np.sqrt(total / num_rows)
    deviation[deviation <= num_rows * np.finfo(np.float64).eps * np.abs(mean)] = 0
    return np.stack([np.zeros_like(mean) if sp.issparse(features) else mean, deviation])


def _sums_by_column(
    features: CSRMatrix,
    term: Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[Any]],
) -> npt.NDArray[np.float64]:
    """Return the sum over each column of a function of its entries and its number."""
    sums = np.zeros(features.shape[1])
    every = np.arange(sums.size)
    for columns, values in zip(pieces(features.indices), pieces(features.data), strict=True):
        terms = np.concatenate([sums, term(values, columns)])
        sums = np.bincount(np.concatenate([every, columns]), terms)
    return sums


def _standardise(
    features: Features, centre: npt.NDArray[np.float64], deviation: npt.NDArray[np.float64]
) -> Features:
    """Subtract the centre and divide by the deviation, in blocks of rows."""
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    if sp.issparse(features):
        if not centre.any():
            data = (features.data * scale[features.indices]).astype(np.float32)
            return sp.csr_array((data, features.indices, features.indptr), shape=features.shape)
        features = features.toarray()  # the training graph was dense
    standardised = np.empty(features.shape, dtype=np.float32)
    for rows in _row_blocks(features):
        standardised[rows] = (features[rows] - centre) * scale
    return standardised


def _row_blocks(features: Features) -> Iterator[slice]:
    step = max(1, BLOCK_SIZE // max(1, features.shape[1]))
    for start in range(0, features.shape[0], step):
        yield slice(start, start + step)
