"""One measurement of `ugcl bench peers`, in the process that `ugcl.bench.child` started."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ugcl._utils.random import numpy_generator
from ugcl.bench.child import peak_above, resident_bytes
from ugcl.bench.libraries.peer import Run
from ugcl.bench.libraries.registry import get_peer
from ugcl.data import load_graph, sbm_graph
from ugcl.data.splits import Split
from ugcl.evaluation import linear_probe
from ugcl.evaluation.classification import random_splits
from ugcl.graph import Graph

LIMITS = {"train": 2_000, "val": 2_000, "test": 20_000}
"""Nodes of a split that the probe uses at most."""


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Embed a graph by a peer and score the embeddings.

    A warm-up on a graph of 64 nodes comes first, so that imports and compilation do not count.

    Args:
        request: `peer`, `graph`, `data_root`, `threads`, `seed`, `splits`, and `time_limit`, the
            CPU seconds after which a signal (SIGPROF) ends the embedding and the process.

    Returns:
        `cpu_seconds`, of all threads, and `seconds` of the embedding; `prepare_cpu_seconds`, from
        our graph to the library's own; `peak_bytes` while embedding, above the memory after the
        warm-up (None except on Linux); `width`; `accuracy`, in percent, by split.
    """
    peer, run = get_peer(request["peer"]), Run(request["threads"], request["seed"])
    warm_up = sbm_graph(nodes=64, degree=4, features=8)
    peer.embed(peer.prepare(warm_up, run), replace(run, brief=True))
    gc.collect()
    imported = resident_bytes()
    graph = load_graph(request["graph"], request["data_root"])
    labels, splits = graph.labels, bounded_splits(graph, request["splits"])
    assert labels is not None
    before = time.process_time()
    data = peer.prepare(graph, run)
    prepared = time.process_time() - before
    del graph
    gc.collect()
    _reset_peak()
    with _time_limit(request["time_limit"]):
        start, before = time.perf_counter(), time.process_time()
        embeddings = peer.embed(data, run)
        cpu, wall = time.process_time() - before, time.perf_counter() - start
    return {
        "cpu_seconds": cpu,
        "seconds": wall,
        "prepare_cpu_seconds": prepared,
        "peak_bytes": peak_above(imported),
        "width": embeddings.shape[1],
        "accuracy": [linear_probe(embeddings, labels, split).accuracy for split in splits],
    }


def bounded_splits(graph: Graph, count: int) -> list[Split]:
    """Return the random splits of `ugcl evaluate --splits`, with at most `LIMITS` nodes each."""
    return [_bounded(split, seed) for seed, split in enumerate(random_splits(graph, count))]


def _bounded(split: Split, seed: int) -> Split:
    rng = numpy_generator("bench", seed)
    return {
        part: nodes
        if nodes.size <= LIMITS[part]
        else np.sort(rng.choice(nodes, LIMITS[part], replace=False))
        for part, nodes in split.items()
    }


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End the process by SIGPROF after so many CPU seconds; no library's code can delay it."""
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _reset_peak() -> None:
    """Let the peak memory of this process start from its memory now, where Linux allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "utf-8")
