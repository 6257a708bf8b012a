"""`ugcl scope`: what a graph says about the scope, and which n each rule would take."""

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
    say,
    use_threads,
)
from ugcl.cli.graphs import add_graph, graph_of
from ugcl.data import load_graph, split_of
from ugcl.data.splits import has_own_split
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED
from ugcl.report import check_plotting, plot_scope
from ugcl.scope import sparsity
from ugcl.selection import BEST, Degree, Survey, survey
from ugcl.study import TRAINED_CRITERIA


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "scope",
        run,
        "show a graph's homophily against n and the n that each rule would choose",
        "ugcl scope citeseer --plot scope.png",
    )
    add_graph(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw the curves into a file (.png, .svg)")
    parser.add_argument(
        "--deep", action="store_true", help="also ask the estimators that train, which take longer"
    )
    parser.add_argument(
        "--sample",
        type=integer(1),
        metavar="S",
        help="Lemma 1 for a random sample of S nodes, whose degree is S/N of the graph's",
    )
    parser.add_argument(
        "--degree",
        choices=get_args(Degree),
        default="average",
        help="Lemma 1 with d = 2E/N, or as for the paper's table: d = E/N, two decimals",
    )
    parser.add_argument("--threads", type=integer(1), help="threads (default: PyTorch's)")
    add_data_root(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at the graph."""
    use_threads(arguments.threads)
    if arguments.plot is not None:
        check_plotting(Path(arguments.plot))
        check_writable(Path(arguments.plot))
    given = graph_of(arguments)
    if given is None:
        raise UGCLError("no graph given: name a data set or a file, as in ugcl scope citeseer")
    graph = load_graph(given, arguments.data_root)
    with tqdm(desc="nodes", disable=not sys.stderr.isatty(), leave=False) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        found = survey(
            graph,
            train=_training_nodes(graph),
            sample=arguments.sample,
            convention=arguments.degree,
            trained=TRAINED_CRITERIA if arguments.deep else {},
            tell=say,
            progress=progress,
        )
    if arguments.plot is not None:
        plot_scope(found, Path(arguments.plot))
    if arguments.json:
        print_json(found.to_json())
    else:
        _print(found)
    return 0


def _training_nodes(graph: Graph) -> Any:
    """The nodes whose labels a user has: those of a split, or all where only some have one."""
    if graph.labels is None or graph.num_classes == 0:
        return None
    labelled = np.flatnonzero(graph.labels != UNLABELLED)
    if not has_own_split(graph) and labelled.size < graph.num_nodes:
        return labelled
    return split_of(graph)[0]["train"]


def _print(found: Survey) -> None:
    graph = found.graph
    print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {_components(found)}, "
        f"sparsity {sparsity(graph.adjacency):.2g}"
    )
    degree = f"degree {found.degree:.2f}"
    if found.bound_degree != found.degree:
        degree += f" (Lemma 1 with {found.bound_degree:.2f})"
    if found.homophily is not None:
        print(f"{degree}, homophily {found.homophily:.3f}")
    else:
        missing = "no labels" if found.measured is None else "no edge joins two labelled nodes"
        print(f"{degree}; {missing}, so homophily is not known")
    print()
    _print_curves(found)
    print()
    wide = max(len(choice.rule) for choice in found.choices)
    for choice in found.choices:
        n = "-" if choice.n is None else str(choice.n)
        print(f"{choice.rule:<{wide}}  {n:>2}  {choice.why}")
    print(f"\n--scope auto takes {BEST}: n = {found.choice(BEST).n}")


def _components(found: Survey) -> str:
    if found.components == 1:
        return "connected"
    return f"{found.components:,} components (the largest has {found.largest:,} nodes)"


def _print_curves(found: Survey) -> None:
    scores = found.choice(BEST).scores
    columns: dict[str, list[str]] = {}
    if found.lower_bound is not None:
        columns["Lemma 1"] = [f"{bound:.3f}" for bound in found.lower_bound]
    if found.measured is not None:
        sampled = found.measured.sources.size < found.measured.population
        columns["measured P_n"] = [
            f"{mean:.3f} [{low:.3f}, {high:.3f}]" if sampled else f"{mean:.3f}"
            for mean, (low, high) in zip(
                found.measured.mean(), found.measured.interval(), strict=True
            )
        ]
        columns["dominant"] = [f"{fraction:.1%}" for fraction in found.measured.dominant()]
        columns["strongly"] = [f"{fraction:.1%}" for fraction in found.measured.strongly_dominant()]
    columns = {name: ["", *column] for name, column in columns.items()}
    if scores is not None:
        columns[BEST] = [f"{score:.4f}" for score in scores]
    if columns:
        rows = zip(*columns.values(), strict=True)
        print_table(("n", *columns), ((str(n), *row) for n, row in enumerate(rows)))
    if found.below_bound:
        print(f"measured below Lemma 1 at n = {_listed(found.below_bound)}: it is no bound here")


def _listed(numbers: list[int]) -> str:
    """1, 2, 3, 5 as "1 to 3, 5"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]} to {p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)
