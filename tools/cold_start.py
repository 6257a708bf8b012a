"""Time `ugcl train` from a cold start: a new process, empty caches, everything included.

UGCL_DATA=DIR python tools/cold_start.py --out docs/bench/cold_start.json GRAPH [GRAPH ...]

The raw files must be there: downloads are not part of it.
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

from ugcl._utils.files import write_json
from ugcl.bench import machine


def main() -> None:
    """Train each graph once with the default settings and write how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--quiet", action="store_true")
    asked = parser.parse_args()
    result: dict[str, Any] = {"machine": machine(), "seconds": {}}
    for graph in asked.graphs:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", "import sys, ugcl.cli; sys.exit(ugcl.cli.main())"]
            started = time.perf_counter()
            subprocess.run(
                [*command, "train", graph, "--out", f"{folder}/run"],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if asked.quiet else None,
                env=os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"},
            )
            total = time.perf_counter() - started
            metrics = json.loads(Path(folder, "run", "metrics.json").read_text("utf-8"))
        result["seconds"][graph] = {
            "cold_start": round(total, 1),
            "training": round(metrics["training_seconds"], 1),
        }
        write_json(asked.out, result)
        print(graph, result["seconds"][graph], flush=True)


if __name__ == "__main__":
    main()
