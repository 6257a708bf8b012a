"""`ugcl evaluate`: scores of a run and of its controls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import rich_click as click

from ugcl import data, evaluation, runs, study
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Result, command, integer, option
from ugcl.cli.options import (
    GraphArgument,
    data_root,
    device,
    graph_file_options,
    run_argument,
    split_options,
    threads,
    use_threads,
    verify,
)
from ugcl.cli.output import option_name
from ugcl.typing import Scoring

if TYPE_CHECKING:
    from ugcl.runs import RunConfig

TASKS = ("classes", "links", "clusters")

OF_TASKS = {
    **dict.fromkeys(("protocol", "split", "split_seed", "splits", "full_width"), ("classes",)),
    "task_seed": ("links", "clusters"),
    "starts": ("clusters",),
}
"""Options of some tasks only."""


@command(
    "evaluate",
    examples=(
        "ugcl evaluate runs/citeseer --splits 20",
        "ugcl evaluate runs/mine --labels labels.csv",
    ),
)
@run_argument
@option(
    "--task",
    type=click.Choice(TASKS),
    default=TASKS[0],
    help="classes: accuracy of a linear classifier (default); links: prediction of held-out edges "
    "(needs --hold-out-edges in ugcl train); clusters: agreement of k-means clusters with the "
    "classes",
)
@option(
    "--protocol",
    type=click.Choice(get_args(Scoring)),
    help="classes: honest: a converged logistic regression, its choices made on validation nodes "
    "(default); paper: the authors' probe; bgrl, pygcl, gca: the rules of these harnesses, on "
    "their random splits; predictions: those of a method that learned from labels (default for "
    "such)",
)
@option(
    "--splits",
    type=integer(2),
    metavar="J",
    help="also score on J random splits and give confidence intervals and paired differences",
)
@option(
    "--full-width",
    is_flag=True,
    default=None,
    advanced=True,
    help="classes: controls of all columns, not at most 1,024; slow for many features",
)
@option("--against", metavar="RUN2", help="another run on the same graph to compare with")
@option(
    "--task-seed",
    type=integer(0),
    metavar="K",
    advanced=True,
    help="links: seed of the other pairs; clusters: of the first start (default: 0)",
)
@option(
    "--starts",
    type=integer(1),
    metavar="J",
    advanced=True,
    help="clusters: starts of k-means (default: 10)",
)
@split_options("", "seed of a random split, the first one with --splits")
@option(
    "--graph",
    "moved_to",
    metavar="GRAPH",
    advanced=True,
    help="where the run's graph is now, if it has moved",
)
@graph_file_options
@data_root
@device
@threads
@verify
def evaluate(
    run: str,
    task: str,
    against: str | None,
    graph: GraphArgument,
    moved_to: str | None,
    data_root: str | None,
    device: str | None,
    threads: int | None,
    verify: bool,
    **of_task: Any,
) -> Result:
    """Score a run's embeddings and those of its controls."""
    from ugcl.cli import scores

    _check_task(task, of_task)
    trained = runs.Run.open(run)
    config = trained.config
    second = None if against is None else runs.Run.open(against)
    for each in (trained, second):
        if verify and each is not None:
            each.verify()
    other = None if second is None else f"{second.config.method} ({against})"
    use_threads(threads or config.threads)
    where: dict[str, Any] = {
        "against": second,
        **_sources(config, replace(graph, name=moved_to)),
        "data_root": data_root,
        "device": device,
    }
    seed = of_task["task_seed"] or 0
    if task == "links":
        links = evaluation.evaluate_links(trained, seed=seed, **where)
        return Result(links.to_json(), lambda: scores.print_links(links, config, other))
    if task == "clusters":
        starts = {} if of_task["starts"] is None else {"starts": of_task["starts"]}
        clusters = evaluation.evaluate_clusters(trained, seed=seed, **starts, **where)
        return Result(clusters.to_json(), lambda: scores.print_clusters(clusters, config, other))
    options = {name: of_task[name] for name in ("protocol", "split", "split_seed", "splits")}
    full_width = bool(of_task["full_width"])
    classes = evaluation.evaluate_run(trained, full_width=full_width, **options, **where)
    published = study.published_accuracy(config.method, config.graph)
    return Result(
        {**classes.to_json(), "published": published},
        lambda: scores.print_classes(classes, config, other, published),
    )


def _sources(config: RunConfig, graph: GraphArgument) -> dict[str, Any]:
    """Return where the run's graph is now, and labels that it did not have."""
    stored = config.graph_files
    if graph.name is not None or not graph.values.keys() - {"edges"} or "edges" in graph.values:
        source = graph.resolve(stored)
        if stored is not None and isinstance(source, data.GraphFiles):
            kept = {name: value for name, value in stored.values().items() if name != "ignore"}
            source = replace(stored, **{**kept, **source.values()}, edges=source.edges)
        return {"graph": source, "labels": None}
    of_labels = ("labels", "id", "label", "split")
    if "labels" not in graph.values:
        graph.resolve()  # raises, because these options need edges
    GraphArgument(
        values={name: value for name, value in graph.values.items() if name not in of_labels}
    ).resolve()
    labels = replace(graph, name=config.graph).resolve()
    assert isinstance(labels, data.GraphFiles)
    if stored is not None and not labels.id:
        labels = replace(labels, id=stored.id)
    return {"graph": None, "labels": labels}


def _check_task(task: str, options: dict[str, Any]) -> None:
    """Refuse an option of another task."""
    for name, tasks in OF_TASKS.items():
        if options[name] is not None and task not in tasks:
            raise UGCLError(
                f"{option_name(name)} belongs to --task {' and '.join(tasks)}: leave it out for "
                f"{task}"
            )
