"""Readouts of an untrained encoder at every n, which the label-free criteria score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.selection.choice import MAX_N
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import CSRMatrix, Features, NodeIndices
from ugcl.views import reduce_columns, scale_features

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

    def encode(self, features: Features, max_rows: int | None = None) -> Matrix:
        """Return `A X` for other features X, reduced to their leading singular directions."""
        reduced = reduce_columns(features, NUM_COMPONENTS, max_rows)
        return (self.adjacency @ torch.from_numpy(reduced)).numpy()

    def sample_columns(self, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Sample half of the columns of X as a mask; neither half is empty."""
        return random_half(self.graph.num_features, rng)

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
        start = torch.from_numpy(hidden)
        rows = torch.arange(len(start)) if nodes is None else torch.from_numpy(nodes)
        own = start[rows]
        context, buffer = start.clone(), torch.empty_like(start)
        for n in range(self.max_n + 1):
            yield context[rows].add_(own).div_(2).numpy()
            if n < self.max_n:
                multiply(matrix, context, out=buffer)
                context, buffer = buffer, context


def smoothing_adjacency(adjacency: CSRMatrix) -> SparseMatrix:
    """Return the normalised adjacency with the self-loops used for smoothing features."""
    return SparseMatrix.from_scipy(
        normalised_adjacency(adjacency, SMOOTHING_SELF_LOOPS), symmetric=True
    )


def random_half(count: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Sample a mask that is True for half of its entries on average; neither half is empty."""
    mask: npt.NDArray[np.bool_] = rng.random(count) < 0.5
    mask[rng.choice(count, 2, replace=False)] = (True, False)
    return mask
