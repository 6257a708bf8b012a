"""Compare the working memory of training with other implementations of the same methods.

    UGCL_DATA=DIR python tools/working_memory.py [--before SRC] GRAPH [GRAPH ...]

Working memory is the peak of a process during training steps above what is resident after imports
and loading the graph. Every measurement is a new process with one thread; `--repeats` takes the
median of several.
`--before` also measures our methods of another checkout's `src` folder. Needs Linux and PyTorch
Geometric. Writes the record `working_memory` of results/bench.jsonl.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from collect import RESULTS, put_record

METHODS = ("dgi", "cca-ssg")
HIDDEN, STEPS, REPEATS = 512, 8, 1


def main() -> None:
    """Measure every method on every graph, ours and the peer's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--before", type=Path, help="the `src` folder of an earlier version")
    parser.add_argument("--out", type=Path, default=RESULTS / "bench.jsonl")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(_measure(args.child, args.graphs[0], args.steps)))
        return
    from peer_steps import PEERS
    from ugcl.bench import describe_machine

    rows: list[dict[str, Any]] = []
    for graph in args.graphs:
        for method in METHODS:
            row: dict[str, Any] = {"method": method, "graph": graph, "peer": PEERS[method][0]}
            sides = {"before": args.before, "ours": None, "peer": None}
            for side, source in sides.items():
                if side == "before" and source is None:
                    continue
                child = f"{'peer' if side == 'peer' else 'ours'}:{method}"
                found = [_fresh(child, graph, args.steps, source) for _ in range(args.repeats)]
                row[f"{side}_bytes"] = median(each["bytes"] for each in found)
                row[f"{side}_seconds"] = median(each["seconds"] for each in found)
            rows.append(row)
            print(row, flush=True)
    record = {"name": "working_memory", "hidden": HIDDEN, "steps": args.steps, "rows": rows}
    put_record(args.out, record | {"machine": describe_machine()}, "name")


def _fresh(child: str, graph: str, steps: int, source: Path | None) -> dict[str, float]:
    """Measure in a new process."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source.resolve())
    command = [sys.executable, __file__, graph, "--child", child, "--steps", str(steps)]
    process = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    measured: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return measured


def _measure(child: str, graph: str, steps: int) -> dict[str, float]:
    """Return the working memory, and the median CPU time of a step."""
    side, _, method = child.partition(":")
    run, step = (_peer if side == "peer" else _ours)(method, graph)
    times: list[float] = []
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that from now on
    loaded = _status("VmRSS:")

    def train() -> None:
        take = step()
        for _ in range(steps):
            started = time.process_time()
            take()
            times.append(time.process_time() - started)

    run(train)
    return {"bytes": _status("VmHWM:") - loaded, "seconds": median(times)}


Take = Callable[[], Any]
Run = Callable[[Take], None]


def _ours(method: str, name: str) -> tuple[Run, Callable[[], Take]]:
    import ugcl.methods.models.ssl  # noqa: F401 (what training imports is not its memory)
    from ugcl.data import load_graph
    from ugcl.engine import Trainer, keep_memory

    graph = load_graph(name)
    _import_optimizer()

    def run(train: Take) -> None:
        with keep_memory():
            train()

    return run, lambda: Trainer(method, graph, preset="paper", device="cpu", hidden=HIDDEN).step


def _peer(method: str, name: str) -> tuple[Run, Callable[[], Take]]:
    import torch
    import torch_geometric.nn  # noqa: F401

    from peer_steps import PEERS, inputs_of
    from ugcl.data import load_graph

    warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
    inputs = inputs_of(load_graph(name))
    _import_optimizer()

    def step() -> Take:
        model, loss_fn = PEERS[method][1](inputs, HIDDEN)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

        def take() -> None:
            optimizer.zero_grad()
            loss_fn().backward()  # type: ignore[no-untyped-call]
            optimizer.step()

        return take

    return lambda train: train(), step


def _import_optimizer() -> None:
    """Take an optimizer step: PyTorch imports some hundred modules in the first one."""
    import torch

    torch.set_num_threads(1)
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    torch.optim.Adam([parameter], fused=True).step()


def _status(name: str) -> int:
    status = Path("/proc/self/status").read_text("utf-8")
    return 1024 * int(status.partition(name)[2].split()[0])


if __name__ == "__main__":
    main()
