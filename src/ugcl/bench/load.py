"""How long a file of edges takes to become a graph, and how much memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from ugcl.bench.child import in_fresh_process

KINDS = ("numbers", "weights", "text")
"""Ids that are whole numbers, the same with weights, and ids that are text."""


def bench_load(*, edges: int = 10_000_000, nodes: int = 1_000_000) -> dict[str, Any]:
    """Time the loading of random edges from Parquet, features being made of them.

    Args:
        edges: how many.
        nodes: how many nodes they join.

    Returns:
        `rows`, each with `ids`, `seconds` and `peak_bytes`, above what importing takes.
    """
    rng = np.random.default_rng(0)
    ends = [rng.integers(0, nodes, edges) for _ in range(2)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"{kind}.parquet"
            _write(path, kind, ends, nodes)
            threads = torch.get_num_threads()
            found = in_fresh_process("load", graph=str(path), threads=threads)
            rows.append({"ids": kind, **found})
            path.unlink()
    return {"edges": edges, "nodes": nodes, "rows": rows}


def _write(path: Path, kind: str, ends: list[Any], nodes: int) -> None:
    columns: dict[str, Any] = dict(zip(("source", "target"), ends, strict=True))
    if kind == "text":
        names = np.array([f"node-{i:08d}" for i in range(nodes)])
        columns = {name: names[numbers] for name, numbers in columns.items()}
    if kind == "weights":
        columns["weight"] = np.random.default_rng(1).random(ends[0].size)
    pq.write_table(pa.table(columns), path)
