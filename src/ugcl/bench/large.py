"""From files of edges to embeddings on disk, as graphs grow: time, memory and bytes of each stage.

Each stage is a command in a new process. Beside it stand what it cannot be faster than: for the
conversion a sort of the edges by DuckDB, for the embedding the bytes that its sparse products move.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, make_folder, write_json
from ugcl.bench.machine import describe_machine
from ugcl.bench.plot import plot_scale
from ugcl.bench.timing import exponent, seconds
from ugcl.graph import Graph
from ugcl.report import check_plotting

logger = logging.getLogger(__name__)

SIZES = (10**5, 10**6, 10**7)

STAGES = ("convert", "train", "embed")

INTERVAL = 0.05
"""Seconds between two looks at the memory of a process."""

COPIED = 2**28
"""Numbers in the array whose copy tells the bandwidth: far more than fit into a cache."""

_SORT = """
import sys, duckdb
edges, folder, limit, threads = sys.argv[1:]
options = {"memory_limit": limit, "threads": int(threads), "temp_directory": folder + "/spilled"}
database = duckdb.connect(folder + "/sort.db", config=options)
database.execute("SET preserve_insertion_order = false")
database.execute("SET enable_progress_bar = false")
both = f"SELECT source u, target v FROM '{edges}' UNION ALL SELECT target, source FROM '{edges}'"
database.execute(f"CREATE TABLE both_ways AS {both}")
import time
started = time.perf_counter()
database.execute("CREATE TABLE sorted AS SELECT u, v FROM both_ways ORDER BY u, v")
print(time.perf_counter() - started)
"""


@dataclass(frozen=True)
class Scale:
    """What is measured for each number of nodes.

    Attributes:
        degree: mean degree of the graph, a stochastic block model.
        features: number of features.
        sample: nodes of a training step.
        hidden: width of the embeddings.
        scope: n of the contexts and of the readout.
        steps: training steps.
        memory: the limit of the conversion and of the embedding.
    """

    degree: int = 20
    features: int = 64
    sample: int = 4000
    hidden: int = 256
    scope: int = 2
    steps: int = 100
    memory: str = "4GB"


def bench_scale(
    out: Path,
    sizes: Sequence[int] = SIZES,
    *,
    scale: Scale | None = None,
    folder: str | Path | None = None,
) -> dict[str, Any]:
    """Convert edge files, train UGCL and embed, for graphs of growing size.

    Args:
        out: the folder for `scale.json`, which each size adds to, and `scale.png`.
        sizes: numbers of nodes.
        scale: the other sizes.
        folder: where the files are made; they are deleted. By default the system's.

    Returns:
        The settings; `copy_bandwidth`, bytes read and written per second by a copy; for each number
        of nodes a row of `rows`, whose `convert`, `train` and `embed` have `seconds`,
        `anonymous_bytes` and `resident_bytes` (peaks; only the second has mapped pages), and
        `read_bytes` from disk; and the `exponents` of the seconds. `train` includes the embedding.
    """
    scale = scale or Scale()
    if find_spec("duckdb") is None:
        raise UGCLError(
            "ugcl bench scale needs duckdb, which is not installed: pip install 'ugcl[big]'"
        )
    check_plotting(out / "scale.png")
    make_folder(out)
    check_writable(out / "scale.json")
    bandwidth = copy_bandwidth()
    result: dict[str, Any] = {
        **asdict(scale),
        "machine": describe_machine(),
        "copy_bandwidth": bandwidth,
        "rows": [],
    }
    for size in sizes:
        logger.info("%s nodes, %s edges", f"{size:,}", f"{size * scale.degree // 2:,}")
        with tempfile.TemporaryDirectory(prefix="ugcl-scale-", dir=folder) as place:
            result["rows"].append(_measure(size, scale, Path(place), bandwidth))
        result["exponents"] = _exponents(result["rows"])
        write_json(out / "scale.json", result)
    plot_scale(result, out / "scale.png")
    return result


def _exponents(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the growth of each stage's seconds with the number of nodes."""
    if len(rows) < 2:
        return {}
    sizes = [row["nodes"] for row in rows]
    return {stage: exponent(sizes, [row[stage]["seconds"] for row in rows]) for stage in STAGES}


def _measure(size: int, scale: Scale, place: Path, bandwidth: float) -> dict[str, Any]:
    threads = ("--threads", str(torch.get_num_threads()))
    tables, graph, run = place / "tables", place / "graph", place / "run"
    sizes = ("--nodes", size, "--degree", scale.degree, "--features", scale.features)
    logger.info("generate")
    _measured("generate", "sbm", *sizes, "--out", tables, "--format", "parquet")
    edges, nodes = tables / "edges.parquet", tables / "nodes.parquet"
    logger.info("sort")
    sort = _sort_seconds(edges, place, scale.memory)
    logger.info("convert")
    files = ("--edges", edges, "--features", nodes)
    convert = _measured("convert", *files, "--out", graph, "--memory", scale.memory, *threads)
    shutil.rmtree(tables)
    logger.info("train")
    settings = ("--method", "ugcl", "--sample", scale.sample, "--hidden", scale.hidden)
    chosen = ("--scope", scale.scope, "--readout-scope", scale.scope)
    train = ("train", graph, *settings, *chosen, "--epochs", scale.steps, "--out", run)
    trained = _measured(*train, *threads)
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    logger.info("embed")
    out = place / "embeddings.npy"
    embed = ("embed", run, graph, "--out", out, "--memory", scale.memory)
    embedded = _measured(*embed, *threads)
    opened = Graph.open(graph)
    entries = opened.adjacency.nnz + size
    moved = 4 * scale.hidden * (scale.scope * entries + size)  # gathered, and written once
    return {
        "nodes": size,
        "edges": opened.num_edges,
        "sort_seconds": sort,
        "convert": convert | {"per_sort": convert["seconds"] / sort},
        "train": trained | {"step_seconds": metrics["training_seconds"] / scale.steps},
        "embed": embedded
        | {"moved_bytes": moved, "per_copy": embedded["seconds"] * bandwidth / moved},
    }


def copy_bandwidth(repeats: int = 5) -> float:
    """Return the bytes per second, read and written, of the fastest of several copies."""
    source = torch.zeros(COPIED)
    target = torch.empty_like(source).copy_(source)
    fastest = min(seconds(lambda: target.copy_(source)) for _ in range(repeats))
    return 2 * source.nbytes / fastest


def _sort_seconds(edges: Path, place: Path, memory: str) -> float:
    """Return the seconds in which DuckDB sorts the edges in both directions."""
    folder = place / "sort"
    folder.mkdir()
    words = (sys.executable, "-c", _SORT, str(edges), str(folder), memory)
    done = subprocess.run(
        (*words, str(torch.get_num_threads())), capture_output=True, text=True, check=False
    )
    shutil.rmtree(folder)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if " Error: " in line] or ["unknown"]
        reason = lines[-1].partition(" Error: ")[2] or lines[-1]
        raise UGCLError(f"DuckDB cannot sort the edges within {memory} ({reason}): raise `memory`")
    return float(done.stdout)


def _measured(*words: object) -> dict[str, Any]:
    """Run a command of ours in a new process and return its seconds, memory and bytes read."""
    peaks = {"RssAnon": 0, "VmHWM": 0}
    read = None
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as messages:
        command = [sys.executable, "-m", "ugcl", *map(str, words)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
        while child.poll() is None:
            for name, value in _fields(f"/proc/{child.pid}/status").items():
                if name in peaks:
                    peaks[name] = max(peaks[name], 1024 * int(value.split()[0]))
            read = _fields(f"/proc/{child.pid}/io").get("read_bytes", read)
            time.sleep(INTERVAL)
        taken = time.perf_counter() - started
        if child.returncode:
            messages.seek(0)
            last = (messages.read().strip().splitlines() or [f"it ended by {child.returncode}"])[-1]
            raise UGCLError(f"ugcl {words[0]}: {last.removeprefix('ugcl: ')}")
    return {
        "seconds": taken,
        "anonymous_bytes": peaks["RssAnon"] or None,
        "resident_bytes": peaks["VmHWM"] or None,
        "read_bytes": None if read is None else int(read),
    }


def _fields(path: str) -> dict[str, str]:
    """Return the fields of a file of /proc; none where it cannot be read."""
    with suppress(OSError):
        lines = Path(path).read_text("utf-8").splitlines()
        return {name: value for name, _, value in (line.partition(":") for line in lines) if value}
    return {}
