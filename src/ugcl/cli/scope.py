"""`ugcl scope`: homophily of a graph against n, and the n that each rule chooses."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import rich_click as click

from ugcl import data, study
from ugcl import report as reports
from ugcl.cli.command import Result, command, integer, option
from ugcl.cli.options import GraphArgument, data_root, graph_options, threads, use_threads
from ugcl.cli.output import on_terminal, print_table
from ugcl.typing import Degree

if TYPE_CHECKING:
    from ugcl.graph import Graph
    from ugcl.selection import Survey


@command("scope", examples=("ugcl scope citeseer --plot scope.png",))
@graph_options
@option("--plot", metavar="FILE", help="plot the curves into a file (.png, .svg)")
@option("--deep", is_flag=True, help="also use the criteria that train a model, which take longer")
@option(
    "--all-scores",
    is_flag=True,
    help="score every n by masked features, also those that the choice does not need",
)
@option(
    "--sample",
    type=integer(1),
    metavar="S",
    help="Lemma 1 for a random sample of S nodes, with S/N times the graph's degree",
)
@option(
    "--degree",
    type=click.Choice(get_args(Degree)),
    default="average",
    help="degree in Lemma 1: average, 2E/N; or paper, as in its table: E/N, two decimals",
)
@threads
@data_root
def scope(
    graph: GraphArgument,
    plot: str | None,
    deep: bool,
    all_scores: bool,
    sample: int | None,
    degree: Degree,
    threads: int | None,
    data_root: str | None,
) -> Result:
    """Show a graph's homophily against n and the n that each rule chooses."""
    from rich.console import Console
    from rich.progress import Progress

    from ugcl._utils.files import check_writable
    from ugcl.selection import survey

    if plot is not None:
        reports.check_plotting(Path(plot))
        check_writable(Path(plot))
    source = graph.require("ugcl scope citeseer")
    use_threads(threads)
    loaded = data.load_graph(source, data_root)
    with Progress(console=Console(stderr=True), transient=True, disable=not on_terminal()) as bar:
        task = bar.add_task("nodes", total=None)
        result = survey(
            loaded,
            train=_training_nodes(loaded),
            sample=sample,
            convention=degree,
            trained=study.TRAINED_CRITERIA if deep else {},
            all_scores=all_scores,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if plot is not None:
        reports.plot_scope(result, Path(plot))
    return Result(result.to_json(), lambda: _print(result))


def _training_nodes(graph: Graph) -> Any:
    """Return the training nodes of the split; all labelled nodes if some nodes have no label."""
    import numpy as np

    from ugcl.data.splits import has_own_split
    from ugcl.graph.validation import UNLABELLED

    if graph.labels is None or graph.num_classes == 0:
        return None
    labelled = np.flatnonzero(graph.labels != UNLABELLED)
    if not has_own_split(graph) and labelled.size < graph.num_nodes:
        return labelled
    return data.split_of(graph)[0]["train"]


def _print(result: Survey) -> None:
    from ugcl.scope import sparsity
    from ugcl.selection import DEFAULT_CRITERION

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
    from ugcl.selection import DEFAULT_CRITERION

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
    if result.choice(DEFAULT_CRITERION).scores is not None:
        columns[DEFAULT_CRITERION] = [
            "not computed" if isnan(score) else f"{score:.4f}"
            for score in result.scores(DEFAULT_CRITERION)
        ]
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
