"""Options that several commands share: the graph, the split, the device."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import rich_click as click

from ugcl import data
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import CommaSeparated, argument, integer, number, option
from ugcl.cli.output import option_name
from ugcl.methods.params import MAX_THREADS
from ugcl.typing import SplitKind

if TYPE_CHECKING:
    from ugcl.data import GraphFiles

F = TypeVar("F", bound=Callable[..., Any])

FILES = {
    "edges": "the edges: .csv, .tsv, .txt, .parquet, .jsonl (also .gz), .graphml, .gml, "
    ".gexf, .net, .npy, .npz; also a folder, or a glob in quotes; columns are found by common "
    "names, or named by the options that --help-all shows",
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
    "feature": "the column of features, in features with a row for each node and feature",
    "split": "the column that says train, val or test, in features or labels",
}

KEPT = ("source", "target", "weight", "id", "feature")
"""Columns of a run that are used where the user names none."""

PANEL = "A graph of your own"


@dataclass(frozen=True)
class GraphArgument:
    """The graph that a command line names.

    Attributes:
        name: a data set's name or a file, as a positional argument.
        values: the options of the user's own files: files, columns, `ignore` and `directed`.
    """

    name: str | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def resolve(self, stored: GraphFiles | None = None) -> str | GraphFiles | None:
        """Return the graph; None where the command line names none.

        Args:
            stored: files of a run, whose columns are used where the user names none.
        """
        values = dict(self.values)
        edges = values.get("edges")
        if self.name is not None and edges is not None:
            raise UGCLError(
                f"there are two graphs, {self.name} and --edges {edges}: leave out one of them "
                "(the items of a list are separated by commas, without spaces; put a glob in "
                "quotes)"
            )
        edges = edges or self.name
        if edges is None:
            if values:
                first = _option(next(iter(values)))
                raise UGCLError(f"{first} needs edges: name them with --edges FILE")
            return None
        if stored is not None and edges.lower() not in data.DATASETS and not edges.endswith(".npz"):
            kept = {name: getattr(stored, name) for name in KEPT}
            values = {**kept, "directed": stored.directed, **values}
        elif not values.keys() - {"edges"} and self.name is not None:
            return edges
        return data.GraphFiles(**{**values, "edges": edges})

    def require(self, example: str) -> str | GraphFiles:
        """Return the graph, or raise an error with an example where none is named."""
        graph = self.resolve()
        if graph is None:
            raise UGCLError(
                f"no graph given: name a data set or a file, as in {example}, or your own files, "
                "as in --edges edges.csv"
            )
        return graph


def graph_options(function: F) -> F:
    """Add the graph argument and the options of the user's own files, as one `graph`."""
    help = "a data set's name or a file"
    return argument("graph", required=False, help=help)(graph_file_options(function))


def graph_file_options(function: F) -> F:
    """Add the options of the user's own files, as one `graph`."""

    @functools.wraps(function)
    def wrapped(**arguments: Any) -> Any:
        name = arguments.pop("graph", None)
        values = {key: arguments.pop(key) for key in (*FILES, "ignore", "directed", "header")}
        values |= {key: arguments.pop(f"column_{key}") for key in COLUMNS}
        given = {
            key: value
            for key, value in values.items()
            if value is not None and (value is not False or key == "header")
        }
        return function(graph=GraphArgument(name, given), **arguments)

    options = [
        *(
            option(_option(name), metavar="FILE", advanced=name == "ids", panel=PANEL, help=help)
            for name, help in FILES.items()
        ),
        *(
            option(
                _option(name),
                f"column_{name}",
                metavar="COL",
                advanced=True,
                panel=PANEL,
                help=help,
            )
            for name, help in COLUMNS.items()
        ),
        option(
            "--ignore",
            type=CommaSeparated(),
            metavar="COL,...",
            advanced=True,
            panel=PANEL,
            help="columns of the feature file to ignore",
        ),
        option(
            "--directed",
            is_flag=True,
            advanced=True,
            panel=PANEL,
            help="treat (u, v) and (v, u) as distinct edges and sum their weights",
        ),
        option(
            "--header/--no-header",
            default=None,
            advanced=True,
            panel=PANEL,
            help="whether the first line of the edges is a header (default: guessed)",
        ),
    ]
    for add in reversed(options):
        wrapped = add(wrapped)
    return cast(F, wrapped)


def as_options(graph: str | GraphFiles) -> list[str]:
    """Return the command-line arguments that name a graph."""
    if isinstance(graph, str):
        return [graph]
    words = ["--edges", graph.edges]
    for name in (*FILES, *COLUMNS):
        if name != "edges" and (value := getattr(graph, name)):
            words += [_option(name), value]
    if graph.ignore:
        words += ["--ignore", _joined(graph.ignore)]
    words += ["--directed"] if graph.directed else []
    return [*words, *([] if graph.header is None else [("--no-header", "--header")[graph.header]])]


def _joined(items: Iterable[str]) -> str:
    """Return items as a comma-separated list; `CommaSeparated` is the inverse."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(items)
    return line.getvalue()


def _option(name: str) -> str:
    return "--split-column" if name == "split" else option_name(name)


run_argument = argument("run", help="a finished run folder")

verify = option(
    "--verify",
    is_flag=True,
    advanced=True,
    help="compare all files of the run with their checksums, also those of more than 64 MB",
)

method_option = option(
    "--method",
    metavar="NAME",
    help="a name from ugcl methods, or a Python file with a method (default: multiscope)",
)

data_root = option(
    "--data-root",
    metavar="DIR",
    advanced=True,
    help="folder of raw data sets (default: UGCL_DATA, else ~/.cache/ugcl)",
)

threads = option(
    "--threads",
    type=integer(1, MAX_THREADS),
    advanced=True,
    help="CPU threads (default: PyTorch's, for a stored run those of the run)",
)

timeout = option(
    "--timeout",
    type=number(above=0),
    default=300,
    metavar="SECONDS",
    advanced=True,
    help="with torchrun: after this time a rank that does not answer is an error (default: 300)",
)

device = option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda")),
    advanced=True,
    help="where to compute (default: auto)",
)


def split_options(use: str, seed_use: str) -> Callable[[F], F]:
    """Add the kind of split and its seed; `use` and `seed_use` begin their help."""

    def add(function: F) -> F:
        function = option(
            "--split-seed",
            type=integer(0),
            metavar="K",
            advanced=True,
            help=f"{seed_use} (default: 0)",
        )(function)
        return option(
            "--split",
            type=click.Choice(get_args(SplitKind)),
            advanced=True,
            help=f"{use}the graph's own split (default where it has one), 20 random nodes a class, "
            "or a random 10/10/80 %",
        )(function)

    return add


def use_threads(count: int | None) -> None:
    """Set the number of CPU threads, where one is given."""
    if count is not None:
        import torch

        torch.set_num_threads(count)
