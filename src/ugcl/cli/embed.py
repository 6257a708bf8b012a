"""`ugcl embed`: embeddings of any graph by a trained run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from ugcl.cli.common import (
    add_command,
    add_compute_options,
    add_data_root,
    print_json,
    use_threads,
)
from ugcl.data import load_graph
from ugcl.errors import UGCLError
from ugcl.files import check_writable, write_csr, write_npy
from ugcl.runs import Run, embed_graph
from ugcl.training import resolve_device


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "embed",
        run,
        "embed a graph's nodes with a trained run",
        "ugcl embed runs/citeseer citeseer --out embeddings.npy",
    )
    parser.add_argument("trained", metavar="RUN", help="a finished run folder")
    parser.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="the file to write: .npy, or .npz for embeddings that are sparse",
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Embed."""
    out = Path(arguments.out)
    if out.suffix not in (".npy", ".npz"):
        raise UGCLError(
            f"--out {out} must end in .npy, NumPy's format, or .npz, SciPy's for sparse embeddings"
        )
    check_writable(out)
    if (out.parent / "config.toml").is_file():
        raise UGCLError(
            f"{out.parent} is a run folder, which holds its own results: choose another --out"
        )
    trained = Run.open(arguments.trained)
    use_threads(arguments.threads or trained.config.threads)
    graph = load_graph(arguments.graph, arguments.data_root)
    device = resolve_device(arguments.device or trained.config.device)
    embeddings = embed_graph(trained, graph, device)
    kind, ending = ("sparse", ".npz") if sp.issparse(embeddings) else ("dense", ".npy")
    if out.suffix != ending:
        raise UGCLError(f"these embeddings are {kind}: give --out a name that ends in {ending}")
    (write_csr if kind == "sparse" else write_npy)(out, embeddings)
    if arguments.json:
        print_json({"file": str(out), "shape": list(embeddings.shape), "sparse": kind == "sparse"})
    else:
        rows, columns = embeddings.shape
        print(f"{out}: {rows:,} nodes, {columns:,} columns, float32, {kind}")
    return 0
