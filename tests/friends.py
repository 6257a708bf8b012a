"""Five people and their friendships, for tests of readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from ugcl import Graph

EDGES = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("cy", "dee")]

WEIGHTS = [1.0, 2.0, 3.0, 4.0]

NODES = ["dee", "cy", "bob", "ann", "eve"]

FEATURES = np.arange(10, dtype=np.float32).reshape(5, 2) / 4

LABELS = ["red", "red", "blue", "", "blue"]

SPLIT = ["train", "val", "test", "", "test"]

FRAME = pd.DataFrame(EDGES, columns=["source", "target"])

WEIGHTED = FRAME.assign(weight=WEIGHTS)

ABOUT = pd.DataFrame(
    {
        "id": NODES,
        "x": FEATURES[:, 0],
        "y": FEATURES[:, 1],
        "label": [label or None for label in LABELS],
        "split": [part or None for part in SPLIT],
    }
)


def expected(weighted: bool = False) -> dict[tuple[str, str], float]:
    weights = WEIGHTS if weighted else [1.0] * len(EDGES)
    one_way = dict(zip(EDGES, weights, strict=True))
    return one_way | {(b, a): w for (a, b), w in one_way.items()}


def entries(graph: Graph) -> dict[tuple[str, str], float]:
    """The edges of a graph by ids."""
    assert graph.ids is not None
    found = graph.adjacency.tocoo()
    names = graph.ids.tolist()
    return {
        (names[i], names[j]): float(value)
        for i, j, value in zip(*found.coords, found.data, strict=True)
    }


def write_json_lines(path: Path, frame: pd.DataFrame) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))


NUMBERED = [(0, 1), (1, 2), (3, 2)]


def small_network(directed: bool = False) -> Any:
    network = nx.DiGraph() if directed else nx.Graph()
    for node, (x, y), label in zip(NODES, FEATURES, LABELS, strict=True):
        network.add_node(node, x=float(x), y=float(y), colour=label or "none", note="text")
    network.add_weighted_edges_from([(a, b, w) for (a, b), w in zip(EDGES, WEIGHTS, strict=True)])
    return network


TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def names(graph: Graph) -> list[Any]:
    assert graph.ids is not None
    return graph.ids.tolist()
