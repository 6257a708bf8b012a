"""Peak memory of every method on every data set."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl._utils.results import read_result
from ugcl.bench.child import in_fresh_process
from ugcl.bench.machine import describe_machine
from ugcl.data import load_graph
from ugcl.methods import METHODS, get_method, method_file, method_reference
from ugcl.methods.registry import BUILT_IN

logger = logging.getLogger(__name__)


def bench_memory(
    graphs: Sequence[str],
    out: Path,
    *,
    methods: Sequence[str] | None = None,
    preset: str = "paper",
    data_root: str | None = None,
) -> dict[str, Any]:
    """Measure two training steps and the embedding, each method in a fresh process.

    Memory peaks in the second step, the first one that starts with the optimizer's state.

    Args:
        graphs: data sets' names or paths.
        out: the JSON file; rows that it has already are not measured again.
        methods: names of methods, or paths of their files; by default all of this library that
            are trained.
        preset: the preset of all of them.
        data_root: the folder of raw data sets.

    Returns:
        `rows`, each with `method`, `preset`, `graph`, `peak_bytes` and `step_seconds`, of the
        second step.
    """
    if methods is None:
        methods = [name for name in METHODS if name in BUILT_IN and METHODS[name].trained]
    known = [get_method(name) for name in methods]
    for method in known:
        method.preset(preset)
        method_reference(method)  # refuses a method that a fresh process cannot find
        if not method.trained:
            raise UGCLError(f"{method.name} is a control and has no training step: leave it out")
    for graph in graphs:
        load_graph(graph, data_root)
    check_writable(out)
    row_fields = ("method", "preset", "graph", "peak_bytes", "step_seconds")
    stored = read_result(out, {}, fields=("machine", "rows"), row_fields=row_fields)
    result = stored or {"machine": describe_machine(), "rows": []}
    rows: list[dict[str, Any]] = result["rows"]
    for graph, method in product(graphs, known):
        case = {"method": method.name, "preset": preset, "graph": graph}
        if file := method_file(method):
            case["method_sha256"] = file.sha256
        if any(case.items() <= row.items() for row in rows):
            continue
        logger.info("%s on %s, %s", method.name, graph, preset)
        measured = in_fresh_process(
            "train",
            graph,
            method=method_reference(method),
            preset=preset,
            steps=2,
            then_embed=True,
            data_root=data_root,
        )
        rows.append(case | measured)
        write_json(out, result)
    return result
