"""The benchmark suite: every measurement, as JSON and as a plot."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, make_folder, write_json
from ugcl.bench.machine import describe_machine
from ugcl.bench.plot import plot_suite
from ugcl.bench.scaling import bench_embed, bench_scaling
from ugcl.bench.step import bench_step
from ugcl.data import load_graph
from ugcl.report import check_plotting

logger = logging.getLogger(__name__)

STEPS = (
    ("cora", "authors", True),
    ("citeseer", "authors", True),
    ("pubmed", "authors", False),
    ("cora", "fast", True),
    ("citeseer", "fast", True),
    ("pubmed", "fast", True),
)
"""Graph, preset, and whether to time the naive step, which takes minutes on PubMed."""


def bench_suite(out: Path, *, data_root: str | None = None) -> dict[str, Any]:
    """Measure everything into `out/bench.json` and plot it into `out/bench.png`.

    A data set that cannot be loaded is skipped; `left_out` has the reason.
    """
    check_plotting(out / "bench.png")
    make_folder(out)
    check_writable(out / "bench.json")
    result: dict[str, Any] = {"machine": describe_machine(), "steps": [], "left_out": {}}
    for graph, preset, naive in STEPS:
        if graph not in result["left_out"] and (reason := _missing(graph, data_root)):
            logger.info("%s is left out: %s", graph, reason)
            result["left_out"][graph] = reason
        if graph in result["left_out"]:
            continue
        result["steps"].append(bench_step(graph, preset, naive=naive, data_root=data_root))
        write_json(out / "bench.json", result)
    result["scaling"] = bench_scaling()
    result["embed"] = bench_embed()
    write_json(out / "bench.json", result)
    plot_suite(result, out / "bench.png")
    return result


def _missing(graph: str, data_root: str | None) -> str | None:
    try:
        load_graph(graph, data_root)
    except UGCLError as error:
        return str(error)
    return None
