"""Score link prediction and clustering of methods over several seeds.

    python tools/task_results.py GRAPH METHOD [METHOD ...] [--seeds 5]

Train each method with `fast` on the graph without a tenth of its edges, the same edges for all, and
score it as `ugcl evaluate --task links` and `--task clusters` do. Scores are added to
results/tasks.jsonl; those already there are not computed again.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import product
from pathlib import Path

from collect import RESULTS, Record, find_record, put_record, read_records
from ugcl._utils.provenance import source_commit
from ugcl.evaluation import evaluate_clusters, evaluate_links
from ugcl.runs import open_run, prepare, train_run

HOLD_OUT_EDGES = 0.1


def main() -> None:
    """Train and score the missing methods and seeds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph")
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--out", type=Path, default=RESULTS / "tasks.jsonl")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    for method, seed in product(args.methods, range(args.seeds)):
        key = {"graph": args.graph, "method": method, "seed": seed}
        if find_record(read_records(args.out), **key) is None:
            print(f"{method}, seed {seed}", flush=True)
            put_record(args.out, score(args.graph, method, seed), *key)


def score(graph: str, method: str, seed: int) -> Record:
    """Train a method and score both tasks."""
    prepared = prepare(graph, method=method, seed=seed, hold_out_edges=HOLD_OUT_EDGES)
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "run", prepared)
        train_run(run, prepared)
        return {
            "graph": graph,
            "hold_out_edges": HOLD_OUT_EDGES,
            "method": method,
            "seed": seed,
            "links": evaluate_links(run).to_json(),
            "clusters": evaluate_clusters(run).to_json(),
            "settings": prepared.config.settings.values(),
            "commit": source_commit(),
        }


if __name__ == "__main__":
    main()
