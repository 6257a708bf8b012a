"""Small runs for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ugcl import Graph
from ugcl.data import GraphFiles
from ugcl.runs import Run, load_run, open_run, prepare, train_run
from ugcl.runs.manifest import MANIFEST, Manifest

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 3, "scope": 2}
RESULTS = ("config.toml", "model.safetensors", "embeddings.npy", "nodes.parquet")


def trained_run(
    graph: Path | str | GraphFiles, out: Path, params: Mapping[str, Any], **arguments: Any
) -> Run:
    """Prepare and train a run, of UGCL by default; the arguments are those of `prepare`."""
    source = str(graph) if isinstance(graph, Path) else graph
    prepared = prepare(source, **{"method": "ugcl", "params": params, **arguments})
    run = open_run(out, prepared)
    train_run(run, prepared)
    return run


def small_run(file: Path, out: Path, method: str = "ugcl", **arguments: Any) -> Run:
    """Train a small run of a method; the arguments are those of `prepare`."""
    params = {"epochs": 5, "hidden": 8} if method in ("ugcl", "gcn", "mlp") else {}
    return trained_run(file, out, **{"params": params, "method": method, **arguments})


def write_files(folder: Path, graph: Graph) -> GraphFiles:
    """Write edges, features and labels, whose ids are text, to three files."""
    names = np.array([f"user-{i}" for i in range(graph.num_nodes)])
    ends = sp.triu(graph.adjacency).tocoo().coords
    pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).to_csv(
        folder / "edges.csv", index=False
    )
    frame = pd.DataFrame(graph.features.toarray()).add_prefix("x")
    frame.insert(0, "id", names)
    frame.to_parquet(folder / "features.parquet")
    colours = np.array(["red", "green", "blue"])[graph.labels]
    pd.DataFrame({"id": names, "label": colours}).to_csv(folder / "labels.csv", index=False)
    return GraphFiles(edges=str(folder / "edges.csv"), features=str(folder / "features.parquet"))


def files_run(files: GraphFiles | str, out: Path, **arguments: Any) -> Run:
    """Train a small run and open it; the arguments are those of `prepare`."""
    return load_run(trained_run(files, out, **{"params": SMALL, **arguments}).path)


def write_manifest(run: Run) -> None:
    """Write the manifest of a run again, after its files were changed."""
    names = json.loads((run.path / MANIFEST).read_text("utf-8"))["files"]
    Manifest.write(run.path, names)


def assert_same_bits(one: Path, other: Path) -> None:
    """Compare the files of two runs."""
    for name in RESULTS:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
