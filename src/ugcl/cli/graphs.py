"""The graph of a command: a data set's name, a file, or files of one's own."""

from __future__ import annotations

import argparse

from ugcl._utils.errors import UGCLError
from ugcl.data import DATASETS, GraphFiles

FILES = {
    "edges": "the edges: .csv, .tsv, .txt, .parquet, .jsonl (also .gz), .graphml, .gml, .npy, .npz",
    "features": "the nodes' features: .csv, .tsv, .parquet, .jsonl, .npy, .npz, or .json of id -> "
    "list of feature indices; without any, features are made of the edges",
    "labels": "the nodes' labels, and perhaps a split: .csv, .tsv, .parquet, .jsonl, .npy",
    "ids": "the ids of the features' rows, where the features have none",
}

COLUMNS = {
    "source": "the edges' column of the first node",
    "target": "the edges' column of the second node",
    "weight": "the edges' column of weights",
    "id": "the column of ids, in features and labels",
    "label": "the column of labels, in features or labels",
    "split": "the column that says train, val or test, in features or labels",
}


def add_graph(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    """Add the graph, and the files of a graph of one's own."""
    if positional:
        parser.add_argument("graph", nargs="?", metavar="GRAPH", help="a data set's name or a file")
    group = parser.add_argument_group(
        "a graph of your own (columns are found by common names where none are given)"
    )
    for name, words in FILES.items():
        group.add_argument(f"--{name}", metavar="FILE", help=words)
    for name, words in COLUMNS.items():
        group.add_argument(_option(name), dest=f"column_{name}", metavar="COL", help=words)
    group.add_argument(
        "--ignore", nargs="+", metavar="COL", help="columns of the features that are none"
    )
    group.add_argument(
        "--directed",
        action="store_true",
        help="two opposite edges are two, whose weights are added, even if they are the same",
    )


def graph_of(
    arguments: argparse.Namespace, stored: GraphFiles | None = None
) -> str | GraphFiles | None:
    """The graph that the arguments name; None if they name none.

    Args:
        arguments: what the command line says.
        stored: files of a run, whose columns of edges and ids hold where the user names none.
    """
    asked = arguments.graph
    if asked is not None and arguments.edges is not None:
        raise UGCLError(
            f"two graphs are given, {asked} and --edges {arguments.edges}: leave out one of them"
        )
    edges = arguments.edges if asked is None else asked
    given = {name: value for name in FILES if (value := getattr(arguments, name)) is not None}
    for name in COLUMNS:
        if (value := getattr(arguments, f"column_{name}")) is not None:
            given[name] = value
    if arguments.ignore:
        given["ignore"] = tuple(arguments.ignore)
    if arguments.directed:
        given["directed"] = True
    if edges is None:
        if given:
            first = next(iter(given))
            raise UGCLError(f"{_option(first)} needs edges to go with: name them by --edges FILE")
        return None
    if stored is not None and edges.lower() not in DATASETS and not edges.endswith(".npz"):
        kept = {name: getattr(stored, name) for name in ("source", "target", "weight", "id")}
        given = {**kept, "directed": stored.directed, **given}
    elif not given.keys() - {"edges"} and asked is not None:
        return str(edges)
    return GraphFiles(**{**given, "edges": edges})


def as_options(graph: str | GraphFiles) -> list[str]:
    """The words of a command line that name a graph."""
    if isinstance(graph, str):
        return [graph]
    words = ["--edges", graph.edges]
    for name in (*FILES, *COLUMNS):
        if name != "edges" and (value := getattr(graph, name)):
            words += [_option(name), value]
    if graph.ignore:
        words += ["--ignore", *graph.ignore]
    return [*words, *(["--directed"] if graph.directed else [])]


def _option(name: str) -> str:
    return "--split-column" if name == "split" else f"--{name}"
