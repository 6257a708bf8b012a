"""Measurements that need a process of their own: the most memory that it ever held."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from ugcl._utils.errors import UGCLError
from ugcl.bench.timing import seconds
from ugcl.data import load_graph, split_of
from ugcl.engine import kept_memory, new_optimizer, step
from ugcl.graph import Graph
from ugcl.methods import METHODS, Shape, TrainedSettings
from ugcl.nn.blocked import WIDTH
from ugcl.scope import normalised_adjacency
from ugcl.selection import resolve_scope
from ugcl.sparse import SparseMatrix, multiply

DEFAULTS: dict[str, Any] = {"method": "ugcl", "steps": 4, "then_embed": False, "data_root": None}
"""What a task does unless it is asked for something else."""

_CODE = "from ugcl.bench.child import main; main()"


def in_fresh_process(task: str, **arguments: Any) -> dict[str, Any]:
    """Run a task, `train`, `embed` or `load`, in a new process.

    Returns:
        `peak_bytes`, the most memory it held above what it held after importing (None where the
        operating system is not Linux). For `train` also `step_seconds`, of the last step. For
        `embed` also `seconds`, `embed_bytes`, the most above what it held with the graph loaded,
        and `products_seconds`, of its sparse products alone. For `load` also `seconds`.
    """
    request = json.dumps({"task": task, **DEFAULTS, **arguments})
    done = subprocess.run([sys.executable, "-c", _CODE, request], capture_output=True, text=True)
    if done.returncode < 0:
        raise UGCLError(
            "the process that measures memory was killed, probably for want of memory: use "
            "smaller settings or a larger machine"
        )
    if done.returncode:
        raise UGCLError(done.stderr.strip().splitlines()[-1])
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main() -> None:
    """What the new process does."""
    try:
        print(json.dumps(_measure(json.loads(sys.argv[1]))))
    except UGCLError as error:
        sys.exit(str(error))


def _measure(request: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(request["threads"])
    _import_the_optimiser()
    imported = _held()
    if request["task"] == "load":
        taken = seconds(lambda: load_graph(request["graph"]))
        return {"seconds": taken, "peak_bytes": _above(imported)}
    graph, method = load_graph(request["graph"], request["data_root"]), METHODS[request["method"]]
    asked = method.resolve(request["preset"], graph, request["given"])
    settings, _ = resolve_scope(asked, graph)
    if method.supervised:
        graph = replace(graph, splits=split_of(graph)[0])
    model = method.build(Shape.of(graph), settings, 0)
    model.prepare(graph)
    measured: dict[str, Any] = {}
    if request["task"] == "train":
        assert isinstance(settings, TrainedSettings)
        with kept_memory():
            loss_of, optimizer = model.loss_fn(graph, "cpu"), new_optimizer(model, settings)
            for epoch in range(request["steps"]):
                measured["step_seconds"] = seconds(partial(step, loss_of, optimizer, epoch))
        del loss_of, optimizer
        if request["then_embed"]:
            model.embed(graph, "cpu")
    else:
        loaded = _held()
        measured["seconds"] = min(seconds(lambda: model.embed(graph, "cpu")) for _ in range(3))
        measured["embed_bytes"] = _above(loaded)
        measured["products_seconds"] = _products(
            graph, request["given"]["hidden"] * request["given"]["scope"]
        )
    return measured | {"peak_bytes": _above(imported)}


def _products(graph: Graph, columns: int) -> float:
    """Seconds of the sparse products alone that embedding needs: `A X` and the contextual steps.

    Args:
        graph: the graph, with dense X.
        columns: of all contextual steps together, n times the width.
    """
    adjacency = normalised_adjacency(graph.adjacency)
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    block, out = torch.ones(2, graph.num_nodes, WIDTH)
    once = min(seconds(lambda: multiply(matrix, block, out=out)) for _ in range(5))
    return once * (graph.num_features + columns) / WIDTH


def _import_the_optimiser() -> None:
    """PyTorch imports some hundred modules in the first step of an optimiser."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    torch.optim.Adam([parameter], fused=True).step()


def _held() -> int | None:
    """Bytes that this process holds now."""
    return _status("VmRSS:")


def _above(level: int | None) -> int | None:
    """The most bytes that this process ever held, above a level.

    Not by `ru_maxrss`, which a new process inherits from the one that started it.
    """
    peak = _status("VmHWM:")
    return None if peak is None or level is None else peak - level


def _status(name: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return None
    return 1024 * int(status.partition(name)[2].split()[0])
