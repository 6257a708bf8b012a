"""Memory and time that multiscope needs beside its training steps."""

from __future__ import annotations

import time

import numpy as np

from ugcl._utils.linalg import OVERSAMPLES
from ugcl._utils.random import numpy_generator
from ugcl.graph import Graph
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.methods.settings import resolved
from ugcl.views import propagation
from ugcl.views.directions import MAX_EXACT, MAX_ROWS
from ugcl.views.reliability import COLUMNS
from ugcl.views.structure import ENTRIES, ITERATIONS, MAX_WALKED, top_walks

GRAMS, DESCRIPTIONS, HIDDEN, WALKS = 12, 12, 3, 14
"""Floats in memory for each entry of a Gram matrix, of a description of all nodes by `COLUMNS`
columns, of H, and of the walks that are factorised. Measured; a test compares the estimate with
training."""

FACTORISED = 2
"""Structural embeddings that are computed: one, and two of half the edges."""

SOURCES = 500
"""Nodes whose walks are timed."""


def num_columns(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the columns of the embeddings."""
    hidden = min(settings.block_columns, settings.hidden)
    raw = min(settings.raw_columns, graph.num_features)
    powers, limits = len(settings.powers), not isinstance(resolved(settings.readout_scope), int)
    structure = settings.structure_columns
    return hidden * (1 + powers + limits) + raw * (1 + len(settings.raw_powers)) + structure


def num_floats(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the floats that reliability, directions and embeddings need at most at a time."""
    nodes, features = graph.num_nodes, graph.num_features
    exact = next((width for width in (features, features // 2) if width <= MAX_EXACT), 0)
    columns, structure = num_columns(graph, settings), settings.structure_columns
    walks = WALKS * min(ENTRIES, nodes) if structure else 0
    if structure and nodes > MAX_WALKED:
        walks = 2 * structure + OVERSAMPLES + 2 * propagation.BLOCK
    return max(
        GRAMS * max(exact, settings.hidden) ** 2,
        DESCRIPTIONS * nodes * min(COLUMNS, features),
        HIDDEN * min(nodes, MAX_ROWS) * settings.hidden,
        nodes * (columns + max(columns, walks)),
    )


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
