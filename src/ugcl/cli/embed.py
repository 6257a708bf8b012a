"""`ugcl embed`: export the embeddings of a run, or embed another graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.cli.common import (
    add_command,
    add_compute_options,
    add_data_root,
    print_json,
    say,
    use_threads,
)
from ugcl.cli.graphs import add_graph, graph_of
from ugcl.data import GraphFiles
from ugcl.graph import Graph
from ugcl.runs import Run, load_graph_for, load_run
from ugcl.runs.export import WRITERS, check_ending, write_embeddings


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "embed",
        run,
        "write a run's embeddings, or those of a graph that it was not trained on",
        "ugcl embed runs/mine --out embeddings.parquet\n"
        "  ugcl embed runs/mine --edges later.csv --features later-features.csv --out later.csv",
    )
    parser.add_argument("trained", metavar="RUN", help="a finished run folder")
    add_graph(parser)
    formats = ", ".join(f"{ending} {words}" for ending, (words, _) in WRITERS.items())
    parser.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help=f"the file to write; by its extension {formats}",
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Embed."""
    out = Path(arguments.out)
    check_ending(out)
    if (out.parent / "config.toml").is_file():
        raise UGCLError(
            f"{out.parent} is a run folder, which holds its own results: choose another --out"
        )
    trained = load_run(arguments.trained)
    use_threads(arguments.threads or trained.config.threads)
    source = graph_of(arguments, trained.config.graph_files)
    if source is None:
        embeddings, ids, labels = trained.embeddings(), trained.ids(), trained.labels()
    else:
        embeddings, ids, labels = _of_graph(trained, source, arguments)
    written = write_embeddings(out, embeddings, ids, labels)
    rows, columns = embeddings.shape
    sparse = bool(sp.issparse(embeddings))
    if arguments.json:
        print_json(
            {
                "file": str(out),
                "files": [str(path) for path in written],
                "shape": [rows, columns],
                "sparse": sparse,
            }
        )
    else:
        kind = "sparse" if sparse else "dense"
        print(f"{out}: {rows:,} nodes, {columns:,} columns, float32, {kind}")
        for path in written[1:]:
            print(f"{path}")
    return 0


def _of_graph(
    trained: Run, source: str | GraphFiles, arguments: argparse.Namespace
) -> tuple[Any, npt.NDArray[Any], npt.NDArray[np.str_] | None]:
    """Return embeddings, ids and labels of a graph."""
    graph = load_graph_for(trained, source, arguments.data_root)
    for note in graph.notes:
        say(f"  {note}")
    ids = np.arange(graph.num_nodes) if graph.ids is None else graph.ids
    return trained.embed(graph, device=arguments.device), ids, _labels(graph)


def _labels(graph: Graph) -> npt.NDArray[np.str_] | None:
    if graph.labels is None:
        return None
    names = graph.class_names or [str(number) for number in range(graph.num_classes)]
    return np.array([*names, ""])[graph.labels]
