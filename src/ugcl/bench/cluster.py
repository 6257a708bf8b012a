"""Steps per second of one and of two ranks on this machine, and what communication takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import torch

from ugcl._utils.errors import UGCLError
from ugcl.bench.child import ANSWER
from ugcl.data import load_graph
from ugcl.engine import Trainer, keep_memory
from ugcl.engine.ranks import joined
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET

SIZES = (1, 2)
WARM_UP = 5


def bench_cluster(
    graph: str,
    *,
    method: str = DEFAULT_METHOD,
    preset: str = DEFAULT_PRESET,
    params: Mapping[str, Any] | None = None,
    steps: int = 100,
    data_root: str | None = None,
) -> dict[str, Any]:
    """Time training steps of one and of two ranks with one thread each, started by torchrun.

    Args:
        graph: a data set's name or a path.
        method: a method that trains on samples.
        preset: the preset.
        params: settings that differ from it.
        steps: the steps that are timed, after some that are not.
        data_root: the folder of raw data sets.

    Returns:
        `rows`, each with `ranks`, `steps_per_second`, and `communication`: the fraction of the time
        of rank 0 that it exchanges gradients and decisions, or waits for the other rank.
    """
    request = {
        "graph": graph,
        "method": method,
        "preset": preset,
        "params": dict(params or {}),
        "steps": steps,
        "data_root": data_root,
    }
    return {
        "graph": graph,
        "method": method,
        "steps": steps,
        "rows": [_ask(size, request) for size in SIZES],
    }


def _ask(size: int, request: Mapping[str, Any]) -> dict[str, Any]:
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
    process = subprocess.run(
        [sys.executable, *torchrun, "-m", "ugcl.bench.cluster", json.dumps(request)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    lines = process.stdout.splitlines()
    answers = [line.removeprefix(ANSWER) for line in lines if line.startswith(ANSWER)]
    if process.returncode or not answers:
        errors = [line for line in process.stderr.splitlines() if line.startswith("ugcl: ")]
        raise UGCLError(errors[0].removeprefix("ugcl: ") if errors else process.stderr.strip())
    measured: dict[str, Any] = json.loads(answers[-1])
    return measured


def main() -> None:
    """Measure in one rank; rank 0 prints."""
    request = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    try:
        with joined() as ranks, keep_memory():
            graph = load_graph(request["graph"], request["data_root"])
            trainer = Trainer(
                request["method"],
                graph,
                preset=request["preset"],
                device="cpu",
                **request["params"],
            )
            for step in range(WARM_UP + request["steps"]):
                if step == WARM_UP:
                    ranks.share(None)
                    ranks.seconds, start = 0.0, time.perf_counter()
                trainer.step()
                ranks.share(None)  # as after every epoch, whether training has ended
            seconds = time.perf_counter() - start
    except UGCLError as error:
        sys.exit(f"ugcl: {error}")
    if ranks.rank == 0:
        measured = {
            "ranks": ranks.size,
            "steps_per_second": request["steps"] / seconds,
            "communication": ranks.seconds / seconds,
        }
        print(f"\n{ANSWER}{json.dumps(measured)}")


if __name__ == "__main__":
    main()
