"""A fresh subgraph in every step: UGCL's view."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ugcl._utils.rows import induced
from ugcl.scope import (
    Component,
    Power,
    Scope,
    degree_scale,
    lazy,
    normalised_adjacency,
    normalised_slice,
    scope_of,
    unit_radius,
)
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
from ugcl.views.node_sampling import sample_nodes
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.scaling import ScaledRows
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

    reads_rows = True

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

    def setup(self, adjacency: CSRMatrix, features: ScaledRows, device: Device) -> None:
        """Compute the degrees; with S = N also build the one view."""
        num_nodes = adjacency.shape[0]
        self.num_sampled = num_nodes if self.size == "all" else self.size
        self.adjacency, self.features, self.device = adjacency, features, device
        self.scale: npt.NDArray[np.float64] | None = None
        self.full_view: View | None = None
        if self.num_sampled == num_nodes:
            normalised = normalised_adjacency(adjacency, self.self_loops)
            self.full_view = self._view(normalised, features.all())
        elif self.normalisation == "graph":
            self.scale = degree_scale(adjacency, self.self_loops)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample nodes and build their view. Cost: O(S + edges of the S nodes)."""
        if self.full_view is not None:
            return Sample((self.full_view,))
        nodes, adjacency, features = self.cut(rng)
        return Sample((self._view(adjacency, features, nodes),))

    def cut(self, rng: np.random.Generator) -> tuple[NodeIndices, CSRMatrix, Features]:
        """Sample nodes and return them with their normalised adjacency and features."""
        nodes = sample_nodes(self.adjacency, self.num_sampled, self.sampling, rng)
        edges = self._induced(nodes)
        if self.scale is not None:
            adjacency = normalised_slice(edges, self.scale[nodes], self.self_loops)
        else:
            adjacency = normalised_adjacency(edges, self.self_loops)
        return nodes, adjacency, self.features[nodes]

    def _view(
        self, adjacency: CSRMatrix, features: Features, nodes: NodeIndices | None = None
    ) -> View:
        sliced = nodes if self.scale is not None else None
        if isinstance(self.scope, Component):  # the limit of lazy powers, too
            propagation = None
            if sliced is not None:
                propagation = normalised_adjacency(self._induced(sliced), self.self_loops)
        else:
            propagation = lazy(adjacency) if self.context == "lazy" else None
            deep = isinstance(self.scope, Power) and self.scope.n > DEEP
            if sliced is not None and deep:
                propagation = unit_radius(adjacency if propagation is None else propagation)
        return View.of(adjacency, features, self.device, propagation=propagation)

    def _induced(self, nodes: NodeIndices) -> CSRMatrix:
        """Return the rows and columns `nodes` of A."""
        return induced(self.adjacency, nodes)
