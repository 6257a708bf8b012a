"""Times of commands as a user sees them: from the shell, and on a busy machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.runs import load_run

_UGCL = (sys.executable, "-c", "import sys, ugcl.cli; sys.exit(ugcl.cli.main())")
_TORCH = (sys.executable, "-c", "import torch")
_BUSY = (sys.executable, "-c", "while True: pass")

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Environment variables that say what waiting threads do."""

SPINNING = {"OMP_WAIT_POLICY": "ACTIVE"}


def bench_start(
    graph: str = "citeseer", *, repeats: int = 5, data_root: str | None = None
) -> dict[str, Any]:
    """Time commands from the shell in units of `python -c "import torch"`, interleaved.

    Args:
        graph: a data set's name or a path.
        repeats: how often each command runs; the medians count.
        data_root: the folder of raw data sets.

    Returns:
        `torch_seconds` and `rows`, each with `command`, `seconds`, `training_seconds` (of the
        epochs, 0 for commands that do not train), and `overhead`, the seconds without training in
        units of `torch_seconds`.
    """
    folders = {} if data_root is None else {"UGCL_DATA": data_root}
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run"
        _call((*_UGCL, "train", graph, "--method", "ugcl", "--out", run), folders)
        node = str(load_run(run).ids()[0])
        commands: dict[str, tuple[str, ...]] = {
            "ugcl --version": ("--version",),
            "ugcl datasets": ("datasets",),
            f"ugcl train {graph} --method ugcl": ("train", graph, "--method", "ugcl"),
            f"ugcl train {graph}": ("train", graph),
            "ugcl neighbors": ("neighbors", run, "--", node),
            "ugcl embed": ("embed", run, "--out", f"{folder}/embeddings.csv"),
        }
        torch_seconds, seconds, training = [], _lists(commands), _lists(commands)
        for repeat in range(repeats):
            torch_seconds.append(_call(_TORCH))
            for name, words in commands.items():
                trains = words[0] == "train"
                out = f"{folder}/{repeat}-{len(words)}"
                added = ("--out", out) if trains else ()
                seconds[name].append(_call((*_UGCL, *words, *added), folders))
                training[name].append(_training_seconds(Path(out)) if trains else 0.0)
    unit = median(torch_seconds)
    rows = [
        {
            "command": name,
            "seconds": median(seconds[name]),
            "training_seconds": median(training[name]),
            "overhead": _median_difference(seconds[name], training[name]) / unit,
        }
        for name in commands
    ]
    return {"graph": graph, "repeats": repeats, "torch_seconds": unit, "rows": rows}


def bench_busy(
    graph: str = "citeseer",
    *,
    method: str = "ugcl",
    others: int = 2,
    repeats: int = 3,
    data_root: str | None = None,
) -> dict[str, Any]:
    """Time `ugcl train` beside other processes that never wait.

    With k others on c cores, all threads get an equal share of a core: c threads that wait for each
    other, as those of a training step do, take `(c + k) / c` times as long.

    Args:
        graph: a data set's name or a path.
        method: the method.
        others: how many other processes.
        repeats: how often each is timed; the medians count.
        data_root: the folder of raw data sets.

    Returns:
        `fair`, this factor, and `rows` for threads that sleep while they wait (`passive`, the
        default of `ugcl`) and that spin (`active`, that of OpenMP): `idle_seconds` and
        `busy_seconds` of training, and `factor`, their ratio in units of `fair`.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    fair = 1 + others / (cores or 1)
    policies: dict[str, Mapping[str, str]] = {"passive": {}, "active": SPINNING}
    folders = {} if data_root is None else {"UGCL_DATA": data_root}
    words = (*_UGCL, "train", graph, "--method", method)
    idle, busy = _lists(policies), _lists(policies)
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            for name, policy in policies.items():
                for times, count in ((idle, 0), (busy, others)):
                    out = f"{folder}/{repeat}-{name}-{count}"
                    neighbours = [subprocess.Popen(_BUSY) for _ in range(count)]
                    try:
                        _call((*words, "--out", out), {**folders, **policy})
                    finally:
                        for process in neighbours:
                            process.kill()
                            process.wait()
                    times[name].append(_training_seconds(Path(out)))
    rows = [
        {
            "policy": name,
            "idle_seconds": median(idle[name]),
            "busy_seconds": median(busy[name]),
            "factor": median(busy[name]) / median(idle[name]) / fair,
        }
        for name in policies
    ]
    return {"graph": graph, "method": method, "others": others, "fair": fair, "rows": rows}


def _call(words: Sequence[str], variables: Mapping[str, str] | None = None) -> float:
    """Run a command and return its seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in WAITING}
    started = time.perf_counter()
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment | dict(variables or {})
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        messages = done.stderr.strip().splitlines() or [f"it ended by {done.returncode}"]
        raise UGCLError(messages[-1].removeprefix("ugcl: "))
    return seconds


def _training_seconds(run: Path) -> float:
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    return float(metrics["training_seconds"])


def _lists(names: Mapping[str, object]) -> dict[str, list[float]]:
    return {name: [] for name in names}


def _median_difference(one: list[float], two: list[float]) -> float:
    return median(a - b for a, b in zip(one, two, strict=True))
