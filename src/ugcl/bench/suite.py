"""The whole suite: every measurement, as data and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ugcl.bench.machine import machine
from ugcl.bench.plot import plot_suite
from ugcl.bench.scaling import bench_embed, bench_scaling
from ugcl.bench.step import bench_step
from ugcl.errors import UGCLError
from ugcl.files import write_json

STEPS = (
    ("cora", "authors", True),
    ("citeseer", "authors", True),
    ("pubmed", "authors", False),
    ("cora", "fast", True),
    ("citeseer", "fast", True),
    ("pubmed", "fast", True),
)
"""Graph, preset, and whether the naive step is timed; PubMed's at full width takes minutes."""


def bench_suite(
    out: Path, *, data_root: str | None = None, tell: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Measure everything into `out/bench.json` and draw `out/bench.png`.

    A data set whose files are not here and cannot be had is left out, and named.
    """
    out.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {"machine": machine(), "steps": [], "left_out": []}
    for graph, preset, naive in STEPS:
        try:
            measured = bench_step(graph, preset, naive=naive, data_root=data_root, tell=tell)
        except UGCLError as error:
            tell(f"{graph} is left out: {error}")
            result["left_out"].append(graph)
        else:
            result["steps"].append(measured)
            write_json(out / "bench.json", result)
    result["scaling"] = bench_scaling(tell=tell)
    write_json(out / "bench.json", result)
    result["embed"] = bench_embed(tell=tell)
    write_json(out / "bench.json", result)
    plot_suite(result, out / "bench.png")
    return result
