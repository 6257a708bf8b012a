"""Measurements that need a fresh process: peak memory, and the time of other libraries."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from ugcl._utils.errors import UGCLError
from ugcl.bench.timing import seconds
from ugcl.data import load_graph, split_of
from ugcl.engine import Trainer, keep_memory
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, get_method
from ugcl.nn import Adam
from ugcl.nn.blocked import WIDTH
from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix, multiply

ANSWER = "ugcl.bench: "
"""Begin of the line with the answer: libraries may print others."""

_CODE = "from ugcl.bench.child import start; start()"


class ChildKilled(UGCLError):
    """A signal ended the process that measures.

    Args:
        signal: number of the signal; SIGKILL is most often that of Linux without free memory.
    """

    def __init__(self, signal: int) -> None:
        super().__init__(
            "the process that measures memory was killed, probably because memory ran out: use "
            "smaller settings or a larger machine"
        )
        self.signal = signal


def in_fresh_process(
    task: Literal["train", "embed", "load"],
    graph: str,
    *,
    method: str = "ugcl",
    preset: str = DEFAULT_PRESET,
    params: Mapping[str, Any] | None = None,
    steps: int = 4,
    then_embed: bool = False,
    data_root: str | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Run a task in a new process.

    Args:
        task: train, embed with the untrained model, or load the graph.
        graph: a data set's name or a path.
        method: the method's name, or the path of its file.
        preset: the preset.
        params: settings that differ from it.
        steps: training steps.
        then_embed: whether to embed after training.
        data_root: the folder of raw data sets.
        threads: CPU threads; by default as many as this process uses.

    Returns:
        `peak_bytes`: the peak memory less the memory after importing (None except on Linux). For
        `train` also `step_seconds`, of the last step. For `embed` also `seconds`; `embed_bytes`,
        the peak memory less that with the graph loaded; and `products_seconds`, of its sparse
        products alone. For `load` also `seconds`.
    """
    request = {
        "task": task,
        "graph": graph,
        "method": method,
        "preset": preset,
        "params": dict(params or {}),
        "steps": steps,
        "then_embed": then_embed,
        "data_root": data_root,
        "threads": threads or torch.get_num_threads(),
    }
    return ask_fresh_process(request)


def ask_fresh_process(
    request: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Send a request to a new process and return its answer.

    Args:
        request: the `task` and what it needs, as JSON.
        environment: variables that differ from those of this process.
    """
    process = subprocess.run(
        [sys.executable, "-c", _CODE, json.dumps(request)],
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    if process.returncode < 0:
        raise ChildKilled(-process.returncode)
    answers = [line for line in process.stdout.splitlines() if line.startswith(ANSWER)]
    if process.returncode or not answers:
        errors = process.stderr.strip().splitlines()
        raise UGCLError(errors[-1] if errors else f"the process ended by {process.returncode}")
    measured: dict[str, Any] = json.loads(answers[-1].removeprefix(ANSWER))
    return measured


def start() -> None:
    """Run `main` in a process that Linux ends first where memory runs out, before its parent."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "utf-8")
    main()


def main() -> None:
    """Measure and print in the new process."""
    try:
        print(f"\n{ANSWER}{json.dumps(_measure(json.loads(sys.argv[1])))}")
    except UGCLError as error:
        sys.exit(str(error))


def _measure(request: dict[str, Any]) -> dict[str, Any]:
    torch.set_num_threads(request["threads"])
    if request["task"] == "peer":
        from ugcl.bench.peer_child import measure

        return measure(request)
    _import_optimizer()
    imported = resident_bytes()
    measured: dict[str, Any] = {}
    if request["task"] == "load":
        measured["seconds"] = seconds(lambda: load_graph(request["graph"]))
        return measured | {"peak_bytes": peak_above(imported)}
    graph, method = load_graph(request["graph"], request["data_root"]), request["method"]
    if get_method(method).supervised:
        graph = replace(graph, splits=split_of(graph)[0])
    trainer = Trainer(method, graph, preset=request["preset"], device="cpu", **request["params"])
    model, settings = trainer.model, trainer.settings.values()
    if request["task"] == "train":
        with keep_memory():
            for _ in range(request["steps"]):
                measured["step_seconds"] = seconds(trainer.step)
        del trainer
        if request["then_embed"]:
            model.on_fit_end(graph, "cpu")
            model.embed(graph, "cpu")
    else:
        loaded = resident_bytes()
        measured["seconds"] = min(seconds(lambda: model.embed(graph, "cpu")) for _ in range(3))
        measured["embed_bytes"] = peak_above(loaded)
        measured["products_seconds"] = _products(graph, settings["hidden"] * settings["scope"])
    return measured | {"peak_bytes": peak_above(imported)}


def _products(graph: Graph, columns: int) -> float:
    """Time the sparse products that embedding needs, `A X` and the powers, without the rest.

    Args:
        graph: the graph, with dense X.
        columns: columns of all powers together, n times the width.
    """
    adjacency = normalised_adjacency(graph.adjacency)
    matrix = SparseMatrix.from_scipy(adjacency, symmetric=True).matrix
    block, out = torch.ones(2, graph.num_nodes, WIDTH)
    once = min(seconds(lambda: multiply(matrix, block, out=out)) for _ in range(5))
    return once * (graph.num_features + columns) / WIDTH


def _import_optimizer() -> None:
    """Take an optimizer step: PyTorch imports some hundred modules in the first one."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    Adam([parameter], fused=True).step()


def resident_bytes() -> int | None:
    """Return the memory of this process now."""
    return _status("VmRSS:")


def peak_above(level: int | None) -> int | None:
    """Return the peak memory of this process above a level.

    Not `ru_maxrss`, which a new process inherits from its parent.
    """
    peak = _status("VmHWM:")
    return None if peak is None or level is None else peak - level


def _status(name: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return None
    return 1024 * int(status.partition(name)[2].split()[0])
