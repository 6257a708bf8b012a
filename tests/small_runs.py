"""Small runs for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ugcl.data import GraphFiles
from ugcl.runs import Run, open_run, prepare, train_run


def trained_run(
    graph: Path | str | GraphFiles, out: Path, params: Mapping[str, Any], **arguments: Any
) -> Run:
    """Prepare and train a run; the arguments are those of `prepare`."""
    source = str(graph) if isinstance(graph, Path) else graph
    prepared = prepare(source, params=params, **arguments)
    run = open_run(out, prepared)
    train_run(run, prepared)
    return run


def small_run(file: Path, out: Path, method: str = "ugcl", **arguments: Any) -> Run:
    """Train a small run of a method; the arguments are those of `prepare`."""
    params = {"epochs": 5, "hidden": 8} if method in ("ugcl", "gcn", "mlp") else {}
    return trained_run(file, out, **{"params": params, "method": method, **arguments})
