"""`ugcl scope`: homophily of a graph against n, and the n that each rule chooses."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
from tqdm import tqdm

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.cli.common import (
    add_command,
    add_data_root,
    integer,
    print_json,
    print_table,
    use_threads,
)
from ugcl.cli.graphs import add_graph, graph_of
from ugcl.data import load_graph, split_of
from ugcl.data.splits import has_own_split
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED
from ugcl.report import check_plotting, plot_scope
from ugcl.scope import sparsity
from ugcl.selection import DEFAULT_CRITERION, Survey, survey
from ugcl.study import TRAINED_CRITERIA
from ugcl.typing import Degree


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "scope",
        run,
        "show a graph's homophily against n and the n that each rule chooses",
        "ugcl scope citeseer --plot scope.png",
    )
    add_graph(parser)
    parser.add_argument("--plot", metavar="FILE", help="plot the curves into a file (.png, .svg)")
    parser.add_argument(
        "--deep",
        action="store_true",
        help="also use the criteria that train a model, which take longer",
    )
    parser.add_argument(
        "--sample",
        type=integer(1),
        metavar="S",
        help="Lemma 1 for a random sample of S nodes, with S/N times the graph's degree",
    )
    parser.add_argument(
        "--degree",
        choices=get_args(Degree),
        default="average",
        help="degree in Lemma 1: average, 2E/N; or paper, as in its table: E/N, two decimals",
    )
    parser.add_argument("--threads", type=integer(1), help="threads (default: PyTorch's)")
    add_data_root(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compute the curves and choices, and print or plot them."""
    use_threads(arguments.threads)
    if arguments.plot is not None:
        check_plotting(Path(arguments.plot))
        check_writable(Path(arguments.plot))
    source = graph_of(arguments)
    if source is None:
        raise UGCLError("no graph given: name a data set or a file, as in ugcl scope citeseer")
    graph = load_graph(source, arguments.data_root)
    with tqdm(desc="nodes", disable=not sys.stderr.isatty(), leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        result = survey(
            graph,
            train=_training_nodes(graph),
            sample=arguments.sample,
            convention=arguments.degree,
            trained=TRAINED_CRITERIA if arguments.deep else {},
            progress=progress,
        )
    if arguments.plot is not None:
        plot_scope(result, Path(arguments.plot))
    if arguments.json:
        print_json(result.to_json())
    else:
        _print(result)
    return 0


def _training_nodes(graph: Graph) -> Any:
    """Return the training nodes of the split; all labelled nodes if some nodes have no label."""
    if graph.labels is None or graph.num_classes == 0:
        return None
    labelled = np.flatnonzero(graph.labels != UNLABELLED)
    if not has_own_split(graph) and labelled.size < graph.num_nodes:
        return labelled
    return split_of(graph)[0]["train"]


def _print(result: Survey) -> None:
    graph = result.graph
    print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {_components(result)}, "
        f"sparsity {sparsity(graph.adjacency):.2g}"
    )
    degree = f"degree {result.degree:.2f}"
    if result.bound_degree != result.degree:
        degree += f" (Lemma 1 with {result.bound_degree:.2f})"
    if result.homophily is not None:
        print(f"{degree}, homophily {result.homophily:.3f}")
    else:
        missing = "no labels" if result.measured is None else "no edge connects two labelled nodes"
        print(f"{degree}; {missing}, so homophily is unknown")
    print()
    _print_curves(result)
    print()
    width = max(len(choice.rule) for choice in result.choices)
    for choice in result.choices:
        n = "-" if choice.n is None else str(choice.n)
        print(f"{choice.rule:<{width}}  {n:>2}  {choice.why}")
    print(f"\n--scope auto takes {DEFAULT_CRITERION}: n = {result.choice(DEFAULT_CRITERION).n}")


def _components(result: Survey) -> str:
    if result.components == 1:
        return "connected"
    return f"{result.components:,} components (the largest has {result.largest:,} nodes)"


def _print_curves(result: Survey) -> None:
    scores = result.choice(DEFAULT_CRITERION).scores
    columns: dict[str, list[str]] = {}
    if result.lower_bound is not None:
        columns["Lemma 1"] = [f"{bound:.3f}" for bound in result.lower_bound]
    if result.measured is not None:
        sampled = result.measured.sources.size < result.measured.population
        columns["measured P_n"] = [
            f"{mean:.3f} [{low:.3f}, {high:.3f}]" if sampled else f"{mean:.3f}"
            for mean, (low, high) in zip(
                result.measured.mean(), result.measured.interval(), strict=True
            )
        ]
        columns["dominant"] = [f"{fraction:.1%}" for fraction in result.measured.dominant()]
        columns["strongly"] = [
            f"{fraction:.1%}" for fraction in result.measured.strongly_dominant()
        ]
    columns = {name: ["", *column] for name, column in columns.items()}
    if scores is not None:
        columns[DEFAULT_CRITERION] = [f"{score:.4f}" for score in scores]
    if columns:
        rows = zip(*columns.values(), strict=True)
        print_table(("n", *columns), ((str(n), *row) for n, row in enumerate(rows)))
    if result.below_bound:
        print(
            f"measured below Lemma 1 at n = {_listed(result.below_bound)}: it is not a bound here"
        )


def _listed(numbers: list[int]) -> str:
    """Return 1, 2, 3, 5 as "1 to 3, 5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]} to {p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
