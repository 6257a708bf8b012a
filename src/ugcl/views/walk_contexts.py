"""Contexts by random walks: each node is paired with a node of its contextual scope."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch

from ugcl._utils.rows import others
from ugcl.sparse import SparseMatrix
from ugcl.typing import CSRMatrix, Device, Features, NodeIndices
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.scaling import ScaledRows
from ugcl.views.view import View, rows_to
from ugcl.views.walks import Walker


class WalkContexts(ViewSampler):
    """Two views: random nodes, and for each of them the end of a random walk of n steps.

    The end is distributed as row v of `(D^-1 A)^n`, so in expectation the second view has the
    contexts `(D^-1 A)^n X` of the first: n is the contextual scope, at the cost of a sample. In
    each row random entries of X are masked. Cost of a sample: O(S n) look-ups and S rows of X,
    whatever the size of the graph.

    Args:
        size: S, nodes of each view, or "all".
        scope: n, steps of the walks.
        mask_features: fraction of the entries of X that are masked.
        self_loops: weight of the self-loops in the normalised adjacency, for the readout.
    """

    reads_rows = True

    def __init__(
        self, *, size: int | Literal["all"], scope: int, mask_features: float, self_loops: float
    ) -> None:
        self.size, self.scope, self.mask_features = size, scope, mask_features
        self.self_loops = self_loops

    def setup(self, adjacency: CSRMatrix, features: ScaledRows, device: Device) -> None:
        """Prepare the walks."""
        self.walker, self.features, self.device = Walker(adjacency), features, device
        self.held_out = np.empty(0, dtype=np.int64)

    def without(self, held_out: NodeIndices) -> None:
        """Sample no held-out nodes any more. Cost: that of their neighbours' rows, once."""
        self.held_out = np.sort(held_out)
        self.walker = self.walker.without(self.held_out)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample nodes and walks from them."""
        count = self.walker.size - self.held_out.size
        size = count if self.size == "all" else min(self.size, count)
        anchors = others(self.held_out, rng.choice(count, size, replace=False, shuffle=False))
        return self.pairs(anchors, self.walker.ends(anchors, self.scope, rng), rng)

    def pairs(
        self, anchors: NodeIndices, contexts: NodeIndices, rng: np.random.Generator | None
    ) -> Sample:
        """Return the views of given nodes; without a generator nothing is masked."""
        parts = anchors, contexts
        return Sample(
            tuple(self._view(nodes, rng) for nodes in parts),
            nodes=tuple(torch.from_numpy(nodes).to(self.device) for nodes in parts),
        )

    def _view(self, nodes: NodeIndices, rng: np.random.Generator | None) -> View:
        rows = self.features[nodes]
        if rng is not None and self.mask_features:
            entries = rows.data if sp.issparse(rows) else rows
            kept = rng.random(entries.shape, dtype=np.float32) >= self.mask_features
            entries *= kept / np.float32(1 - self.mask_features)
            if sp.issparse(rows):
                rows.eliminate_zeros()  # products need not multiply them
        return rows_view(rows, self.device)


def rows_view(features: Features, device: Device) -> View:
    """Return the view of nodes without their edges, for encoders of features."""
    size = features.shape[0]
    empty = SparseMatrix.from_scipy(
        sp.csr_array((size, size), dtype=np.float32), symmetric=True, device=device
    )
    return View(empty, rows_to(features, device), None, empty)
