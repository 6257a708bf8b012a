"""What the estimators of n look at: the graph's features, read out at every n as UGCL does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.extmath import randomized_svd

from ugcl._utils.linalg import dense_rows
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.selection.choice import MAX_N
from ugcl.sparse import SparseMatrix, multiply
from ugcl.views import scale_features

Matrix = npt.NDArray[np.float32]

COLUMNS = 128
"""Leading directions of the features that are looked at."""


@dataclass(frozen=True)
class Readouts:
    """A graph's features and its normalised adjacency, to be read out at n = 0, ..., `most`."""

    graph: Graph
    max_n: int = MAX_N

    @cached_property
    def features(self) -> Any:
        """X with rows of length 1, sparse where the graph's are."""
        return scale_features(self.graph.features, "l2")

    def part(self, columns: npt.NDArray[np.bool_], nodes: Any = slice(None)) -> Any:
        """Some columns of X as they are: rows scaled as a whole would tell of the others."""
        return self.graph.features[nodes][:, columns]

    def halves(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Whether each column of X is in the first of two random halves; neither is empty."""
        count = self.graph.num_features
        first: npt.NDArray[np.bool_] = rng.random(count) < 0.5
        first[rng.choice(count, 2, replace=False)] = (True, False)
        return first

    @cached_property
    def adjacency(self) -> SparseMatrix:
        """The normalised adjacency."""
        return SparseMatrix.from_scipy(
            normalised_adjacency(self.graph.adjacency, SMOOTHING_SELF_LOOPS), symmetric=True
        )

    @cached_property
    def encoded(self) -> Matrix:
        """`A X`, an encoder that has learnt nothing, in X's leading directions."""
        return self.encode(sketch(self.features, COLUMNS))

    def encode(self, features: Matrix) -> Matrix:
        """`A X` of other features."""
        return (self.adjacency @ torch.from_numpy(features)).numpy()

    def of(
        self,
        hidden: Matrix,
        nodes: npt.NDArray[np.int64] | None = None,
        adjacency: SparseMatrix | None = None,
    ) -> Iterator[Matrix]:
        """`(H + A^n H) / 2` for n = 0, ..., `most`: all rows, or those of some nodes."""
        matrix = (adjacency or self.adjacency).matrix
        rows = slice(None) if nodes is None else torch.from_numpy(nodes)
        start = torch.from_numpy(hidden)
        context, other = start.clone(), torch.empty_like(start)
        for n in range(self.max_n + 1):
            yield ((start[rows] + context[rows]) / 2).numpy()
            if n < self.max_n:
                multiply(matrix, context, out=other)
                context, other = other, context


def sketch(matrix: Any, columns: int) -> Matrix:
    """The matrix in about its leading directions, by a randomised method; a narrow one as it is."""
    if matrix.shape[1] <= columns:
        return dense_rows(matrix).astype(np.float32, copy=False)
    left, values, _ = randomized_svd(
        matrix, min(columns, matrix.shape[0]), n_iter=2, random_state=0
    )
    return np.ascontiguousarray(left * values, dtype=np.float32)
