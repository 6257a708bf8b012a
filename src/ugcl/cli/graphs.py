"""The graph argument of a command: a data set's name, a file, or the user's own files."""

from __future__ import annotations

import argparse

from ugcl._utils.errors import UGCLError
from ugcl.data import DATASETS, GraphFiles

FILES = {
    "edges": "the edges: .csv, .tsv, .txt, .parquet, .jsonl (also .gz), .graphml, .gml, .npy, .npz",
    "features": "the nodes' features: .csv, .tsv, .parquet, .jsonl, .npy, .npz, or .json of id -> "
    "list of feature indices; by default structural features are computed from the edges",
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
    """Add the graph argument and the options of the user's own files."""
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
        "--ignore", nargs="+", metavar="COL", help="columns of the feature file to ignore"
    )
    group.add_argument(
        "--directed",
        action="store_true",
        help="treat (u, v) and (v, u) as distinct edges and sum their weights",
    )


def graph_of(
    arguments: argparse.Namespace, stored: GraphFiles | None = None
) -> str | GraphFiles | None:
    """Return the graph that the arguments name; None if they name none.

    Args:
        arguments: the parsed command line.
        stored: files of a run, whose columns are used where the user names none.
    """
    graph = arguments.graph
    if graph is not None and arguments.edges is not None:
        raise UGCLError(
            f"there are two graphs, {graph} and --edges {arguments.edges}: leave out one of them"
        )
    edges = arguments.edges if graph is None else graph
    values = {name: value for name in FILES if (value := getattr(arguments, name)) is not None}
    for name in COLUMNS:
        if (value := getattr(arguments, f"column_{name}")) is not None:
            values[name] = value
    if arguments.ignore:
        values["ignore"] = tuple(arguments.ignore)
    if arguments.directed:
        values["directed"] = True
    if edges is None:
        if values:
            first = next(iter(values))
            raise UGCLError(f"{_option(first)} needs edges: name them with --edges FILE")
        return None
    if stored is not None and edges.lower() not in DATASETS and not edges.endswith(".npz"):
        kept = {name: getattr(stored, name) for name in ("source", "target", "weight", "id")}
        values = {**kept, "directed": stored.directed, **values}
    elif not values.keys() - {"edges"} and graph is not None:
        return str(edges)
    return GraphFiles(**{**values, "edges": edges})


def as_options(graph: str | GraphFiles) -> list[str]:
    """Return the command-line arguments that name a graph."""
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
