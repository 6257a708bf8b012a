"""Runs to make pages of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from conftest import make_graph
from ugcl.runs import Run, load_run, open_run, prepare, train_run

SMALL: dict[str, Any] = {"hidden": 8, "sample": 60, "negatives": 20, "epochs": 15, "lr": 0.01}

HOSTILE = "<script>alert(1)</script>"
QUOTED = "\"'</title>&amp; \u2028 <img src=x onerror=alert(2)>"


def made_run(folder: Path, name: str = "run", *, labels: bool = True, **settings: Any) -> Run:
    """A run on 90 nodes, two of them called as nobody should be."""
    ids = np.array([HOSTILE, QUOTED, *(f"node {i}" for i in range(2, 90))])
    graph = make_graph(90, ids=ids, name="club")
    graph = replace(graph, class_names=("red", HOSTILE, "blue"))
    if not labels:
        graph = replace(graph, labels=None, splits={}, class_names=None)
    path = folder / "graph.npz"
    if not path.exists():
        graph.save(path)
    method = settings.pop("method", "ugcl")
    params = {**SMALL, "scope": 2, **settings} if method == "ugcl" else settings
    prepared = prepare(str(path), method=method, params=params)
    run = open_run(folder / name, prepared)
    train_run(run, prepared)
    return load_run(run.path)
