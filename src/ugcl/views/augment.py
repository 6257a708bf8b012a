"""The views of training: two of the graph with edges dropped and features masked at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views.view import Sample, View, ViewSampler, features_on

Probability = float | npt.NDArray[np.float64]
"""One for all, or one for each."""


class Augmenter(ViewSampler):
    """Two views of the whole graph, each without some edges and some columns of X.

    An edge is dropped in both directions, so that what is left is an undirected graph, and
    normalised by the degrees that are left. A column is masked for all nodes.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR; it is held once, and views differ by a mask.
        drop_edges: for each view, the probability that an edge is dropped; one for all edges, or
            for each in the order of `edge_ends`.
        mask_features: for each view, the probability that a column is masked; one for all, or for
            each.
        self_loops: weight of the self-loops in the normalisation.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        adjacency: Any,
        features: Any,
        *,
        drop_edges: tuple[Probability, Probability],
        mask_features: tuple[Probability, Probability],
        self_loops: float,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.adjacency, self.features = adjacency, features_on(features, device)
        self.drop_edges, self.mask_features = drop_edges, mask_features
        self.self_loops, self.seed, self.device = self_loops, seed, device
        self.rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
        self.edges, self.edge_of = _edges(adjacency, self.rows)

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw two views. Cost: O(N + E)."""
        first, second = zip(self.drop_edges, self.mask_features, strict=True)
        return Sample((self._view(*first, rng), self._view(*second, rng)), rng)

    def _view(self, dropped: Probability, masked: Probability, rng: np.random.Generator) -> View:
        kept = rng.random(self.edges) >= dropped
        columns = (rng.random(self.features.shape[1]) >= masked).astype(np.float32)
        adjacency = normalised_adjacency(self._without(kept), self.self_loops)
        held = SparseMatrix.from_scipy(adjacency, symmetric=True, device=self.device)
        mask = torch.from_numpy(columns).to(self.device) if np.any(masked) else None
        return View(held, self.features, None, held, mask)

    def _without(self, kept: Any) -> Any:
        """A with the edges that are kept."""
        if kept.all():
            return self.adjacency
        entries = kept[self.edge_of]
        counts = np.bincount(self.rows[entries], minlength=self.adjacency.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        parts = self.adjacency.data[entries], self.adjacency.indices[entries], starts
        return sp.csr_array(parts, shape=self.adjacency.shape)


def edge_ends(adjacency: Any) -> tuple[Any, Any]:
    """The two ends of each undirected edge, the smaller number first, in ascending order."""
    upper = sp.triu(adjacency, k=1, format="csr")
    rows = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    return rows, upper.indices.astype(np.int64)


def _edges(adjacency: Any, rows: Any) -> tuple[int, Any]:
    """How many undirected edges there are, and which of them each entry of A belongs to."""
    columns = adjacency.indices.astype(np.int64)
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    known, edge_of = np.unique(low * adjacency.shape[0] + high, return_inverse=True)
    return known.size, edge_of
