"""`ugcl study run`: train one method over several seeds and write the scores as JSON."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any, get_args

import rich_click as click

from ugcl import methods
from ugcl import study as studies
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import CommaSeparated, Result, argument, command, integer, option
from ugcl.cli.options import data_root, device, method_option, threads
from ugcl.cli.output import figure, print_table, resumable
from ugcl.methods.params import parse_integer
from ugcl.typing import Protocol, ScopeName


def _scope(text: str) -> int | str:
    return text if text in get_args(ScopeName) else parse_integer(0)(text)


@command(
    "run",
    examples=(
        "ugcl study run citeseer --out results.json --preset fast,authors:hidden=1024,epochs=50",
        "ugcl study run citeseer --out paired.json --preset fast:scope=3 --against fast",
    ),
)
@argument("graph", help="a data set's name or a file")
@option("--out", required=True, metavar="FILE", help="the JSON file to write")
@option(
    "--runs", default="runs/study", metavar="DIR", help="folder of the runs (default: runs/study)"
)
@method_option
@option(
    "--preset",
    default="fast",
    metavar="VARIANT,...",
    help="comma-separated presets, each alone or with changed settings, as in "
    "authors:hidden=64,epochs=9 (default: fast)",
)
@option("--seeds", type=integer(1), default=5, help="number of seeds (default: 5)")
@option(
    "--splits",
    type=integer(2),
    default=20,
    help="number of random splits that each run is scored on (default: 20)",
)
@option(
    "--protocol",
    type=click.Choice(get_args(Protocol)),
    help="score by this protocol only (default: by honest and by paper)",
)
@option(
    "--against",
    metavar="VARIANT",
    help="instead compare each with this variant, node by node (honest probe)",
)
@option(
    "--scopes",
    type=integer(1),
    help="instead score the readout at n = 0, ..., N and its regret (honest probe)",
)
@option(
    "--tune-scopes",
    type=CommaSeparated(_scope, " of integers of at least 0, 'component' and 'graph'"),
    metavar="SCOPE,...",
    help="instead tune the training scope among these on validation nodes, and separately the "
    "readout scope among the integers; compare with the method's own scopes (honest probe)",
)
@data_root
@device
@threads
def run(
    graph: str,
    out: str,
    runs: str,
    method: str | None,
    preset: str,
    seeds: int,
    splits: int,
    protocol: Protocol | None,
    against: str | None,
    scopes: int | None,
    tune_scopes: tuple[int | ScopeName, ...] | None,
    data_root: str | None,
    device: str | None,
    threads: int | None,
) -> Result:
    """Train one method over seeds and variants of its settings."""
    from ugcl.cli.callbacks import Progress

    method = method or methods.DEFAULT_METHOD
    instead = {"--against": against, "--scopes": scopes, "--tune-scopes": tune_scopes}
    if len(chosen := [name for name, value in instead.items() if value is not None]) > 1:
        raise UGCLError(f"{chosen[0]} and {chosen[1]} are two different studies: leave out one")
    if chosen and protocol is not None:
        raise UGCLError(f"{chosen[0]} scores by the honest probe: leave out --protocol")
    variants = studies.Variant.parse_list(preset, method)
    with resumable("the same command continues the study"):
        plan = studies.Plan(
            graph,
            Path(out),
            Path(runs) / Path(out).stem,
            method=method,
            variants=variants,
            seeds=seeds,
            splits=splits,
            protocol=protocol,
            command=shlex.join(["ugcl", *sys.argv[1:]]),
            data_root=data_root,
            device=device or "auto",
            threads=threads,
            callbacks=lambda title: [Progress(title)],
        )
        if scopes is not None:
            result, show = studies.scope_study(plan, scopes), _print_scopes
        elif tune_scopes is not None:
            steps = [scope for scope in tune_scopes if isinstance(scope, int)]
            result, show = studies.tuned_study(plan, list(tune_scopes), steps), _print_tuned
        elif against is not None:
            reference = studies.Variant.parse(against, method)
            result, show = studies.paired_study(plan, reference), _print_paired
        else:
            result, show = studies.accuracy_study(plan), _print
    return Result(result, lambda: show(result))


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
