"""The views of training: a fresh subgraph in every epoch."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch

from ugcl.scope import Context, normalised_adjacency
from ugcl.views.features import dense_if_crowded
from ugcl.views.sampling import Nodes, Sampling, row_entries, sample_nodes
from ugcl.views.view import View

Normalisation = Literal["graph", "subgraph"]


class Subsampler:
    """The views that training sees: a subgraph of S nodes, drawn anew in every epoch.

    Each view is a function of the seed and the epoch alone, so a run that was interrupted needs no
    state of a random number generator to go on as if it had not been.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR.
        size: S; with S = N the one view is the graph itself.
        sampling: how the nodes are drawn.
        normalisation: `graph` slices the subgraph out of the normalised adjacency of the whole
            graph; `subgraph` normalises the subgraph by its own degrees.
        self_loops: weight of the self-loops in the normalisation.
        context: whether contexts are powers of A or of `(I + A)/2`.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        adjacency: Any,
        features: Any,
        *,
        size: int,
        sampling: Sampling,
        normalisation: Normalisation,
        self_loops: float,
        context: Context = "power",
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.structure, self.features = adjacency, dense_if_crowded(features)
        self.size, self.sampling, self.seed, self.device = size, sampling, seed, device
        self.self_loops, self.context = self_loops, context
        self.renormalise = normalisation == "subgraph"
        whole = normalised_adjacency(adjacency, self_loops)
        self.adjacency = adjacency if self.renormalise else whole
        self.place = np.full(adjacency.shape[0], -1, dtype=np.int64)
        self.whole = (
            View.of(whole, features, device, context=context)
            if size == adjacency.shape[0]
            else None
        )

    def rng(self, epoch: int) -> np.random.Generator:
        """The source of randomness of an epoch."""
        return np.random.default_rng([self.seed, epoch])

    def draw(self, rng: np.random.Generator) -> View:
        """Sample nodes and make their view. Cost: O(S + edges of the S nodes)."""
        if self.whole is not None:
            return self.whole
        return View.of(*self.cut(rng), self.device, context=self.context)

    def cut(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Sample nodes and cut out their normalised adjacency and features."""
        nodes = sample_nodes(self.structure, self.size, self.sampling, rng)
        adjacency = self._induced(nodes)
        if self.renormalise:
            adjacency = normalised_adjacency(adjacency, self.self_loops)
        return adjacency, self.features[nodes]

    def _induced(self, nodes: Nodes) -> Any:
        """The subgraph that the nodes induce: the CSR rows and columns `nodes`, in that order."""
        positions, counts = row_entries(self.adjacency, nodes)
        self.place[nodes] = np.arange(nodes.size)
        columns = self.place[self.adjacency.indices[positions]]
        self.place[nodes] = -1
        inside = columns >= 0
        rows = np.repeat(np.arange(nodes.size), counts)[inside]
        return sp.csr_array(
            (self.adjacency.data[positions[inside]], (rows, columns[inside])),
            shape=(nodes.size, nodes.size),
        )
