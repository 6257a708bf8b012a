"""Readouts of an untrained encoder at every n, which the label-free criteria score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from ugcl._utils.linalg import dense_rows
from ugcl._utils.random import seed_of
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.selection.choice import MAX_N
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import CSRMatrix, Features, NodeIndices
from ugcl.views import scale_features

Matrix = npt.NDArray[np.float32]

NUM_COMPONENTS = 128
"""Singular directions of the features that are kept."""


@dataclass(frozen=True)
class Readouts:
    """A graph whose features are read out at n = 0, ..., `max_n`."""

    graph: Graph
    max_n: int = MAX_N

    @cached_property
    def features(self) -> Features:
        """X with rows of L2 norm 1."""
        return scale_features(self.graph.features, "l2")

    @cached_property
    def adjacency(self) -> SparseMatrix:
        """The normalised adjacency A."""
        return smoothing_adjacency(self.graph.adjacency)

    @cached_property
    def encoded(self) -> Matrix:
        """`A X` with X reduced to its leading singular directions: an untrained encoder."""
        return self.encode(self.features)

    def encode(self, features: Features) -> Matrix:
        """Return `A X` for other features X, reduced to their leading singular directions."""
        return (self.adjacency @ torch.from_numpy(reduce_columns(features))).numpy()

    def sample_columns(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Sample half of the columns of X as a mask; neither half is empty."""
        num_columns = self.graph.num_features
        mask: npt.NDArray[np.bool_] = rng.random(num_columns) < 0.5
        mask[rng.choice(num_columns, 2, replace=False)] = (True, False)
        return mask

    def for_each_n(
        self,
        hidden: Matrix,
        nodes: NodeIndices | None = None,
        adjacency: SparseMatrix | None = None,
    ) -> Iterator[Matrix]:
        """Yield `(H + A^n H) / 2` for n = 0, ..., `max_n`: all rows, or those of `nodes`.

        Cost: O(nnz(A) D) for each n.
        """
        matrix = (adjacency or self.adjacency).matrix
        rows = slice(None) if nodes is None else torch.from_numpy(nodes)
        start = torch.from_numpy(hidden)
        context, buffer = start.clone(), torch.empty_like(start)
        for n in range(self.max_n + 1):
            yield ((start[rows] + context[rows]) / 2).numpy()
            if n < self.max_n:
                multiply(matrix, context, out=buffer)
                context, buffer = buffer, context


def smoothing_adjacency(adjacency: CSRMatrix) -> SparseMatrix:
    """Return the normalised adjacency with the self-loops used for smoothing features."""
    return SparseMatrix.from_scipy(
        normalised_adjacency(adjacency, SMOOTHING_SELF_LOOPS), symmetric=True
    )


def reduce_columns(matrix: Features, num_components: int = NUM_COMPONENTS) -> Matrix:
    """Project onto the leading singular directions (randomised SVD), if there are more columns."""
    if matrix.shape[1] <= num_components:
        return dense_rows(matrix).astype(np.float32, copy=False)
    from sklearn.utils.extmath import randomized_svd

    rank = min(num_components, matrix.shape[0])
    left, values, _ = randomized_svd(matrix, rank, n_iter=2, random_state=seed_of("svd"))
    return np.ascontiguousarray(left * values, dtype=np.float32)
