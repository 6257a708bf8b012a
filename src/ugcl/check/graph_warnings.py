"""Warnings about graphs that are likely wrong or hard to train on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.random import numpy_generator
from ugcl._utils.rows import row_entries, take_rows
from ugcl.data.readers.structural import steps_of
from ugcl.graph import Graph
from ugcl.scope import edge_homophily
from ugcl.typing import Features, NodeIndices
from ugcl.views import LARGE_GRAPH

MIN_NODES = 50
MIN_CLASS_SIZE = 5
MAX_ISOLATED, MAX_ZERO_ROWS = 0.1, 0.1
"""Fractions of the nodes."""
MAX_HUB = 0.2
"""Largest degree as a fraction of the nodes."""
SAMPLE, MIN_DISTINCT = 50_000, 0.95
"""Nodes of a large graph whose features and edges are looked at, and the fraction of different
numbers in a sampled column from which it may number the nodes."""
MAX_WEIGHT_RATIO = 1000.0
MAX_COLUMN_RATIO, MAX_SPARSE_COLUMN_RATIO = 10.0, 1000.0
"""Largest ratio of the magnitudes of two columns."""


def graph_warnings(graph: Graph, component_sizes: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """Return one sentence for each problem; most graphs have none.

    Args:
        graph: the graph.
        component_sizes: number of nodes of each connected component.
    """
    return (
        *_edge_warnings(graph, component_sizes),
        *_feature_warnings(graph),
        *_label_warnings(graph),
    )


def _edge_warnings(graph: Graph, component_sizes: npt.NDArray[np.int64]) -> Iterator[str]:
    degrees = np.diff(graph.adjacency.indptr)
    if graph.num_edges == 0:
        yield "there are no edges: do edges and features use the same ids?"
        return
    if graph.num_nodes < MIN_NODES:
        yield f"{graph.num_nodes} nodes are few: embeddings may be no better than the features"
    isolated = float((degrees == 0).mean())
    if isolated > MAX_ISOLATED:
        yield (
            f"{isolated:.0%} of the nodes have no edges, so their embeddings depend on their own "
            "features alone: do edges and features use the same ids?"
        )
    num_components = int((component_sizes > 1).sum())
    if num_components > 1 and component_sizes.max() < graph.num_nodes / 2:
        yield (
            f"there are {num_components:,} components with edges, and the largest has less than "
            "half of the nodes: a large scope averages over each of them"
        )
    hub = int(degrees.argmax())
    if degrees[hub] > MAX_HUB * graph.num_nodes and graph.num_nodes >= MIN_NODES:
        name = hub if graph.ids is None else graph.ids[hub]
        yield (
            f"node {name} has {degrees[hub]:,} neighbours, "
            f"{degrees[hub] / graph.num_nodes:.0%} of all nodes: is it a placeholder?"
        )
    if graph.weighted:
        weights = graph.adjacency.data
        ratio = float(weights.max() / weights.min())
        if ratio > MAX_WEIGHT_RATIO:
            yield (
                f"edge weights differ by a factor of {ratio:,.0f}, so the largest dominate: "
                "consider taking their logarithm"
            )


def _feature_warnings(graph: Graph) -> Iterator[str]:
    if steps_of(graph.feature_names):
        return
    features, sparse = graph.features, sp.issparse(graph.features)
    about = ""
    if graph.num_nodes > LARGE_GRAPH:
        features, about = take_rows(features, _sampled_nodes(graph)), "about "
    largest, smallest = _column_extremes(features)
    constant = largest == smallest
    if constant.all():
        yield (
            "all nodes have the same features: use other features, or none to compute features "
            "from the edges"
        )
        return
    if constant.any():
        yield f"{int(constant.sum()):,} feature(s) are constant{_column_names(graph, constant)}"
    num_nonzero = np.diff(features.indptr) if sparse else np.count_nonzero(features, axis=1)
    zero_rows = float((num_nonzero == 0).mean())
    if zero_rows > MAX_ZERO_ROWS:
        yield f"the features of {about}{round(zero_rows * graph.num_nodes):,} nodes are all zero"
    magnitude = np.maximum(np.abs(largest), np.abs(smallest))
    factor = MAX_SPARSE_COLUMN_RATIO if sparse else MAX_COLUMN_RATIO
    smaller = float(np.quantile(magnitude[~constant], 0.25, method="lower"))
    dominant = ~constant & (magnitude > factor * smaller)
    if dominant.any():
        yield (
            f"{int(dominant.sum()):,} feature(s) are over {factor:,.0f} times as large as others"
            f"{_column_names(graph, dominant)} and dominate them: train with `feature_scaling` "
            "standard, or scale the columns yourself"
        )
    if not sparse and graph.num_nodes >= MIN_NODES:
        numbering = np.array([_is_numbering(column, graph.num_nodes) for column in features.T])
        if numbering.any():
            yield (
                f"{int(numbering.sum()):,} feature(s) number the nodes"
                f"{_column_names(graph, numbering)}: is it an id? `ignore` leaves it out"
            )


def _label_warnings(graph: Graph) -> Iterator[str]:
    if graph.labels is None or graph.num_classes == 0:
        return
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    names = graph.class_names or tuple(str(c) for c in range(graph.num_classes))
    if graph.num_classes == 1:
        yield f"all labels are '{names[0]}': classification needs at least two classes"
        return
    if warning := too_many_classes(graph):
        yield warning
        return
    if num_small := int((counts < MIN_CLASS_SIZE).sum()):
        yield (
            f"{num_small:,} class(es) have fewer than {MIN_CLASS_SIZE} labelled nodes "
            f"('{names[int(counts.argmin())]}' has {counts.min()}): their scores are unreliable"
        )
    homophily = _homophily(graph)
    chance = float(((counts / counts.sum()) ** 2).sum())
    if homophily is not None and homophily < chance:
        yield (
            f"neighbours have the same label less often ({homophily:.0%}) than random nodes "
            f"({chance:.0%}), so contexts mislead: try scope 0, and compare with the raw features"
        )


def too_many_classes(graph: Graph) -> str | None:
    """Return the warning that the labels look like ids, because nearly each node has its own."""
    labelled = 0 if graph.labels is None else int((graph.labels >= 0).sum())
    if graph.num_classes <= max(labelled / 4, 10):
        return None
    return (
        f"there are {graph.num_classes:,} classes for {labelled:,} nodes: is the column of labels "
        "an id? Name another with `label`"
    )


def _column_extremes(
    features: Features,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the largest and smallest entry of each column."""
    largest, smallest = features.max(axis=0), features.min(axis=0)
    if sp.issparse(features):
        return largest.toarray().reshape(-1), smallest.toarray().reshape(-1)
    return largest, smallest


def _homophily(graph: Graph) -> float | None:
    """Return the edge homophily; of a large graph, that of the edges of a sample of nodes."""
    labels = graph.labels
    assert labels is not None
    if graph.num_nodes <= LARGE_GRAPH:
        return edge_homophily(graph.adjacency, labels)
    nodes = _sampled_nodes(graph)
    positions, counts = row_entries(graph.adjacency, nodes)
    source, target = np.repeat(labels[nodes], counts), labels[graph.adjacency.indices[positions]]
    counted = (source >= 0) & (target >= 0)
    return float((source == target)[counted].mean()) if counted.any() else None


def _sampled_nodes(graph: Graph) -> NodeIndices:
    rng = numpy_generator("homophily", 0, 1)
    return np.sort(rng.choice(graph.num_nodes, SAMPLE, replace=False))


def _is_numbering(column: npt.NDArray[np.float32], count: int) -> bool:
    """Whether a column is a permutation of 0, 1, 2, ... or 1, 2, 3, ..., or may be part of one.

    Args:
        column: the column, of all nodes or of a sample.
        count: the number of nodes.
    """
    if column.size < count:
        whole = (column == np.floor(column)) & (column >= 0) & (column <= count)
        return bool(whole.all() and np.unique(column).size > MIN_DISTINCT * column.size)
    first = float(column.min())
    if first not in (0.0, 1.0) or float(column.max()) != first + column.size - 1:
        return False
    return bool((np.sort(column) == np.arange(column.size) + first).all())


def _column_names(graph: Graph, mask: npt.NDArray[np.bool_]) -> str:
    """Return the names or indices of the first three columns of a mask, in brackets."""
    names = [
        str(column) if graph.feature_names is None else f"'{graph.feature_names[column]}'"
        for column in np.flatnonzero(mask)[:3]
    ]
    return f" ({', '.join(names)}{', ...' if mask.sum() > 3 else ''})"
