"""What looks wrong about a graph, before somebody trains on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.data.readers.structural import steps_of
from ugcl.graph import Graph
from ugcl.scope import edge_homophily

FEW_NODES = 50
MANY_ISOLATED = 0.1
HUB = 0.2
SCALES = 1000.0
COLUMNS = 10.0
FEW_OF_A_CLASS = 5


def graph_warnings(graph: Graph, components: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """One sentence for each thing that looks wrong; most graphs have none.

    Args:
        graph: the graph.
        components: how many nodes each connected component has.
    """
    return (*_of_edges(graph, components), *_of_features(graph), *_of_labels(graph))


def _of_edges(graph: Graph, components: npt.NDArray[np.int64]) -> Iterator[str]:
    degrees = np.diff(graph.adjacency.indptr)
    if graph.num_edges == 0:
        yield "there are no edges: are the ids of edges and features the same?"
        return
    if graph.num_nodes < FEW_NODES:
        yield (
            f"{graph.num_nodes} nodes are few: expect embeddings to tell about as much as the "
            "features do"
        )
    isolated = float((degrees == 0).mean())
    if isolated > MANY_ISOLATED:
        yield (
            f"{isolated:.0%} of the nodes have no edge: their embeddings come from their own "
            "features alone; are the ids of edges and features the same?"
        )
    pieces = int((components > 1).sum())
    if pieces > 1 and components.max() < graph.num_nodes / 2:
        yield (
            f"there are {pieces:,} components with edges and none has half of the nodes: a large "
            "scope averages each of them"
        )
    hub = int(degrees.argmax())
    if degrees[hub] > HUB * graph.num_nodes and graph.num_nodes >= FEW_NODES:
        yield (
            f"node {_name(graph, hub)} has {degrees[hub]:,} neighbours, "
            f"{degrees[hub] / graph.num_nodes:.0%} of all nodes: is it a placeholder?"
        )
    if graph.weighted:
        weights = graph.adjacency.data
        spread = float(weights.max() / weights.min())
        if spread > SCALES:
            yield (
                f"edge weights differ by a factor of {spread:,.0f}: the largest decide nearly "
                "alone; consider their logarithm"
            )


def _of_features(graph: Graph) -> Iterator[str]:
    if steps_of(graph.feature_names):
        return
    largest, smallest = _ends(graph.features)
    constant = largest == smallest
    if constant.all():
        yield (
            "all nodes have the same features: give others, or none, to have some made of the edges"
        )
        return
    if constant.any():
        which = _columns(graph, constant)
        yield f"{int(constant.sum()):,} feature(s) are the same for all nodes{which}"
    empty = int((_nonzero(graph.features) == 0).sum())
    if empty > MANY_ISOLATED * graph.num_nodes:
        yield f"{empty:,} nodes have no feature but zeros"
    size = np.maximum(np.abs(largest), np.abs(smallest))
    least = float(np.quantile(size[~constant], 0.25))
    factor = SCALES if sp.issparse(graph.features) else COLUMNS
    big = ~constant & (size > factor * least)
    if big.any():
        yield (
            f"{int(big.sum()):,} feature(s) are over {factor:,.0f} times as large as others"
            f"{_columns(graph, big)} and hide them: bring the columns to one scale, for example to "
            "mean 0 and deviation 1"
        )
    if not sp.issparse(graph.features) and graph.num_nodes >= FEW_NODES:
        numbering = np.array([_counts(column) for column in graph.features.T])
        if numbering.any():
            yield (
                f"{int(numbering.sum()):,} feature(s) number the nodes"
                f"{_columns(graph, numbering)}: is it an id? --ignore leaves it out"
            )


def _of_labels(graph: Graph) -> Iterator[str]:
    if graph.labels is None or graph.num_classes == 0:
        return
    counts = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    names = graph.class_names or tuple(str(c) for c in range(graph.num_classes))
    if graph.num_classes == 1:
        yield f"all labels are '{names[0]}': there is nothing to tell apart"
        return
    if graph.num_classes > graph.num_nodes / 4 and graph.num_classes > 10:
        yield f"there are {graph.num_classes:,} classes for {graph.num_nodes:,} nodes: is it an id?"
        return
    if small := int((counts < FEW_OF_A_CLASS).sum()):
        example = names[int(counts.argmin())]
        yield (
            f"{small:,} class(es) have fewer than {FEW_OF_A_CLASS} labelled nodes ('{example}' has "
            f"{counts.min()}): a score of them is luck"
        )
    homophily = edge_homophily(graph.adjacency, graph.labels)
    chance = float(((counts / counts.sum()) ** 2).sum())
    if homophily is not None and homophily < chance:
        yield (
            f"neighbours share a label less often ({homophily:.0%}) than random nodes "
            f"({chance:.0%}): contexts mislead here; try --scope 0, and compare with the raw "
            "features"
        )


def _ends(features: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The largest and smallest entry of each column."""
    if sp.issparse(features):
        most, least = features.max(axis=0), features.min(axis=0)
        return most.toarray().reshape(-1), least.toarray().reshape(-1)
    return features.max(axis=0), features.min(axis=0)


def _nonzero(features: Any) -> npt.NDArray[np.int64]:
    """Entries that are not zero, of each row."""
    if sp.issparse(features):
        return np.asarray(np.diff(features.indptr), dtype=np.int64)
    return np.asarray(np.count_nonzero(features, axis=1))


def _counts(column: npt.NDArray[np.float32]) -> bool:
    """Whether a column holds 0, 1, 2, ... or 1, 2, 3, ..., in whatever order."""
    low = float(column.min())
    if low not in (0.0, 1.0) or float(column.max()) != low + column.size - 1:
        return False
    return bool((np.sort(column) == np.arange(column.size) + low).all())


def _columns(graph: Graph, which: npt.NDArray[np.bool_]) -> str:
    """The first three of these columns in brackets, by name or number."""
    numbers = np.flatnonzero(which)[:3]
    names = [
        str(number) if graph.feature_names is None else f"'{graph.feature_names[number]}'"
        for number in numbers
    ]
    return f" ({', '.join(names)}{', ...' if which.sum() > 3 else ''})"


def _name(graph: Graph, node: int) -> str:
    return str(node if graph.ids is None else graph.ids[node])
