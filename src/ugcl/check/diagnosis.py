"""`diagnose`: statistics of a graph, a suggested method, its cost, and warnings."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl.check.components import component_sizes
from ugcl.check.cost import Cost, estimate_cost
from ugcl.check.graph_warnings import graph_warnings
from ugcl.data.readers.structural import steps_of
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET, Settings, TrainingSettings, get_method
from ugcl.selection import resolve_scope

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

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings that the preset leaves to the graph: training need not choose them again."""
        preset = get_method(self.method).preset(DEFAULT_PRESET).values(self.graph.name)
        values = self.settings.values()
        return {name: values[name] for name, value in preset.items() if value == "auto"}

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
            "suggested": {
                "method": self.method,
                "scope": self.scope,
                "why": self.why,
                "chosen": self.chosen,
            },
            "cost": None if self.cost is None else asdict(self.cost) | {"fits": self.cost.fits},
            "looks_wrong": list(self.graph_warnings),
        }


def diagnose(graph: Graph, method: str | None = None) -> Diagnosis:
    """Check a graph before training; a few training steps are timed.

    Of more than `LARGE_GRAPH` nodes, features, labels of neighbours and what a preset leaves to the
    graph are those of samples.

    Args:
        graph: the graph.
        method: the method to train; by default one is suggested.
    """
    sizes = component_sizes(graph.adjacency)
    num_neighbours = np.diff(graph.adjacency.indptr)
    degrees = {
        "mean": float(num_neighbours.mean()),
        "median": float(np.median(num_neighbours)),
        "p99": float(np.percentile(num_neighbours, 99)),
        "largest": float(num_neighbours.max()),
    }
    name, why = _suggest(graph) if method is None else (method, "as asked")
    known, cost = get_method(name), None
    settings, choice = resolve_scope(known.resolve(DEFAULT_PRESET, graph, {}), graph)
    if choice is not None:
        why += f"; n: {choice.why}"
    if isinstance(settings, TrainingSettings):
        known.check(graph)
        logger.info("timing a few training steps")
        cost = estimate_cost(graph, name, settings)
    return Diagnosis(
        graph,
        sizes.size,
        int(sizes.max()),
        int((num_neighbours == 0).sum()),
        degrees,
        name,
        settings,
        why,
        cost,
        graph_warnings(graph, sizes),
    )


def _suggest(graph: Graph) -> tuple[str, str]:
    """Return the method and the reason."""
    if graph.num_edges == 0 or graph.num_nodes < 2:
        return "raw", "there are no edges to learn from: use the features as they are"
    if steps_of(graph.feature_names) and graph.num_nodes <= MAX_WALK_NODES:
        return "deepwalk", WALKS
    return DEFAULT_METHOD, DEFAULT
