"""Print the tables of docs/bench/README.md from the results beside it.

python tools/bench_tables.py docs/bench
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ugcl.data import DATASETS
from ugcl.methods import METHODS


def load(folder: Path) -> dict[str, Any]:
    """What `ugcl bench suite --out FOLDER`, `ugcl bench embed` and `ugcl bench memory` wrote."""
    read: dict[str, Any] = json.loads((folder / "bench.json").read_text("utf-8"))
    for name in ("embed", "memory"):
        read[name] = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return read


def steps(result: dict[str, Any]) -> Iterator[str]:
    """A line for each graph and preset: the step in units of one product."""
    heads = "data set | settings | S | D | n | mm | step | objective | unblocked | naive | peak"
    yield f"| {heads} | of S x D |"
    yield "|" + "---|" * 12
    for row in result["steps"]:
        names = ("step", "objective", "objective_unblocked", "naive")
        times = [row[f"{name}_mm"] for name in names]
        listed = " | ".join("-" if time is None else f"{time:.2f} mm" for time in times)
        yield (
            f"| {row['graph']} | `{row['settings']}` | {row['S']:,} | {row['D']:,} | {row['n']} "
            f"| {1000 * row['mm_seconds']:,.0f} ms | {listed} | {row['peak_bytes'] / 1e6:,.0f} MB "
            f"| {row['peak_arrays']:.1f} |"
        )


def parts(result: dict[str, Any]) -> Iterator[str]:
    """A line for each graph and preset: milliseconds of the parts of the step."""
    names = list(result["steps"][0]["parts_mm"])
    yield f"| data set | settings | {' | '.join(names)} |"
    yield "|" + "---|" * (len(names) + 2)
    for row in result["steps"]:
        times = [f"{1000 * row['mm_seconds'] * row['parts_mm'][name]:,.1f}" for name in names]
        yield f"| {row['graph']} | `{row['settings']}` | {' | '.join(times)} |"


def growth(result: dict[str, Any]) -> Iterator[str]:
    """A line for each size that grows: times, memory, exponents."""
    yield "| what grows | sizes | time, ms | exponent | memory, MB | exponent |"
    yield "|---|---|---|---|---|---|"
    grown = {name: rows for name, rows in result["scaling"].items() if name != "base"}
    for name, rows in grown.items():
        yield (
            f"| {name} | {_row(rows['sizes'], 1)} | {_row(rows['seconds'], 1000)} "
            f"| {rows['seconds_exponent']:.2f} | {_row(rows['peak_bytes'], 1e-6)} "
            f"| {rows['bytes_exponent']:.2f} |"
        )


def embedding(result: dict[str, Any]) -> Iterator[str]:
    """A line for each number of edges: embedding, its sparse products alone, memory."""
    rows = result["embed"]
    yield "| edges | seconds | its sparse products alone | times as long | memory, MB |"
    yield "|---|---|---|---|---|"
    columns = (rows["sizes"], rows["seconds"], rows["products_seconds"], rows["peak_bytes"])
    for size, seconds, products, held in zip(*columns, strict=True):
        yield (
            f"| {size:,} | {seconds:.3f} | {products:.3f} | {seconds / products:.1f} "
            f"| {held / 1e6:,.0f} |"
        )
    exponents = (rows[f"{name}_exponent"] for name in ("seconds", "products", "beyond_cache"))
    whole, alone, beyond = (f"{value:.2f}" for value in exponents)
    yield f"| exponent of the last three | {whole} | {alone} | | {rows['bytes_exponent']:.2f} |"
    yield f"| exponent of the last two | {beyond} | | | |"


STRIPS = "all pairs, in strips"
SAMPLES = "sampled pairs"
HOW = {
    "grace": STRIPS,
    "gca": STRIPS,
    "gmi": f"{STRIPS}; edges as a sparse matrix",
    "dgi": "one summary",
    "mvgrl": "two summaries; a sparse diffusion",
    "bgrl": "each node and itself",
    "subg-con": "each node and its subgraph, 500 at a time",
    "ggd": "each node by itself",
    "cca-ssg": "columns with columns",
}
"""What a method compares, and how that is kept small."""


def memory(result: dict[str, Any]) -> Iterator[str]:
    """A line for each method and preset: gigabytes at the peak on each data set."""
    rows = result["memory"]["rows"]
    graphs = [name for name in DATASETS if any(row["graph"] == name for row in rows)]
    yield f"| method | settings | what is compared | {' | '.join(graphs)} |"
    yield "|" + "---|" * (len(graphs) + 3)
    for preset, method in product(("paper", "fast"), METHODS):
        about = (method, preset)
        mine = [row for row in rows if (row["method"], row["settings"]) == about]
        held = {row["graph"]: f"{row['peak_bytes'] / 1e9:.2f}" for row in mine}
        how = HOW.get(method, STRIPS)
        if preset == "fast":
            how = how.replace(STRIPS, SAMPLES)
        if held:
            cells = " | ".join(held.get(graph, "-") for graph in graphs)
            yield f"| `{method}` | `{preset}` | {how} | {cells} |"


def _row(values: list[float], unit: float) -> str:
    return ", ".join(f"{value * unit:,.0f}" for value in values)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = load(Path(sys.argv[1]))
    for table in (steps, parts, growth, embedding, memory):
        print(*table(found), "", sep="\n")
