"""Two augmented views of the graph: edges dropped and features masked at random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.typing import Centrality, CSRMatrix, Device, Features
from ugcl.views.centrality import centrality, drop_probabilities, edge_weights, feature_weights
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.view import View, features_to

Probability = float | npt.NDArray[np.float64]
"""One probability for all edges or columns, or one for each."""


class RandomAugmentation(ViewSampler):
    """Two views of the whole graph, each without some edges and some columns of X (GRACE).

    An edge is dropped in both directions, so a view is an undirected graph, normalised by its own
    degrees. A column is masked for all nodes.

    Args:
        drop_edges: for each view, the probability that an edge is dropped.
        mask_features: for each view, the probability that a column of X is masked.
        self_loops: weight of the self-loops in the normalisation.
    """

    def __init__(
        self,
        *,
        drop_edges: tuple[float, float],
        mask_features: tuple[float, float],
        self_loops: float,
    ) -> None:
        self.drop_edges, self.mask_features = drop_edges, mask_features
        self.self_loops = self_loops

    def probabilities(
        self, adjacency: CSRMatrix, features: Features
    ) -> list[tuple[Probability, Probability]]:
        """Return for each view how likely edges are dropped and columns are masked."""
        return list(zip(self.drop_edges, self.mask_features, strict=True))

    def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
        """Number the undirected edges; X is stored once, the views differ by a mask."""
        self._probabilities = self.probabilities(adjacency, features)
        self.adjacency, self.features = adjacency, features_to(features, device)
        self.device = device
        self.rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
        columns = adjacency.indices.astype(np.int64)
        low, high = np.minimum(self.rows, columns), np.maximum(self.rows, columns)
        edges, self.edge_of_entry = np.unique(low * adjacency.shape[0] + high, return_inverse=True)
        self.num_edges = edges.size

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample both views. Cost: O(N + E)."""
        first, second = self._probabilities
        return Sample((self._view(*first, rng), self._view(*second, rng)))

    def _view(self, drop: Probability, mask: Probability, rng: np.random.Generator) -> View:
        kept = rng.random(self.num_edges) >= drop
        columns = (rng.random(self.features.shape[1]) >= mask).astype(np.float32)
        adjacency = normalised_adjacency(self._keep_edges(kept), self.self_loops)
        matrix = SparseMatrix.from_scipy(adjacency, symmetric=True, device=self.device)
        feature_mask = torch.from_numpy(columns).to(self.device) if np.any(mask) else None
        return View(matrix, self.features, None, matrix, feature_mask)

    def _keep_edges(self, kept: npt.NDArray[np.bool_]) -> CSRMatrix:
        if kept.all():
            return self.adjacency
        entries = kept[self.edge_of_entry]
        counts = np.bincount(self.rows[entries], minlength=self.adjacency.shape[0])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        parts = self.adjacency.data[entries], self.adjacency.indices[entries], indptr
        return sp.csr_array(parts, shape=self.adjacency.shape)


class AdaptiveAugmentation(RandomAugmentation):
    """Two views with drop probabilities that depend on centrality (GCA).

    Edges and features of nodes with low centrality are dropped with higher probability.

    Args:
        kind: the centrality.
        drop_edges: for each view, the mean probability that an edge is dropped.
        mask_features: for each view, the mean probability that a column of X is masked.
        max_drop: the highest probability with which anything is dropped.
        self_loops: weight of the self-loops in the normalisation.
    """

    def __init__(
        self,
        *,
        kind: Centrality,
        drop_edges: tuple[float, float],
        mask_features: tuple[float, float],
        max_drop: float,
        self_loops: float,
    ) -> None:
        super().__init__(drop_edges=drop_edges, mask_features=mask_features, self_loops=self_loops)
        self.kind, self.max_drop = kind, max_drop

    def probabilities(
        self, adjacency: CSRMatrix, features: Features
    ) -> list[tuple[Probability, Probability]]:
        """Return the probabilities by the centralities of the graph's nodes."""
        nodes = centrality(adjacency, self.kind)
        edges = edge_weights(nodes, *undirected_edges(adjacency))
        columns = feature_weights(nodes, features)
        return [
            (
                drop_probabilities(edges, drop, self.max_drop),
                drop_probabilities(columns, mask, self.max_drop),
            )
            for drop, mask in zip(self.drop_edges, self.mask_features, strict=True)
        ]


def undirected_edges(
    adjacency: CSRMatrix,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return both endpoints of each undirected edge, the lower first, in ascending order."""
    upper = sp.triu(adjacency, k=1, format="csr")
    rows = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    return rows, upper.indices.astype(np.int64)
