"""Estimates of the memory and time of a training run."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch

from ugcl._utils.rows import take_rows
from ugcl.check import multiscope
from ugcl.engine import Trainer, keep_memory
from ugcl.engine.requirements import available_memory, held_bytes, required_bytes
from ugcl.graph import Graph
from ugcl.methods import TrainingSettings, get_method
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix, multiply
from ugcl.views import LARGE_GRAPH

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
        held_bytes: what this process already holds of the memory.
    """

    memory_bytes: int
    available_bytes: int | None
    seconds: float | None
    step_seconds: float | None
    held_bytes: int = 0

    @property
    def fits(self) -> bool:
        """Whether the memory suffices, as far as is known."""
        missing = self.memory_bytes - self.held_bytes
        return self.available_bytes is None or missing < self.available_bytes


ENTRIES, COLUMNS = 2**22, 2**20
"""Entries and columns of the part of a large adjacency whose product is timed."""


def estimate_cost(graph: Graph, method: str, settings: TrainingSettings) -> Cost:
    """Estimate the cost of UGCL, multiscope, or a method with the shapes of UGCL, on the CPU.

    Time is extrapolated from a few steps and one sparse product.
    """
    memory = required_bytes(graph, get_method(method), settings)
    cost = Cost(memory, available_memory(), None, None, held_bytes(graph))
    if not cost.fits:
        return cost
    step = _step_seconds(graph, method, settings)
    total = settings.epochs * step + _embed_seconds(graph, settings)
    return replace(cost, seconds=total, step_seconds=step)


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
    """Return the time of a product of the normalised adjacency with `BLOCK` columns.

    Of a large graph it is estimated from some rows, whose columns are folded to `COLUMNS` of them.
    """
    adjacency, ratio = graph.adjacency, 1.0
    if graph.num_nodes > LARGE_GRAPH:
        rows = max(1, int(np.searchsorted(adjacency.indptr, ENTRIES)))
        some = take_rows(adjacency, np.arange(min(rows, graph.num_nodes)))
        ratio = adjacency.nnz / max(some.nnz, 1)
        width = min(COLUMNS, graph.num_nodes)
        parts = some.data, some.indices % width, some.indptr
        adjacency = sp.csr_array(parts, shape=(some.shape[0], width))
    else:
        adjacency = normalised_adjacency(adjacency)
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    block, out = (torch.ones(size, BLOCK) for size in reversed(adjacency.shape))
    seconds = []
    for _ in range(STEPS):
        start = time.perf_counter()
        multiply(matrix, block, out=out)
        seconds.append(time.perf_counter() - start)
    return ratio * min(seconds)
