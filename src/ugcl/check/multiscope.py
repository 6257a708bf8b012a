"""Time that multiscope needs beside its training steps."""

from __future__ import annotations

import time

import numpy as np

from ugcl._utils.linalg import OVERSAMPLES
from ugcl._utils.random import numpy_generator
from ugcl.graph import Graph
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.views import propagation
from ugcl.views.structure import ITERATIONS, MAX_WALKED, top_walks

FACTORISED = 2
"""Structural embeddings that are computed: one, and two of half the edges."""

SOURCES = 500
"""Nodes whose walks are timed."""


def num_products(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the columns that are multiplied by the adjacency to embed all nodes."""
    raw = min(settings.raw_columns, graph.num_features)
    hidden = min(settings.block_columns, settings.hidden)
    largest, raw_largest = (max(k, default=0) for k in (settings.powers, settings.raw_powers))
    return largest * hidden + raw_largest * raw


def structure_seconds(graph: Graph, settings: MultiScopeSettings, column_seconds: float) -> float:
    """Return the time of the structural embeddings, by products or from the walks of some nodes.

    Args:
        graph: the graph.
        settings: the settings.
        column_seconds: time of a product of the adjacency with one column.
    """
    if not settings.structure_columns:
        return 0.0
    nodes, adjacency = graph.num_nodes, graph.adjacency
    if nodes > MAX_WALKED:
        width = settings.structure_columns + OVERSAMPLES
        return FACTORISED * propagation.PRODUCTS * width * column_seconds
    rng = numpy_generator("bench")
    sources = rng.choice(nodes, min(SOURCES, nodes), replace=False)
    seconds, entries = [], 0
    for some in (sources[:1], sources):
        start = time.perf_counter()
        _, values = top_walks(adjacency, sources=some)
        seconds.append(time.perf_counter() - start)
        entries = int(np.count_nonzero(values))
    walks = seconds[0] + max(seconds[1] - seconds[0], 0) * nodes / sources.size
    ratio = 2 * entries * nodes / sources.size / max(adjacency.nnz, 1)  # M has both directions
    products = 2 * (ITERATIONS + 1) * ratio * settings.structure_columns * column_seconds
    return float(FACTORISED * (walks + products))
