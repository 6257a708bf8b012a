"""Measurements that need a process of their own: the most memory that it ever held.

python -m ugcl.bench.child '{"task": "train", "graph": "citeseer", "preset": "fast"}'
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from ugcl.bench.timing import seconds
from ugcl.data import load_graph
from ugcl.errors import UGCLError
from ugcl.methods import METHODS
from ugcl.training import kept_memory, new_optimiser, step

STEPS = 4


def in_fresh_process(task: str, **arguments: Any) -> dict[str, Any]:
    """Run a task in a new process; what it measured, and `peak_bytes`."""
    request = json.dumps({"task": task, **arguments})
    done = subprocess.run(
        [sys.executable, "-m", "ugcl.bench.child", request], capture_output=True, text=True
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"]
        raise UGCLError(f"a process that measures memory failed: {said[-1]}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Load a graph, then take some steps or embed it."""
    imported = _peak()
    torch.set_num_threads(request.get("threads", torch.get_num_threads()))
    graph = load_graph(request["graph"], request.get("data_root"))
    settings = METHODS["ugcl"].resolve(request["preset"], graph, request.get("given", {}))
    model = METHODS["ugcl"].build(graph.num_features, settings, 0)
    measured = {}
    if request["task"] == "train":
        with kept_memory():
            loss_of, optimiser = model.pretext(graph, "cpu"), new_optimiser(model, settings)
            for epoch in range(STEPS):
                step(loss_of, optimiser, epoch)
    else:
        loaded = _peak()
        measured["seconds"] = min(seconds(lambda: model.embed(graph, "cpu")) for _ in range(3))
        measured["embed_bytes"] = _peak() - loaded
    return measured | {"peak_bytes": _peak() - imported}


def _peak() -> int:
    """The most memory that this process held so far, in bytes, as Linux counts it.

    Not `ru_maxrss`, which a new process inherits from the one that started it.
    """
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError as error:
        raise UGCLError("memory is measured on Linux only") from error
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
