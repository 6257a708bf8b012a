"""What every method holds at its peak on every data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl.bench.child import in_fresh_process
from ugcl.bench.machine import machine
from ugcl.data import load_graph
from ugcl.methods import METHODS, method_named
from ugcl.methods.presets import preset_named


def bench_memory(
    graphs: Sequence[str],
    out: Path,
    *,
    methods: Sequence[str] | None = None,
    preset: str = "paper",
    data_root: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure two steps of training and the embedding, each in a process of its own.

    The second step has the optimiser's state beside everything else, and later ones hold no more.

    Args:
        graphs: data sets' names or paths.
        out: the JSON file, written as it grows; what it holds is not measured again.
        methods: which methods; by default all that are trained.
        preset: the settings of all of them.
        data_root: the folder of raw data sets.
        tell: is told what takes time.

    Returns:
        `rows`, each with `method`, `settings`, `graph`, `peak_bytes` and `step_seconds`, of the
        second step.
    """
    if methods is None:
        methods = [name for name, method in METHODS.items() if method.trained]
    for name in methods:
        preset_named(method_named(name).presets, preset)
        if not method_named(name).trained:
            raise UGCLError(f"{name} is a control and has no step to measure: leave it out")
    for graph in graphs:
        load_graph(graph, data_root)
    check_writable(out)
    result: dict[str, Any] = {"machine": machine(), "rows": []}
    if out.is_file():
        result = _known(out)
    rows = result["rows"]
    for graph, name in product(graphs, methods):
        about = {"method": name, "settings": preset, "graph": graph}
        if any(about.items() <= row.items() for row in rows):
            continue
        tell(f"{name} on {graph}, {preset}")
        measured = in_fresh_process(
            "train",
            method=name,
            graph=graph,
            preset=preset,
            given={},
            steps=2,
            then_embed=True,
            data_root=data_root,
            threads=torch.get_num_threads(),
        )
        rows.append(about | measured)
        write_json(out, result)
    return result


def _known(out: Path) -> dict[str, Any]:
    needed = {"method", "settings", "graph", "peak_bytes", "step_seconds"}
    try:
        read: dict[str, Any] = json.loads(out.read_text("utf-8"))
        known = all(needed <= set(row) for row in read["rows"]) and "machine" in read
    except (KeyError, TypeError, ValueError):
        known = False
    if not known:
        raise UGCLError(f"{out} is not a measurement of memory: choose another --out")
    return read
