"""Estimates of the memory and time of a training run."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from ugcl.check import multiscope
from ugcl.engine import Trainer, keep_memory
from ugcl.engine.requirements import available_memory, required_bytes
from ugcl.graph import Graph
from ugcl.methods import TrainingSettings, get_method
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix, multiply

EMBEDDING = 1.4
"""Ratio of the time of embedding to that of its sparse products. Measured."""

STEPS = 3
"""Steps that are timed, after one that is not."""

MAX_SECONDS = 5.0
"""No further step is timed after this time."""

BLOCK = 16
"""Columns of the product that is timed."""


@dataclass(frozen=True)
class Cost:
    """Memory and time of training.

    Attributes:
        memory_bytes: estimated peak memory of training and embedding.
        available_bytes: memory that this process can still use; None if unknown.
        seconds: estimated time of training and embedding; None without enough memory.
        step_seconds: time of one step; None without enough memory.
    """

    memory_bytes: int
    available_bytes: int | None
    seconds: float | None
    step_seconds: float | None

    @property
    def fits(self) -> bool:
        """Whether the memory suffices, as far as is known."""
        return self.available_bytes is None or self.memory_bytes < self.available_bytes


def estimate_cost(graph: Graph, method: str, settings: TrainingSettings) -> Cost:
    """Estimate the cost of UGCL, multiscope, or a method with the shapes of UGCL, on the CPU.

    Time is extrapolated from a few steps and one sparse product.
    """
    memory = required_bytes(graph, get_method(method), settings)
    cost = Cost(memory, available_memory(), None, None)
    if not cost.fits:
        return cost
    step = _step_seconds(graph, method, settings)
    total = settings.epochs * step + _embed_seconds(graph, settings)
    return Cost(memory, cost.available_bytes, total, step)


def _embed_seconds(graph: Graph, settings: TrainingSettings) -> float:
    """Return the time of the embeddings, from that of a sparse product."""
    column = _product_seconds(graph) / BLOCK
    if isinstance(settings, MultiScopeSettings):
        products = EMBEDDING * column * multiscope.num_products(graph, settings)
        return products + multiscope.structure_seconds(graph, settings, column)
    values = settings.values()
    scope = values.get("readout_scope", 0)
    powers = int(values["hidden"]) * (scope if isinstance(scope, int) else 1)
    return EMBEDDING * column * (graph.num_features + powers)


def _step_seconds(graph: Graph, method: str, settings: TrainingSettings) -> float:
    """Return the median time of a training step."""
    trainer = Trainer(method, graph, settings=settings, device="cpu")
    seconds: list[float] = []
    with keep_memory():
        trainer.setup()
        while len(seconds) <= STEPS and sum(seconds) <= MAX_SECONDS:
            start = time.perf_counter()
            trainer.step()
            seconds.append(time.perf_counter() - start)
    return float(np.median(seconds[1:] or seconds))


def _product_seconds(graph: Graph) -> float:
    """Return the time of a product of the normalised adjacency with `BLOCK` columns."""
    adjacency = normalised_adjacency(graph.adjacency)
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    block, out = torch.ones(2, graph.num_nodes, BLOCK)
    seconds = []
    for _ in range(STEPS):
        start = time.perf_counter()
        multiply(matrix, block, out=out)
        seconds.append(time.perf_counter() - start)
    return min(seconds)
