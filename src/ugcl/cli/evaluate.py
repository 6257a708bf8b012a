"""`ugcl evaluate`: accuracy of a linear probe on a run, beside the controls."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, get_args

from ugcl.cli.common import (
    add_command,
    add_compute_options,
    add_data_root,
    figure,
    print_json,
    print_table,
    use_threads,
    whole,
)
from ugcl.data import SplitKind
from ugcl.evaluation import CONTROLS, Protocol
from ugcl.runs import Evaluation, Run, evaluate_run
from ugcl.study import published_accuracy


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "evaluate",
        run,
        "score a run's embeddings by a linear probe, beside the controls",
        "ugcl evaluate runs/citeseer --protocol paper",
    )
    parser.add_argument("trained", metavar="RUN", help="a finished run folder")
    parser.add_argument(
        "--protocol",
        choices=get_args(Protocol),
        default="honest",
        help="honest: a converged logistic regression, its choices made on validation nodes "
        "(default); paper: the authors' probe",
    )
    parser.add_argument(
        "--split",
        choices=get_args(SplitKind),
        help="the graph's own split (default where it has one), 20 random nodes a class, or a "
        "random 10/10/80 %%",
    )
    parser.add_argument("--split-seed", type=whole(0), metavar="K", help="seed of a random split")
    parser.add_argument(
        "--graph", metavar="GRAPH", help="where the run's graph is now, if it has moved"
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate."""
    trained = Run.open(arguments.trained)
    use_threads(arguments.threads or trained.config.threads)
    evaluation = evaluate_run(
        trained,
        arguments.protocol,
        split=arguments.split,
        split_seed=arguments.split_seed,
        graph=arguments.graph,
        data_root=arguments.data_root,
        device=arguments.device,
    )
    config = trained.config
    published = published_accuracy(config.method, config.graph)
    if arguments.json:
        print_json({**evaluation.to_json(), "published": published})
        return 0
    sizes = ", ".join(f"{count:,} {part}" for part, count in evaluation.sizes.items())
    print(
        f"{config.method} on {Path(config.graph).stem}, settings '{config.preset}', "
        f"seed {config.seed}"
    )
    print(f"protocol '{evaluation.protocol}', split '{evaluation.split}' ({sizes} nodes)")
    print_table(("accuracy, %", "test", "validation"), _rows(evaluation, config.method, published))
    print(_verdict(evaluation))
    return 0


def _rows(
    evaluation: Evaluation, method: str, published: tuple[float, float | None] | None
) -> list[tuple[str, str, str]]:
    scores = [(f"{method}, trained", evaluation.score)]
    scores += [(CONTROLS[name], score) for name, score in evaluation.controls.items()]
    rows = [
        (
            name,
            f"{score.accuracy:.1f}",
            "-" if score.validation is None else f"{score.validation:.1f}",
        )
        for name, score in scores
    ]
    if published is not None:
        rows.insert(1, (f"{method} as published", figure(published), "-"))
    return rows


def _verdict(evaluation: Evaluation) -> str:
    """Whether training helped, in a sentence; one split cannot tell small differences."""
    name, best = max(evaluation.controls.items(), key=lambda item: item[1].accuracy)
    gain = evaluation.score.accuracy - best.accuracy
    side = "above" if gain >= 0 else "below"
    return f"trained is {abs(gain):.1f} points {side} its best control ({CONTROLS[name]}) here"
