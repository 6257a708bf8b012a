"""Link prediction and clustering of methods over several seeds, as data.

    python tools/task_results.py GRAPH --out FILE [--seeds 5] METHOD [METHOD ...]

trains each method with `fast` on the graph without a tenth of its edges, the same ones for all, and
scores it as `ugcl evaluate --task links` and `--task clusters` do. Writes every score as it goes;
what FILE holds already is not computed again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from ugcl._utils.files import write_json
from ugcl._utils.provenance import source_commit
from ugcl.evaluation import evaluate_clusters, evaluate_links
from ugcl.runs import new_config, open_run, train_run

HELD_OUT = 0.1


def main() -> None:
    """Train and score what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    result: dict[str, Any] = {"graph": asked.graph, "hold_out_edges": HELD_OUT, "rows": []}
    if asked.out.is_file():
        result = json.loads(asked.out.read_text("utf-8"))
        assert result["graph"] == asked.graph
    for method in asked.methods:
        for seed in range(asked.seeds):
            done = any((row["method"], row["seed"]) == (method, seed) for row in result["rows"])
            if not done:
                print(f"{method}, seed {seed}", flush=True)
                result["rows"].append(scored(asked.graph, method, seed))
                write_json(asked.out, result)


def scored(graph: str, method: str, seed: int) -> dict[str, Any]:
    """A row: how a run of a method does by both tasks."""
    config, loaded = new_config(graph, method=method, seed=seed, hold_out_edges=HELD_OUT)
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "run", config, loaded, resume=False)
        train_run(run, loaded)
        return {
            "method": method,
            "seed": seed,
            "links": evaluate_links(run).to_json(),
            "clusters": evaluate_clusters(run).to_json(),
            "settings": config.settings.values(),
            "commit": source_commit(),
        }


if __name__ == "__main__":
    main()
