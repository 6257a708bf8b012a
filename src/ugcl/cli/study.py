"""`ugcl study`: train over several seeds and write the scores as JSON."""

from __future__ import annotations

import argparse
import shlex
import sys
from itertools import product
from pathlib import Path
from typing import Any, get_args

from ugcl.cli.common import (
    INTERRUPTED,
    StopOnSignal,
    add_command,
    add_compute_options,
    add_data_root,
    figure,
    integer,
    print_json,
    print_table,
    say,
)
from ugcl.cli.progress import Progress
from ugcl.methods import DEFAULT_PRESET, METHODS
from ugcl.study import (
    Plan,
    Variant,
    accuracy_study,
    paired_study,
    protocols_of,
    scope_study,
    tuned_study,
)
from ugcl.typing import ScopeName


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "study",
        run,
        "train over seeds and variants of the settings and write the scores as JSON",
        "ugcl study citeseer --out results.json --preset fast authors:hidden=1024",
    )
    parser.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    parser.add_argument("--out", required=True, metavar="FILE", help="the JSON file to write")
    parser.add_argument(
        "--runs",
        default="runs/study",
        metavar="DIR",
        help="folder of the runs (default: runs/study)",
    )
    parser.add_argument(
        "--method", default="ugcl", help=f"one of: {', '.join(METHODS)} (default: ugcl)"
    )
    parser.add_argument(
        "--preset",
        nargs="+",
        default=[DEFAULT_PRESET],
        metavar="PRESET[:NAME=VALUE,...]",
        help=f"the presets, each with changed settings or without (default: {DEFAULT_PRESET})",
    )
    parser.add_argument("--seeds", type=integer(1), default=5, help="number of seeds (default: 5)")
    parser.add_argument(
        "--splits",
        type=integer(2),
        default=20,
        help="number of random splits that each run is scored on (default: 20)",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--against",
        metavar="PRESET[:NAME=VALUE,...]",
        help="instead compare each with this variant, node by node (honest probe)",
    )
    instead.add_argument(
        "--scopes",
        type=integer(1),
        metavar="N",
        help="instead score the readout at n = 0, ..., N and its regret (honest probe)",
    )
    instead.add_argument(
        "--tune-scopes",
        nargs="+",
        type=_scope,
        metavar="SCOPE",
        help="instead tune the training scope among these on validation nodes, and separately the "
        "readout scope among the integers; compare with the method's own scopes (honest probe)",
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run or resume the study."""
    out = Path(arguments.out)
    variants = [Variant.parse(text, arguments.method) for text in arguments.preset]
    with StopOnSignal() as stop:
        plan = Plan(
            arguments.graph,
            out,
            Path(arguments.runs) / out.stem,
            method=arguments.method,
            variants=variants,
            seeds=arguments.seeds,
            splits=arguments.splits,
            command=shlex.join(["ugcl", *sys.argv[1:]]),
            data_root=arguments.data_root,
            device=arguments.device or "auto",
            threads=arguments.threads,
            callbacks=lambda title: [Progress(title), stop],
            should_stop=stop,
        )
        if arguments.scopes is not None:
            result = scope_study(plan, arguments.scopes)
        elif arguments.tune_scopes is not None:
            steps = [scope for scope in arguments.tune_scopes if isinstance(scope, int)]
            result = tuned_study(plan, arguments.tune_scopes, steps)
        elif arguments.against is None:
            result = accuracy_study(plan)
        else:
            result = paired_study(plan, Variant.parse(arguments.against, arguments.method))
        stopped = stop() and not _complete(result, arguments, variants)
    if arguments.json:
        print_json(result)
    elif arguments.scopes is not None:
        _print_scopes(result)
    elif arguments.tune_scopes is not None:
        _print_tuned(result)
    elif arguments.against is not None:
        _print_paired(result)
    else:
        _print(result)
    if stopped:
        say("stopped; the same command resumes the study")
        return INTERRUPTED
    return 0


def _complete(
    result: dict[str, Any], arguments: argparse.Namespace, variants: list[Variant]
) -> bool:
    """Return whether the result has all requested scores."""
    if arguments.scopes is not None or arguments.tune_scopes is not None:
        return bool(result["seeds"] == arguments.seeds)
    probes = (None,) if arguments.against else protocols_of(arguments.method)
    done = {(row["variant"], row["seed"], row.get("protocol")) for row in result["rows"]}
    return done.issuperset(product(map(str, variants), range(arguments.seeds), probes))


def _print_paired(result: dict[str, Any]) -> None:
    print(f"against {result['against']}, honest probe on {result['splits']} splits")
    print_table(
        ("variant", "seeds", "accuracy", "against", "difference", "seconds", "against"),
        (
            (
                row["variant"],
                str(row["seeds"]),
                figure(row["accuracy"]),
                figure(row["against_accuracy"]),
                _difference(row["difference"], 2),
                f"{row['seconds']:.0f}",
                f"{row['against_seconds']:.0f}",
            )
            for row in result["summary"]
        ),
    )
    _print_controls(result)


def _print_controls(result: dict[str, Any]) -> None:
    """Print the accuracies of the feature controls."""
    shown = ", ".join(f"{name} {accuracy:.1f}" for name, accuracy in result["controls"].items())
    print(f"controls on these splits: {shown}")


def _print_scopes(result: dict[str, Any]) -> None:
    print(
        f"{result['variant']} read out at each n, {result['seeds']} seeds, honest probe on "
        f"{result['splits']} splits"
    )
    print_table(
        ("n", "accuracy", "regret"),
        (
            (str(row["n"]), figure(row["accuracy"]), _difference(row["regret"], 2))
            for row in result["scopes"]
        ),
    )
    _print_controls(result)


def _print_tuned(result: dict[str, Any]) -> None:
    print(
        f"{result['method']}, {result['variant']}, {result['seeds']} seeds, honest probe on "
        f"{result['splits']} splits"
    )
    if not result["seeds"]:
        return
    own, tuned = result["own"], "chosen on validation nodes"
    rows = [(f"own: {own['scope']}, readout {own['readout_scope']}", result["accuracy"], None)]
    for name in ("training", "readout"):
        table = result[name]
        others = [(row["scope"], row["accuracy"], row["gain"]) for row in table["scopes"][1:]]
        others.append((tuned, table["accuracy"], table["gain"]))
        rows += [(f"{name} {scope}", accuracy, gain) for scope, accuracy, gain in others]
    print_table(
        ("scope", "accuracy", "gain over own"),
        (
            (scope, figure(accuracy), "" if gain is None else _difference(gain, 2))
            for scope, accuracy, gain in rows
        ),
    )
    _print_controls(result)


def _print(result: dict[str, Any]) -> None:
    controls = list(dict.fromkeys(name for row in result["summary"] for name in row["controls"]))
    heads = ("variant", "probe", "seeds", "one split", "many splits", *controls)
    print_table(
        (*heads, "gain over control", "seconds"),
        (_line(row, controls) for row in result["summary"]),
    )
    if controls:
        print("controls and gain over the best control are over the many splits")
    if result["published"] is not None:
        print(f"published: {figure(result['published'])}")


def _line(row: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    controls = row["controls_mean"]
    best = max(controls, key=lambda name: controls[name][0])
    gain = row["differences"][best]
    return (
        row["variant"],
        row["protocol"],
        str(row["seeds"]),
        figure(row["accuracy"]),
        figure(row["accuracy_mean"]),
        *(f"{controls[name][0]:.1f}" if name in controls else "-" for name in names),
        _difference(gain),
        f"{row['training_seconds'][0]:.0f}",
    )


def _difference(estimate: dict[str, Any], digits: int = 1) -> str:
    mean, low, high = (f"{value:+.{digits}f}" for value in (estimate["mean"], *estimate["ci95"]))
    return f"{mean} [{low}, {high}]"


def _scope(text: str) -> int | str:
    return text if text in get_args(ScopeName) else integer(0)(text)
