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
    interval,
    print_json,
    print_table,
    say,
    use_threads,
    whole,
)
from ugcl.data import SplitKind
from ugcl.evaluation import CONTROLS, Estimate, Protocol
from ugcl.runs import Evaluation, ManySplits, Run, evaluate_run
from ugcl.study import published_accuracy, published_where


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "evaluate",
        run,
        "score a run's embeddings by a linear probe, beside the controls",
        "ugcl evaluate runs/citeseer --splits 20",
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
    parser.add_argument(
        "--split-seed",
        type=whole(0),
        metavar="K",
        help="seed of a random split, the first one with --splits (default: 0)",
    )
    parser.add_argument(
        "--splits",
        type=whole(2),
        metavar="J",
        help="also score on J random splits and give confidence intervals and paired differences",
    )
    parser.add_argument(
        "--against", metavar="RUN2", help="another run on the same graph to compare with"
    )
    parser.add_argument(
        "--graph", metavar="GRAPH", help="where the run's graph is now, if it has moved"
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate."""
    trained = Run.open(arguments.trained)
    other = None if arguments.against is None else Run.open(arguments.against)
    use_threads(arguments.threads or trained.config.threads)
    evaluation = evaluate_run(
        trained,
        arguments.protocol,
        split=arguments.split,
        split_seed=arguments.split_seed,
        splits=arguments.splits,
        against=other,
        graph=arguments.graph,
        data_root=arguments.data_root,
        device=arguments.device,
        tell=say,
    )
    config = trained.config
    published = published_accuracy(config.method, config.graph)
    if arguments.json:
        print_json({**evaluation.to_json(), "published": published})
        return 0
    print(
        f"{config.method} on {Path(config.graph).stem}, settings '{config.preset}', "
        f"seed {config.seed}"
    )
    sizes = ", ".join(f"{count:,} {part}" for part, count in evaluation.sizes.items())
    print(f"protocol '{evaluation.protocol}', split '{evaluation.split}' ({sizes} nodes)")
    _print_one(evaluation, config.method, arguments.against, published)
    if evaluation.many is None:
        print(_verdict(evaluation, arguments.against))
    else:
        print()
        _print_many(evaluation.many, config.method, arguments.against)
    return 0


def _print_one(
    evaluation: Evaluation,
    method: str,
    against: str | None,
    published: tuple[float, float | None] | None,
) -> None:
    rows = [(f"{method}, trained", evaluation.score)]
    if evaluation.other is not None:
        rows.append((f"{against}", evaluation.other))
    rows += [(CONTROLS[who], score) for who, score in evaluation.controls.items()]
    shown = [
        (
            name,
            f"{score.accuracy:.1f}",
            "-" if score.validation is None else f"{score.validation:.1f}",
        )
        for name, score in rows
    ]
    if published is not None:
        shown.insert(1, (f"{method} {published_where(method)}", figure(published), "-"))
    print_table(("accuracy, %", "test", "validation"), shown)


def _verdict(evaluation: Evaluation, against: str | None) -> str:
    """Whether training helped, in a sentence; one split cannot tell small differences."""
    name, best = max(evaluation.controls.items(), key=lambda item: item[1].accuracy)
    mine = evaluation.score.accuracy
    words = f"trained is {_side(mine - best.accuracy)} its best control ({CONTROLS[name]}) here"
    if evaluation.other is None:
        return words
    return f"{words}, and {_side(mine - evaluation.other.accuracy)} {against}"


def _side(gain: float, remark: str = "") -> str:
    if abs(gain) < 0.05:
        return "level with"
    return f"{abs(gain):.1f} points{remark} {'above' if gain > 0 else 'below'}"


def _print_many(many: ManySplits, method: str, against: str | None) -> None:
    print(f"{many.count} random splits, {many.kind}, with 95 % confidence intervals")
    rows = [(f"{method}, trained", interval(many.accuracy), "")]
    if many.other is not None:
        accuracy, gain = many.other
        rows.append((f"{against}", interval(accuracy), interval(gain, sign="+")))
    rows += [
        (CONTROLS[who], interval(estimate), interval(many.gains[who], sign="+"))
        for who, estimate in many.controls.items()
    ]
    print_table(("accuracy, %", "mean", "trained has more"), rows)
    best = max(many.controls, key=lambda who: many.controls[who].mean)
    print(f"trained is {_words(many.gains[best])} its best control ({CONTROLS[best]})")
    if many.other is not None:
        print(f"trained is {_words(many.other[1])} {against}")


def _words(gain: Estimate) -> str:
    return _side(gain.mean, ", beyond noise," if gain.clear else ", within noise,")
