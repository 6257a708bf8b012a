"""Measure the end-to-end time of `ugcl train`: a new process with empty caches.

    UGCL_DATA=DIR python tools/cold_start.py [--method METHOD] GRAPH [GRAPH ...]

The raw files must exist, as downloads are not measured. Writes the record `cold_start` of
results/bench.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from collect import RESULTS, put_record
from ugcl.bench import describe_machine
from ugcl.methods import DEFAULT_METHOD


def main() -> None:
    """Train each graph once with the default method and write its times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--method", default=DEFAULT_METHOD)
    parser.add_argument("--out", type=Path, default=RESULTS / "bench.jsonl")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    record: dict[str, Any] = {"name": "cold_start", "method": args.method, "seconds": {}}
    record["machine"] = describe_machine()
    for graph in args.graphs:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", "import sys, ugcl.cli; sys.exit(ugcl.cli.main())"]
            started = time.perf_counter()
            subprocess.run(
                [*command, "train", graph, "--method", args.method, "--out", f"{folder}/run"],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if args.quiet else None,
                env=os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"},
            )
            total = time.perf_counter() - started
            metrics = json.loads(Path(folder, "run", "metrics.json").read_text("utf-8"))
        record["seconds"][graph] = {
            "cold_start": round(total, 1),
            "training": round(metrics["training_seconds"], 1),
        }
        print(graph, record["seconds"][graph], flush=True)
    put_record(args.out, record, "name")


if __name__ == "__main__":
    main()
