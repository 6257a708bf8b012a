"""A fresh subgraph in every step: UGCL's view."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp

from ugcl.scope import Component, Power, Scope, lazy, normalised_adjacency, scope_of, unit_radius
from ugcl.typing import (
    ContextKind,
    CSRMatrix,
    Device,
    Features,
    NodeIndices,
    Normalisation,
    Sampling,
    ScopeName,
)
from ugcl.views.node_sampling import row_entries, sample_nodes
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.scaling import densify
from ugcl.views.view import View

DEEP = 10
"""From this power on a sliced subgraph is rescaled, or float32 would underflow."""


class Subsampler(ViewSampler):
    """One view: the subgraph that S sampled nodes induce.

    Args:
        size: S, or "all": then the one view is the graph itself.
        sampling: how the nodes are sampled.
        normalisation: `graph` slices the subgraph out of the normalised adjacency of the whole
            graph; `subgraph` normalises the subgraph by its own degrees.
        self_loops: weight of the self-loops in the normalisation.
        context: whether contexts are powers of A or of `(I + A)/2`.
        scope: the scope of the contexts. Powers of a sliced subgraph converge to zero, so the
            scope `Component` uses the subgraph normalised by its own degrees.
    """

    def __init__(
        self,
        *,
        size: int | Literal["all"],
        sampling: Sampling,
        normalisation: Normalisation,
        self_loops: float,
        context: ContextKind = "power",
        scope: Scope | int | ScopeName | None = None,
    ) -> None:
        self.size, self.sampling, self.normalisation = size, sampling, normalisation
        self.self_loops, self.context = self_loops, context
        self.scope = scope_of(scope) if isinstance(scope, int | str) else scope

    def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
        """Normalise the adjacency; with S = N also build the one view."""
        num_nodes = adjacency.shape[0]
        self.num_sampled = num_nodes if self.size == "all" else self.size
        self.adjacency, self.features, self.device = adjacency, densify(features), device
        self.sliced: CSRMatrix | None = None
        self.position = np.full(num_nodes, -1, dtype=np.int64)
        self.full_view: View | None = None
        normalised = normalised_adjacency(adjacency, self.self_loops)
        if self.num_sampled == num_nodes:
            self.full_view = self._view(normalised, features)
        elif self.normalisation == "graph":
            self.sliced = normalised

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample nodes and build their view. Cost: O(S + edges of the S nodes)."""
        if self.full_view is not None:
            return Sample((self.full_view,))
        nodes, adjacency, features = self.cut(rng)
        return Sample((self._view(adjacency, features, nodes),))

    def cut(self, rng: np.random.Generator) -> tuple[NodeIndices, CSRMatrix, Features]:
        """Sample nodes and return them with their normalised adjacency and features."""
        nodes = sample_nodes(self.adjacency, self.num_sampled, self.sampling, rng)
        if self.sliced is not None:
            adjacency = self._induced(self.sliced, nodes)
        else:
            adjacency = self._renormalised(nodes)
        return nodes, adjacency, self.features[nodes]

    def _view(
        self, adjacency: CSRMatrix, features: Features, nodes: NodeIndices | None = None
    ) -> View:
        sliced = nodes if self.sliced is not None else None
        if isinstance(self.scope, Component):  # the limit of lazy powers, too
            propagation = None if sliced is None else self._renormalised(sliced)
        else:
            propagation = lazy(adjacency) if self.context == "lazy" else None
            deep = isinstance(self.scope, Power) and self.scope.n > DEEP
            if sliced is not None and deep:
                propagation = unit_radius(adjacency if propagation is None else propagation)
        return View.of(adjacency, features, self.device, propagation=propagation)

    def _renormalised(self, nodes: NodeIndices) -> CSRMatrix:
        """Return the induced subgraph, normalised by its own degrees."""
        return normalised_adjacency(self._induced(self.adjacency, nodes), self.self_loops)

    def _induced(self, adjacency: CSRMatrix, nodes: NodeIndices) -> CSRMatrix:
        """Return the rows and columns `nodes` of a CSR matrix, in that order."""
        positions, counts = row_entries(adjacency, nodes)
        self.position[nodes] = np.arange(nodes.size)
        columns = self.position[adjacency.indices[positions]]
        self.position[nodes] = -1
        inside = columns >= 0
        rows = np.repeat(np.arange(nodes.size), counts)[inside]
        return sp.csr_array(
            (adjacency.data[positions[inside]], (rows, columns[inside])),
            shape=(nodes.size, nodes.size),
        )
