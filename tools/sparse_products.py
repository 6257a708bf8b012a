"""Time the product of a sparse adjacency and a dense matrix by several kernels.

    python tools/sparse_products.py [--threads 1,2] [--repeats 5]

The kernels are interleaved; times are minima over repetitions. Writes the record `sparse_products`
of results/bench.jsonl.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from collect import RESULTS, put_record
from ugcl import sparse
from ugcl._utils.random import numpy_generator
from ugcl.bench import describe_machine
from ugcl.bench.timing import seconds

SIZES = ((3_000, 4), (20_000, 10), (7_500, 30), (100_000, 20), (1_000_000, 20))
"""Nodes and degree: like CiteSeer, PubMed, Photo, and two that exceed the cache."""

WIDTHS = (64, 256)


def random_graph(nodes: int, degree: int) -> sp.csr_array:
    """Return a matrix with `degree` entries in every row, at random."""
    rng, count = numpy_generator("bench"), nodes * degree
    columns = rng.integers(0, nodes, count, dtype=np.int32)
    starts = np.arange(0, count + 1, degree, dtype=np.int32)
    matrix = sp.csr_array((rng.random(count, dtype=np.float32), columns, starts), (nodes, nodes))
    matrix.sort_indices()
    return matrix


def kernels(matrix: sp.csr_array, dense: torch.Tensor) -> dict[str, Callable[[], Any]]:
    """Return the products of one matrix by name."""
    tensor = sparse.SparseMatrix.from_scipy(matrix, symmetric=True).matrix
    out, array = torch.empty_like(dense), dense.numpy()
    return {
        "mkl": lambda: torch.addmm(out, tensor, dense, beta=0, out=out),
        "reduce": lambda: torch.sparse.mm(tensor, dense, "sum"),
        "scipy": lambda: matrix @ array,
        "embedding_bag": lambda: sparse._gather(tensor, dense, out),
    }


def main() -> None:
    """Time all kernels, sizes and numbers of threads."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "bench.jsonl")
    args = parser.parse_args()
    rows = []
    for threads in (int(word) for word in args.threads.split(",")):
        torch.set_num_threads(threads)
        for nodes, degree in SIZES:
            matrix = random_graph(nodes, degree)
            for width in WIDTHS:
                functions = kernels(matrix, torch.ones(nodes, width))
                times: dict[str, list[float]] = {name: [] for name in functions}
                for _ in range(args.repeats):
                    for name, function in functions.items():
                        times[name].append(seconds(function))
                best = {name: min(values) for name, values in times.items()}
                sizes = {"threads": threads, "nodes": nodes, "degree": degree, "width": width}
                rows.append(sizes | {"seconds": best})
                print(*sizes.values(), {k: round(1000 * v, 2) for k, v in best.items()}, flush=True)
    record = {"name": "sparse_products", "rows": rows, "machine": describe_machine()}
    put_record(args.out, record, "name")


if __name__ == "__main__":
    main()
