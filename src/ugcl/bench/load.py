"""Time and memory of loading a graph from a file of edges."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ugcl._utils.random import numpy_generator
from ugcl.bench.child import in_fresh_process
from ugcl.typing import NodeIndices

KINDS = ("numbers", "weights", "text")
"""Integer ids, integer ids with edge weights, and text ids."""


def bench_load(*, edges: int = 10_000_000, nodes: int = 1_000_000) -> dict[str, Any]:
    """Time the loading of random edges from Parquet; features are computed from the edges.

    Args:
        edges: number of edges.
        nodes: number of nodes.

    Returns:
        `rows`, each with `ids`, `seconds` and `peak_bytes`.
    """
    rng = numpy_generator("bench", 0)
    endpoints = [rng.integers(0, nodes, edges) for _ in range(2)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"{kind}.parquet"
            _write(path, kind, endpoints, nodes)
            rows.append({"ids": kind, **in_fresh_process("load", str(path))})
            path.unlink()
    return {"edges": edges, "nodes": nodes, "rows": rows}


def _write(path: Path, kind: str, endpoints: list[NodeIndices], nodes: int) -> None:
    columns: dict[str, Any] = dict(zip(("source", "target"), endpoints, strict=True))
    if kind == "text":
        names = np.array([f"node-{i:08d}" for i in range(nodes)])
        columns = {name: names[numbers] for name, numbers in columns.items()}
    if kind == "weights":
        columns["weight"] = numpy_generator("bench", 1).random(endpoints[0].size)
    pq.write_table(pa.table(columns), path)
