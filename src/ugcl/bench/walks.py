"""Time of random walks from every node."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ugcl._utils.random import numpy_generator
from ugcl.bench.timing import seconds
from ugcl.data import load_graph
from ugcl.views import Walker

ORDERS = ((1.0, 1.0), (0.25, 4.0), (4.0, 0.25))
"""Pairs of p and q: a first-order walk (DeepWalk) and two of second order (node2vec)."""


def bench_walks(
    graph: str, *, walks: int = 10, length: int = 80, data_root: str | None = None
) -> dict[str, Any]:
    """Time the walks of a graph for several p and q.

    Args:
        graph: a data set's name or a path.
        walks: number of walks from every node.
        length: number of nodes of a walk.
        data_root: the folder of raw data sets.

    Returns:
        `rows`, each with `p`, `q`, `seconds` and `steps_per_second`.
    """
    loaded = load_graph(graph, data_root)
    rows = []
    for p, q in ORDERS:
        walker, rng = Walker(loaded.adjacency, p, q), numpy_generator("bench")
        total = sum(seconds(partial(walker.walks, length, rng)) for _ in range(walks))
        steps = walks * length * int((np.diff(walker.starts) > 0).sum())
        rows.append({"p": p, "q": q, "seconds": total, "steps_per_second": steps / total})
    return {"graph": graph, "walks": walks, "length": length, "rows": rows}
