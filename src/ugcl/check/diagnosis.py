"""A look at a graph before training: what it is like, what training takes, what looks wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from ugcl.check.graph_warnings import graph_warnings
from ugcl.data.readers.structural import steps_of
from ugcl.engine import kept_memory, new_optimizer, resolve_device, step
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, Settings, Shape, TrainedSettings, method_named
from ugcl.scope import normalised_adjacency
from ugcl.selection import resolve_scope
from ugcl.sparse import SparseMatrix, multiply

STEPS = 3
"""Steps that are timed, after a first one that is not."""

PARAMETERS, STEP_ARRAYS, EMBEDDING, GRAPH = 4, 12, 1.4, 3
"""How often memory holds the parameters (with gradients and Adam's two moments), arrays of S x D in
a step, the embeddings and the graph; the third is also how embedding compares with the time of its
sparse products. Measured; a test holds the estimate to what training takes."""

SECONDS = 5.0
"""Steps are tried for about so long at most."""

WALKED = 50_000
"""Up to so many nodes random walks are suggested for a graph without features."""

WALKS = (
    "there are no features, and on edges alone random walks were as good as ugcl or better; they "
    "cannot embed nodes that come later, which --method ugcl can"
)

BLOCK = 16
"""Columns of the product that is timed."""


@dataclass(frozen=True)
class Cost:
    """What training takes.

    Attributes:
        memory_bytes: the most memory that training and embedding hold, estimated.
        available_bytes: how much this machine has free; None where it does not tell.
        seconds: of training and embedding, from steps that were timed here; None where there is
            not enough memory to try.
        step_seconds: of one step, the same.
    """

    memory_bytes: int
    available_bytes: int | None
    seconds: float | None
    step_seconds: float | None

    @property
    def fits(self) -> bool:
        """Whether the memory suffices, as far as is known."""
        return self.available_bytes is None or self.memory_bytes < self.available_bytes


@dataclass(frozen=True)
class Diagnosis:
    """What `ugcl check` tells about a graph.

    Attributes:
        graph: the graph.
        components: how many connected components it has; a node without edges is one.
        largest: how many nodes the largest has.
        isolated: how many nodes have no edge.
        degrees: the mean, median, 99th percentile and largest number of neighbours.
        method: the method that is suggested.
        settings: its settings for this graph.
        why: the reason for the method and the scope.
        cost: what training with them takes; None for a method that is not trained.
        oddities: what looks wrong, a sentence each.
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
        """The scope that is suggested; None for a method without one."""
        return self.settings.values().get("scope")

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
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


def diagnose(graph: Graph, tell: Callable[[str], None] = lambda text: None) -> Diagnosis:
    """Look at a graph; a few steps of training are tried and timed.

    Args:
        graph: the graph.
        tell: is told what takes time.
    """
    components = np.bincount(connected_components(graph.adjacency, directed=False)[1])
    counts = np.diff(graph.adjacency.indptr)
    degrees = {
        "mean": float(counts.mean()),
        "median": float(np.median(counts)),
        "p99": float(np.percentile(counts, 99)),
        "largest": float(counts.max()),
    }
    method, settings, why = _suggested(graph, tell)
    cost = None
    if isinstance(settings, TrainedSettings):
        tell("timing a few steps of training")
        cost = estimate_cost(graph, method, settings)
    return Diagnosis(
        graph,
        components.size,
        int(components.max()),
        int((counts == 0).sum()),
        degrees,
        method,
        settings,
        why,
        cost,
        graph_warnings(graph, components),
    )


def _suggested(graph: Graph, tell: Callable[[str], None]) -> tuple[str, Settings, str]:
    """Method, settings and the reason."""
    if graph.num_edges == 0 or graph.num_nodes < 2:
        settings = method_named("raw").resolve(DEFAULT_PRESET, graph, {})
        return "raw", settings, "there are no edges to learn from: use the features as they are"
    if steps_of(graph.feature_names) and graph.num_nodes <= WALKED:
        return "deepwalk", method_named("deepwalk").resolve(DEFAULT_PRESET, graph, {}), WALKS
    asked = method_named("ugcl").resolve(DEFAULT_PRESET, graph, {})
    settings, choice = resolve_scope(asked, graph, tell)
    if choice is None:
        return "ugcl", settings, "the preset of this data set"
    return "ugcl", settings, choice.why


def estimate_cost(graph: Graph, method: str, settings: TrainedSettings) -> Cost:
    """What it takes to train UGCL, or a method of its shape, on a graph on this machine's CPU.

    Memory is GRAPH times the graph, and the larger of what a step of training and what embedding
    holds; time is that of some steps and of one sparse product, which are tried.
    """
    values = settings.values()
    width = int(values["hidden"])
    sample = values.get("sample", "all")
    sample = graph.num_nodes if sample == "all" else int(sample)
    parameters = 2 * graph.num_features * width
    held = PARAMETERS * parameters + STEP_ARRAYS * sample * width
    embedded = EMBEDDING * graph.num_nodes * width
    memory = int(GRAPH * _size(graph) + 4 * max(held, embedded))
    cost = Cost(memory, available_memory(), None, None)
    if not cost.fits:
        return cost
    one = _step_seconds(graph, method, settings)
    scope = values.get("readout_scope", 0)
    columns = graph.num_features + width * (scope if isinstance(scope, int) else 1)
    embedding = EMBEDDING * _product_seconds(graph) * columns / BLOCK
    return Cost(memory, cost.available_bytes, settings.epochs * one + embedding, one)


def _step_seconds(graph: Graph, method: str, settings: TrainedSettings) -> float:
    device = resolve_device("cpu")
    model = method_named(method).build(Shape.of(graph), settings, 0)
    model.prepare(graph)
    taken: list[float] = []
    with kept_memory():
        loss_of, optimizer = model.loss_fn(graph, device), new_optimizer(model, settings)
        for epoch in range(STEPS + 1):
            started = time.perf_counter()
            step(loss_of, optimizer, epoch)
            taken.append(time.perf_counter() - started)
            if sum(taken) > SECONDS:
                break
    return float(np.median(taken[1:] or taken))


def _product_seconds(graph: Graph) -> float:
    """Seconds of a product of the normalised adjacency with `BLOCK` columns."""
    adjacency = normalised_adjacency(graph.adjacency)
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    block, out = torch.ones(2, graph.num_nodes, BLOCK)
    taken = []
    for _ in range(STEPS):
        started = time.perf_counter()
        multiply(matrix, block, out=out)
        taken.append(time.perf_counter() - started)
    return min(taken)


def _size(graph: Graph) -> int:
    """Bytes of the adjacency and the features."""
    return sum(
        sum(part.nbytes for part in (matrix.data, matrix.indices, matrix.indptr))
        if sp.issparse(matrix)
        else matrix.nbytes
        for matrix in (graph.adjacency, graph.features)
    )


def available_memory() -> int | None:
    """Bytes of memory that programs can have on this machine; None where it does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        free = {name: value for name, _, value in (line.partition(":") for line in lines)}
        return 1024 * int(free["MemAvailable"].split()[0])
    except (KeyError, OSError, ValueError):
        return None
