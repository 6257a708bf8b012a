"""`diagnose`: statistics of a graph, a suggested method, its cost, and warnings."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ugcl.check.cost import Cost, estimate_cost
from ugcl.check.graph_warnings import graph_warnings
from ugcl.data.readers.structural import steps_of
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET, Settings, TrainingSettings, get_method

logger = logging.getLogger(__name__)

MAX_WALK_NODES = 50_000
"""Nodes up to which random walks are suggested for a graph without features."""

WALKS = (
    "there are no features, and on edges alone random walks were as good as ugcl or better; they "
    "cannot embed nodes that come later, which ugcl and multiscope can"
)

DEFAULT = "the default, with one setting for all graphs"


@dataclass(frozen=True)
class Diagnosis:
    """The result of `diagnose`.

    Attributes:
        graph: the graph.
        components: the number of connected components; a node without edges is one.
        largest: the number of nodes of the largest component.
        isolated: the number of nodes without edges.
        degrees: mean, median, 99th percentile and largest number of neighbours.
        method: the suggested method.
        settings: its settings for this graph.
        why: the reason for the method and the scope.
        cost: the cost of training with them; None for a method that is not trained.
        graph_warnings: what looks wrong, one sentence each.
    """

    graph: Graph
    components: int
    largest: int
    isolated: int
    degrees: dict[str, float]
    method: str
    settings: Settings
    why: str
    cost: Cost | None
    graph_warnings: tuple[str, ...]

    @property
    def scope(self) -> Any:
        """The suggested scope; None for a method without one."""
        return self.settings.values().get("scope")

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        graph = self.graph
        return {
            "graph": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "sparse_features": bool(sp.issparse(graph.features)),
            "classes": graph.num_classes,
            "labelled": 0 if graph.labels is None else int((graph.labels >= 0).sum()),
            "split": {part: int(nodes.size) for part, nodes in graph.splits.items()},
            "weighted": graph.weighted,
            "notes": list(graph.notes),
            "components": self.components,
            "largest_component": self.largest,
            "isolated": self.isolated,
            "degrees": self.degrees,
            "suggested": {"method": self.method, "scope": self.scope, "why": self.why},
            "cost": None if self.cost is None else asdict(self.cost) | {"fits": self.cost.fits},
            "looks_wrong": list(self.graph_warnings),
        }


def diagnose(graph: Graph) -> Diagnosis:
    """Check a graph before training; a few training steps are timed."""
    component_sizes = np.bincount(connected_components(graph.adjacency, directed=False)[1])
    num_neighbours = np.diff(graph.adjacency.indptr)
    degrees = {
        "mean": float(num_neighbours.mean()),
        "median": float(np.median(num_neighbours)),
        "p99": float(np.percentile(num_neighbours, 99)),
        "largest": float(num_neighbours.max()),
    }
    method, settings, why = _suggest(graph)
    cost = None
    if isinstance(settings, TrainingSettings):
        logger.info("timing a few training steps")
        cost = estimate_cost(graph, method, settings)
    return Diagnosis(
        graph,
        component_sizes.size,
        int(component_sizes.max()),
        int((num_neighbours == 0).sum()),
        degrees,
        method,
        settings,
        why,
        cost,
        graph_warnings(graph, component_sizes),
    )


def _suggest(graph: Graph) -> tuple[str, Settings, str]:
    """Return method, settings and the reason."""
    if graph.num_edges == 0 or graph.num_nodes < 2:
        settings = get_method("raw").resolve(DEFAULT_PRESET, graph, {})
        return "raw", settings, "there are no edges to learn from: use the features as they are"
    if steps_of(graph.feature_names) and graph.num_nodes <= MAX_WALK_NODES:
        return "deepwalk", get_method("deepwalk").resolve(DEFAULT_PRESET, graph, {}), WALKS
    settings = get_method(DEFAULT_METHOD).resolve(DEFAULT_PRESET, graph, {})
    return DEFAULT_METHOD, settings, DEFAULT
