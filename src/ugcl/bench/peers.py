"""Comparison with other libraries: the same graphs, the same probe, time, memory and accuracy."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, make_folder, write_text
from ugcl._utils.results import check_fields
from ugcl.bench.child import ChildKilled, ask_fresh_process
from ugcl.bench.front import Row, peer_table, summarise
from ugcl.bench.libraries.peer import Peer
from ugcl.bench.libraries.registry import selected
from ugcl.bench.machine import describe_machine
from ugcl.bench.peer_child import bounded_splits
from ugcl.bench.plot_peers import plot_peers
from ugcl.data import FAMILIES, load_graph, sbm_graph, synthetic_graph
from ugcl.graph import Graph
from ugcl.report import check_plotting

logger = logging.getLogger(__name__)

GRAPHS = ("cora", "pubmed", "amazon-photo", "amazon-computers", "sbm:100000", "sbm:1000000")
"""The graphs that are compared by default."""

THREAD_VARIABLES = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"),
)
"""Environment variables by which libraries choose their number of threads when they start."""

FIELDS = ("graph", "method", "threads", "repeat", "splits", "reason", "final")

SYNTHETIC = re.compile(r"([a-z-]+):(\d+)")
"""A synthetic graph, as in `sbm:100000`: `sbm` or a family, and the number of nodes."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        graphs: as `bench_peers` takes them.
        peers: the peers that are installed.
        threads: the numbers of threads.
        repeats: number of repetitions.
        splits: number of random splits.
        time_limit: CPU seconds after which an embedding is stopped.
        data_root: the folder of raw data sets.
    """

    graphs: Sequence[str]
    peers: Sequence[Peer]
    threads: Sequence[int]
    repeats: int
    splits: int
    time_limit: float
    data_root: str | None


def bench_peers(
    graphs: Sequence[str] = GRAPHS,
    out: Path = Path("peers"),
    *,
    peers: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    threads: Sequence[int | str] = (1, "all"),
    repeats: int = 3,
    splits: int = 5,
    time_limit: float = 600.0,
    figure: Path | None = None,
    data_root: str | None = None,
) -> dict[str, Any]:
    """Measure peers and methods of this library on graphs, each in a fresh process.

    Methods take turns within a repetition. Each repetition has its own seed. A method that is
    stopped or fails is not repeated.

    Args:
        graphs: data sets' names, paths, or `sbm:N` and `FAMILY:N` for synthetic graphs of N nodes.
        out: a folder for `peers.jsonl`, or a file that ends in `.jsonl`; the table and the figure
            are next to it. Measurements that the file has already are not repeated.
        peers: names of peers or of their packages, or ("none",); by default all. Those that are
            not installed are skipped with a reason.
        methods: names of methods of this library, or ("none",); by default `registry.OURS`.
        threads: numbers of CPU threads; "all" is the number of cores.
        repeats: number of repetitions.
        splits: number of random splits that the probe is trained on.
        time_limit: CPU seconds after which an embedding is stopped.
        figure: where to draw accuracy against seconds; by default next to `out`.
        data_root: the folder of raw data sets.

    Returns:
        `rows`, the measurements; `summary`, as `front.summarise` makes it; `skipped`, the reason by
        peer; and the paths `out`, `table` and `figure`.
    """
    chosen = selected(peers, methods)
    skipped = {peer.name: peer.missing for peer in chosen if peer.missing}
    records = out if out.suffix == ".jsonl" else out / "peers.jsonl"
    figure = figure or records.with_suffix(".png")
    check_plotting(figure)
    if records != out:
        make_folder(out)
    for path in (records, figure):
        check_writable(path)
    plan = Plan(
        list(graphs),
        [peer for peer in chosen if not peer.missing],
        list(dict.fromkeys(_cores() if count == "all" else int(count) for count in threads)),
        repeats,
        splits,
        time_limit,
        data_root,
    )
    for graph in graphs:
        if SYNTHETIC.fullmatch(graph):
            _synthetic(graph, nodes=100)  # refuses an unknown family
        else:
            bounded_splits(load_graph(graph, data_root), 1)  # refuses a graph without labels
    rows = _read(records, splits)
    for name, reason in skipped.items():
        logger.info("%s is skipped: %s", name, reason)
    for row in _measurements(plan, rows):
        rows = [*(old for old in rows if _key(old) != _key(row)), row]
        write_text(records, "".join(json.dumps(each) + "\n" for each in rows))
    summary = summarise(rows)
    if summary:
        plot_peers(summary, figure)
    lines = ["| " + " | ".join(cells) + " |" for cells in peer_table(summary)]
    lines.insert(1, "|" + "---|" * lines[0].count(" | ") + "---|")
    lines += ["", *(f"- `{name}` is skipped: {reason}" for name, reason in skipped.items())]
    write_text(records.with_suffix(".md"), "\n".join(lines).rstrip() + "\n")
    paths = {"out": records, "table": records.with_suffix(".md"), "figure": figure}
    return {
        "rows": rows,
        "summary": summary,
        "skipped": skipped,
        **{name: str(path) for name, path in paths.items()},
    }


def _measurements(plan: Plan, rows: list[Row]) -> Iterator[Row]:
    """Yield the measurements that `rows` lacks."""
    machine = describe_machine()
    del machine["threads"]
    done = {_key(row) for row in rows if _is_done(row, plan)}
    ended = {key[:3] for key in (_key(row) for row in rows if row["reason"]) if key in done}
    for graph in plan.graphs:
        cases = [
            (peer, threads, repeat)
            for repeat in range(plan.repeats)
            for threads in plan.threads
            for peer in plan.peers
            if (graph, peer.name, threads, repeat) not in done
        ]
        if not cases:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source, size = _source(graph, Path(folder), plan.data_root)
            for peer, threads, repeat in cases:
                case = {"graph": graph, "method": peer.name, "threads": threads, "repeat": repeat}
                if (graph, peer.name, threads) in ended:
                    continue
                logger.info("%s on %s, threads %s, repetition %s", *_words(case))
                measured = _measure(peer, source, threads, repeat, plan)
                if measured["reason"]:
                    logger.info("%s on %s: %s", peer.name, graph, measured["reason"])
                    ended.add((graph, peer.name, threads))
                versions = {"package": peer.package, "version": peer.version}
                yield (
                    case
                    | {"splits": plan.splits}
                    | size
                    | versions
                    | measured
                    | {"machine": machine}
                )


def _measure(peer: Peer, source: str, threads: int, seed: int, plan: Plan) -> Row:
    """Return a measurement; without one, its `reason`, and whether that is `final`."""
    request = {
        "task": "peer",
        "peer": peer.name,
        "graph": source,
        "data_root": plan.data_root,
        "threads": threads,
        "seed": seed,
        "splits": plan.splits,
        "time_limit": plan.time_limit,
    }
    limits = {"time_limit": plan.time_limit}
    try:
        measured = ask_fresh_process(request, dict.fromkeys(THREAD_VARIABLES, str(threads)))
    except ChildKilled as error:
        return _stopped(error.signal, plan.time_limit) | limits
    except UGCLError as error:
        return {"reason": f"failed: {error}", "final": False} | limits
    return {"reason": None, "final": True} | limits | measured


def _is_done(row: Row, plan: Plan) -> bool:
    """Return whether not to measure again: failures and shorter limits are tried again."""
    enough: bool = row["final"] and (not row["reason"] or row["time_limit"] >= plan.time_limit)
    return enough


def _key(row: Row) -> tuple[str, str, int, int]:
    return row["graph"], row["method"], row["threads"], row["repeat"]


def _words(case: Row) -> tuple[Any, ...]:
    return case["method"], case["graph"], case["threads"], case["repeat"] + 1


def _source(graph: str, folder: Path, data_root: str | None) -> tuple[str, Row]:
    """Return where the graph can be loaded from, and its size; synthetic ones are stored."""
    if SYNTHETIC.fullmatch(graph):
        made, source = _synthetic(graph), str(folder / "graph.npz")
        made.save(source, compressed=False)
    else:
        made, source = load_graph(graph, data_root), graph
    return source, {"nodes": made.num_nodes, "edges": made.num_edges}


def _synthetic(graph: str, nodes: int | None = None) -> Graph:
    family, _, count = graph.partition(":")
    size = int(count) if nodes is None else nodes
    if family == "sbm":
        return sbm_graph(nodes=size)
    if family not in FAMILIES:
        families = ", ".join(["sbm", *FAMILIES])
        raise UGCLError(f"{graph} names no kind of synthetic graph: use one of {families}")
    return synthetic_graph(family, nodes=size)


def _read(path: Path, splits: int) -> list[Row]:
    """Return the measurements of a file, none if there is no file."""
    if not path.is_file():
        return []
    try:
        rows: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        complete = all(set(FIELDS) <= row.keys() for row in rows)
    except (AttributeError, TypeError, ValueError):
        complete = False
    if not complete:
        raise UGCLError(f"{path} is not a result of this command: choose another `out`")
    for row in rows:
        check_fields(path, row, {"splits": splits})
    return rows


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _stopped(number: int, time_limit: float) -> dict[str, Any]:
    """Say why a signal ended a measurement, and whether another try would end in the same way."""
    name = signal.Signals(number).name
    reasons = {
        "SIGPROF": f"stopped after {time_limit:g} CPU seconds",
        "SIGKILL": "memory ran out",
    }
    return {"reason": reasons.get(name, f"failed: ended by {name}"), "final": name in reasons}
