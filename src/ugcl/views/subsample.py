"""The views of training: a fresh subgraph in every epoch."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch

from ugcl.scope import Component, Context, Power, Scope, lazy, normalised_adjacency, unit_radius
from ugcl.views.sampling import Nodes, Sampling, row_entries, sample_nodes
from ugcl.views.scaling import dense_if_crowded
from ugcl.views.view import Sample, View, ViewSampler

Normalisation = Literal["graph", "subgraph"]

DEEP = 10
"""Beyond so many steps a sliced subgraph is scaled, lest float32 lose what is left."""


class Subsampler(ViewSampler):
    """One view: a subgraph of S nodes, drawn anew in every epoch.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR.
        size: S; with S = N the one view is the graph itself.
        sampling: how the nodes are drawn.
        normalisation: `graph` slices the subgraph out of the normalised adjacency of the whole
            graph; `subgraph` normalises the subgraph by its own degrees.
        self_loops: weight of the self-loops in the normalisation.
        context: whether contexts are powers of A or of `(I + A)/2`.
        scope: what the contexts are to summarise. A sliced subgraph has no other limit than zero,
            so a component is that of the subgraph normalised by its own degrees.
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
        scope: Scope | None = None,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.structure, self.features = adjacency, dense_if_crowded(features)
        self.size, self.sampling, self.seed, self.device = size, sampling, seed, device
        self.self_loops, self.context, self.scope = self_loops, context, scope
        whole = normalised_adjacency(adjacency, self_loops)
        self.sliced = None if normalisation == "subgraph" else whole
        self.place = np.full(adjacency.shape[0], -1, dtype=np.int64)
        self.whole: View | None = None
        if size == adjacency.shape[0]:
            self.sliced = None
            self.whole = self._view(whole, features)

    def draw(self, rng: np.random.Generator) -> Sample:
        """Sample nodes and make their view. Cost: O(S + edges of the S nodes)."""
        if self.whole is not None:
            return Sample((self.whole,), rng)
        nodes, adjacency, features = self.cut(rng)
        return Sample((self._view(adjacency, features, nodes),), rng)

    def cut(self, rng: np.random.Generator) -> tuple[Nodes, Any, Any]:
        """Sample nodes and cut out their normalised adjacency and features."""
        nodes = sample_nodes(self.structure, self.size, self.sampling, rng)
        if self.sliced is not None:
            adjacency = self._induced(self.sliced, nodes)
        else:
            adjacency = self._own(nodes)
        return nodes, adjacency, self.features[nodes]

    def _view(self, adjacency: Any, features: Any, nodes: Nodes | None = None) -> View:
        sliced = nodes if self.sliced is not None else None
        if isinstance(self.scope, Component):  # the limit of lazy steps, too
            steps = None if sliced is None else self._own(sliced)
        else:
            steps = lazy(adjacency) if self.context == "lazy" else None
            deep = isinstance(self.scope, Power) and self.scope.n > DEEP
            if sliced is not None and deep:
                steps = unit_radius(adjacency if steps is None else steps)
        return View.of(adjacency, features, self.device, steps=steps)

    def _own(self, nodes: Nodes) -> Any:
        """The subgraph that the nodes induce, normalised by its own degrees."""
        return normalised_adjacency(self._induced(self.structure, nodes), self.self_loops)

    def _induced(self, adjacency: Any, nodes: Nodes) -> Any:
        """The CSR rows and columns `nodes`, in that order."""
        positions, counts = row_entries(adjacency, nodes)
        self.place[nodes] = np.arange(nodes.size)
        columns = self.place[adjacency.indices[positions]]
        self.place[nodes] = -1
        inside = columns >= 0
        rows = np.repeat(np.arange(nodes.size), counts)[inside]
        return sp.csr_array(
            (adjacency.data[positions[inside]], (rows, columns[inside])),
            shape=(nodes.size, nodes.size),
        )
