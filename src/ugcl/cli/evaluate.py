"""`ugcl evaluate`: scores of a run and of its controls."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from ugcl._utils.errors import UGCLError
from ugcl.cli.common import (
    add_command,
    add_compute_options,
    add_data_root,
    add_split,
    figure,
    integer,
    interval,
    option,
    print_json,
    print_table,
    use_threads,
)
from ugcl.cli.graphs import add_graph, graph_of
from ugcl.data import GraphFiles
from ugcl.evaluation import (
    CONTROLS,
    Estimate,
    Evaluation,
    ManySplits,
    evaluate_clusters,
    evaluate_links,
    evaluate_run,
)
from ugcl.evaluation.clusters import MEASURES, STARTS
from ugcl.evaluation.links import LinkScore
from ugcl.methods import get_method
from ugcl.runs import Run, RunConfig
from ugcl.study import published_accuracy, published_where
from ugcl.typing import Scoring

TASKS = ("classes", "links", "clusters")

OF_TASKS = {
    **dict.fromkeys(("protocol", "split", "split_seed", "splits"), ("classes",)),
    "task_seed": ("links", "clusters"),
    "starts": ("clusters",),
}
"""Options of some tasks only."""


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "evaluate",
        run,
        "score a run's embeddings and those of its controls",
        "ugcl evaluate runs/citeseer --splits 20",
    )
    parser.add_argument("trained", metavar="RUN", help="a finished run folder")
    parser.add_argument(
        "--task",
        choices=TASKS,
        default=TASKS[0],
        help="classes: accuracy of a linear classifier (default); links: prediction of held-out "
        "edges (needs --hold-out-edges in ugcl train); clusters: agreement of k-means clusters "
        "with the classes",
    )
    parser.add_argument(
        "--protocol",
        choices=get_args(Scoring),
        help="classes: honest: a converged logistic regression, its choices made on validation "
        "nodes (default); paper: the authors' probe; predictions: those of a method that learned "
        "from labels (default for such)",
    )
    add_split(parser, "", "seed of a random split, the first one with --splits")
    parser.add_argument(
        "--splits",
        type=integer(2),
        metavar="J",
        help="also score on J random splits and give confidence intervals and paired differences",
    )
    parser.add_argument(
        "--against", metavar="RUN2", help="another run on the same graph to compare with"
    )
    parser.add_argument(
        "--task-seed",
        type=integer(0),
        metavar="K",
        help="links: seed of the other pairs; clusters: of the first start (default: 0)",
    )
    parser.add_argument(
        "--starts", type=integer(1), metavar="J", help="clusters: starts of k-means (default: 10)"
    )
    parser.add_argument(
        "--graph", metavar="GRAPH", help="where the run's graph is now, if it has moved"
    )
    add_graph(parser, positional=False)
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate."""
    _check_task(arguments)
    trained = Run.open(arguments.trained)
    use_threads(arguments.threads or trained.config.threads)
    where: dict[str, Any] = {
        "against": None if arguments.against is None else Run.open(arguments.against),
        **_graph(trained.config, arguments),
        "data_root": arguments.data_root,
        "device": arguments.device,
    }
    if arguments.task == "links":
        return _links(trained, arguments, where)
    if arguments.task == "clusters":
        return _clusters(trained, arguments, where)
    return _classes(trained, arguments, where)


def _graph(config: RunConfig, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return where the run's graph is now, and labels that it did not have."""
    stored = config.graph_files
    if arguments.graph is not None or arguments.edges is not None or arguments.labels is None:
        graph = graph_of(arguments, stored)
        if stored is not None and isinstance(graph, GraphFiles):
            kept = {name: value for name, value in stored.values().items() if name != "ignore"}
            graph = replace(stored, **{**kept, **graph.values()}, edges=graph.edges)
        return {"graph": graph, "labels": None}
    arguments.graph = config.graph
    labels = graph_of(arguments)
    assert isinstance(labels, GraphFiles)
    of_labels = ("labels", "id", "label", "split")
    if others := [name for name in labels.values() if name not in of_labels]:
        raise UGCLError(f"--{others[0]} needs edges: name them with --edges FILE")
    if stored is not None and not labels.id:
        labels = replace(labels, id=stored.id)
    return {"graph": None, "labels": labels}


def _check_task(arguments: argparse.Namespace) -> None:
    """Refuse an option of another task."""
    for name, tasks in OF_TASKS.items():
        if getattr(arguments, name) is not None and arguments.task not in tasks:
            raise UGCLError(
                f"{option(name)} belongs to --task {' and '.join(tasks)}: leave it out for "
                f"{arguments.task}"
            )


def _head(config: RunConfig) -> None:
    held = f", {config.hold_out_edges:g} of the edges held out" if config.hold_out_edges else ""
    print(
        f"{config.method} on {Path(config.graph).stem}, preset '{config.preset}', "
        f"seed {config.seed}{held}"
    )


def _links(trained: Run, arguments: argparse.Namespace, where: dict[str, Any]) -> int:
    evaluation = evaluate_links(trained, seed=arguments.task_seed or 0, **where)
    if arguments.json:
        print_json(evaluation.to_json())
        return 0
    _head(trained.config)
    counts = evaluation.counts
    print(
        f"{counts['scored']:,} held-out edges and as many non-edges (seed {evaluation.seed}); "
        f"similarity and controls chosen on {counts['chosen_on']:,} others"
    )
    rows: list[tuple[str, LinkScore, Estimate | None]] = [
        (_own(trained.config), evaluation.score, None)
    ]
    if evaluation.other is not None:
        rows.append((f"{arguments.against}", *evaluation.other))
    rows += [
        (CONTROLS[name], score, evaluation.gains[name])
        for name, score in evaluation.controls.items()
    ]
    hits = list(evaluation.score.hits)
    print_table(
        ("%", "AUC", "AP", *(f"Hits@{k}" for k in hits), "similarity", "gain over control, AUC"),
        (
            (
                name,
                f"{score.auc:.1f}",
                f"{score.average_precision:.1f}",
                *(f"{score.hits[k]:.1f}" for k in hits),
                score.chosen["similarity"],
                "" if gain is None else interval(gain, sign="+"),
            )
            for name, score, gain in rows
        ),
    )
    best = max(evaluation.controls, key=lambda name: evaluation.controls[name].auc)
    subject = _subject(trained.config)
    print(f"{subject} is {_words(evaluation.gains[best])} its best control ({CONTROLS[best]})")
    if evaluation.other is not None:
        print(f"{subject} is {_words(evaluation.other[1])} {arguments.against}")
    return 0


def _clusters(trained: Run, arguments: argparse.Namespace, where: dict[str, Any]) -> int:
    starts = arguments.starts or STARTS
    evaluation = evaluate_clusters(trained, starts=starts, seed=arguments.task_seed or 0, **where)
    if arguments.json:
        print_json(evaluation.to_json())
        return 0
    _head(trained.config)
    print(
        f"k-means into {evaluation.clusters} clusters, the tightest of {evaluation.starts} starts "
        f"(seed {evaluation.seed}) ± deviation over the starts"
    )
    rows = [(_own(trained.config), evaluation.score)]
    if evaluation.other is not None:
        rows.append((f"{arguments.against}", evaluation.other))
    rows += [(CONTROLS[name], score) for name, score in evaluation.controls.items()]
    print_table(
        ("%", "NMI", "ARI", "accuracy, matched"),
        (
            (name, *(figure((score.values[m], score.deviations[m])) for m in MEASURES))
            for name, score in rows
        ),
    )
    best = max(evaluation.controls, key=lambda name: evaluation.controls[name].values["nmi"])
    gain = evaluation.score.values["nmi"] - evaluation.controls[best].values["nmi"]
    print(f"{_subject(trained.config)} is {_side(gain)} its best control ({CONTROLS[best]}) by NMI")
    if get_method(trained.config.method).supervised:
        print(f"{trained.config.method} has learned from these labels")
    return 0


def _classes(trained: Run, arguments: argparse.Namespace, where: dict[str, Any]) -> int:
    evaluation = evaluate_run(
        trained,
        arguments.protocol,
        split=arguments.split,
        split_seed=arguments.split_seed,
        splits=arguments.splits,
        **where,
    )
    config = trained.config
    published = published_accuracy(config.method, config.graph)
    if arguments.json:
        print_json({**evaluation.to_json(), "published": published})
        return 0
    _head(config)
    sizes = ", ".join(f"{count:,} {part}" for part, count in evaluation.sizes.items())
    print(f"protocol '{evaluation.protocol}', split '{evaluation.split}' ({sizes} nodes)")
    _print_one(evaluation, config, arguments.against, published)
    if evaluation.many is None:
        print(_verdict(evaluation, config, arguments.against))
    else:
        print()
        _print_many(evaluation.many, config, arguments.against)
    return 0


def _subject(config: RunConfig) -> str:
    """Return the subject of a verdict: a trained run, or a control."""
    return "trained" if get_method(config.method).trained else config.method


def _own(config: RunConfig) -> str:
    """Return the name of the run's row."""
    return f"{config.method}, trained" if _subject(config) == "trained" else f"{config.method}, run"


def _print_one(
    evaluation: Evaluation,
    config: RunConfig,
    against: str | None,
    published: tuple[float, float | None] | None,
) -> None:
    rows = [(_own(config), evaluation.score)]
    if evaluation.other is not None:
        rows.append((f"{against}", evaluation.other))
    rows += [(CONTROLS[name], score) for name, score in evaluation.controls.items()]
    shown = [
        (
            name,
            f"{score.accuracy:.1f}",
            "-" if score.validation is None else f"{score.validation:.1f}",
        )
        for name, score in rows
    ]
    if published is not None:
        where = f"{config.method} {published_where(config.method)}"
        shown.insert(1, (where, figure(published), "-"))
    print_table(("accuracy, %", "test", "validation"), shown)


def _verdict(evaluation: Evaluation, config: RunConfig, against: str | None) -> str:
    """Say whether training helped; one split cannot resolve small differences."""
    name, best = max(evaluation.controls.items(), key=lambda item: item[1].accuracy)
    mine = evaluation.score.accuracy
    side = _side(mine - best.accuracy)
    words = f"{_subject(config)} is {side} its best control ({CONTROLS[name]}) here"
    if evaluation.other is None:
        return words
    return f"{words}, and {_side(mine - evaluation.other.accuracy)} {against}"


def _side(gain: float, remark: str = "") -> str:
    if abs(gain) < 0.05:
        return "level with"
    return f"{abs(gain):.1f} points{remark} {'above' if gain > 0 else 'below'}"


def _print_many(many: ManySplits, config: RunConfig, against: str | None) -> None:
    print(f"{many.count} random splits, {many.kind}, with 95 % confidence intervals")
    rows = [(_own(config), interval(many.accuracy), "")]
    if many.other is not None:
        accuracy, gain = many.other
        rows.append((f"{against}", interval(accuracy), interval(gain, sign="+")))
    rows += [
        (CONTROLS[name], interval(estimate), interval(many.gains[name], sign="+"))
        for name, estimate in many.controls.items()
    ]
    subject = _subject(config)
    print_table(("accuracy, %", "mean", "gain over control"), rows)
    best = max(many.controls, key=lambda name: many.controls[name].mean)
    print(f"{subject} is {_words(many.gains[best])} its best control ({CONTROLS[best]})")
    if many.other is not None:
        print(f"{subject} is {_words(many.other[1])} {against}")


def _words(gain: Estimate) -> str:
    return _side(gain.mean, ", beyond noise," if gain.clear else ", within noise,")
