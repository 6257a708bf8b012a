"""Compare the memory that `ugcl train` announces with what it needs, each in a fresh process.

    python tools/memory_estimates.py results/memory_estimates.jsonl

Three epochs: memory peaks in the second step or in the embedding. Rows that the file has already
are not measured again; delete it after a change of what training keeps in memory.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

METHODS = ("ugcl", "multiscope")
GRAPHS = (
    *("cora", "citeseer", "pubmed", "amazon-computers", "amazon-photo"),
    *("coauthor-cs", "coauthor-physics"),
)


def main(out: Path) -> None:
    """Measure what is missing and add it to the file."""
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    known = {(row["method"], row["graph"]) for row in rows}
    for method in METHODS:
        for graph in GRAPHS:
            if (method, graph) not in known:
                row: dict[str, Any] = {"method": method, "graph": graph}
                row |= measure(method, graph)
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{row['announced_mb'] / row['peak_mb']:.2f}", row, flush=True)


def measure(method: str, graph: str) -> dict[str, int]:
    """Return the announced memory and the peak of the resident memory, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", graph, "--method", method, "--epochs", "3", "--threads", "1"]
        command = [sys.executable, "-m", "ugcl", *words, "--out", f"{folder}/run"]
        with Path(folder, "log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)  # of this process alone
            log.seek(0)
            text = log.read()
    if status:
        raise SystemExit(text)
    size, unit = re.findall(r"memory: about ([\d.,]+) (MB|GB)", text)[0]
    announced = float(size.replace(",", "")) * (1024 if unit == "GB" else 1)
    return {"announced_mb": round(announced), "peak_mb": round(usage.ru_maxrss / 1024)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
