"""Measure the label-free choice of n and compare it with the cost of ten training epochs.

    python tools/auto_scope.py VERSION GRAPH [GRAPH ...]

Each graph, the name of a data set or a file, becomes a record of results/auto_scope.jsonl: n,
CPU seconds on one thread, and sparse products of the whole graph with up to 128 columns.
Training is UGCL's preset `fast`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from collect import RESULTS, put_record
from ugcl import Graph, load_graph, sparse
from ugcl._utils.provenance import source_commit
from ugcl.data import sbm_graph
from ugcl.engine import Trainer, keep_memory
from ugcl.selection import DEFAULT_CRITERION, Choice, Readouts, apply_criterion, readouts

EPOCHS = 10


def main() -> None:
    """Measure the graphs named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", help="what is measured, for example now")
    parser.add_argument("graphs", nargs="+", help="data sets and files")
    args = parser.parse_args()
    torch.set_num_threads(1)
    _measure(sbm_graph(nodes=300, degree=6, homophily=0.8, features=200))  # imports, first calls
    for graph in args.graphs:
        name = Path(graph).name.removesuffix(".npz")
        record = {"name": f"{args.version}-{name}", "version": args.version, "graph": name}
        record |= _measure(load_graph(graph))
        put_record(RESULTS / "auto_scope.jsonl", record, "name")
        print(record)


def _measure(graph: Graph) -> dict[str, Any]:
    with patch.object(readouts, "multiply", wraps=sparse.multiply) as products:
        choice, seconds = _timed(lambda: apply_criterion(Readouts(graph), DEFAULT_CRITERION))
    assert isinstance(choice, Choice)
    trainer = Trainer("ugcl", graph, preset="fast", device="cpu", scope=max(choice.n or 0, 1))
    with keep_memory():
        trainer.step()  # what is computed once
        _, epochs = _timed(lambda: [trainer.step() for _ in range(EPOCHS)])
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "n": choice.n,
        "why": choice.why,
        "last_n": len(choice.scores or ()) - 1,
        "products": products.call_count,
        "cpu_seconds": seconds,
        "ten_epochs_cpu_seconds": epochs,
        "commit": source_commit(),
    }


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return function(), time.process_time() - start


if __name__ == "__main__":
    main()
