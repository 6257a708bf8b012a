"""What the commands share: arguments, errors, tables."""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, get_args

import torch

from ugcl._utils.errors import UGCLError
from ugcl.data import SplitKind
from ugcl.evaluation import Estimate
from ugcl.methods import METHODS, method_named
from ugcl.methods.options import flag, parse_integer

Command = Callable[[argparse.Namespace], int]

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise UGCLError(f"{message}; see {self.prog} --help")


def add_command(
    commands: Any, name: str, run: Command, help: str, example: str
) -> argparse.ArgumentParser:
    """Add a command with the options that every command has."""
    parser = _add_parser(commands, name, help, example)
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=run)
    return parser


def add_group(commands: Any, name: str, help: str, example: str, metavar: str) -> Any:
    """Add a command that has commands of its own; they are added to what this returns."""
    parser = _add_parser(commands, name, help, example)
    return parser.add_subparsers(metavar=metavar, required=True)


def _add_parser(commands: Any, name: str, help: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_compute_options(parser: argparse.ArgumentParser) -> None:
    """Add where to compute."""
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), help="default: auto")
    parser.add_argument(
        "--threads",
        type=integer(1),
        help="threads on the CPU (default: as many as PyTorch takes, and for a stored run its own)",
    )


def add_data_root(parser: argparse.ArgumentParser) -> None:
    """Add where raw data sets are."""
    parser.add_argument(
        "--data-root",
        metavar="DIR",
        help="folder of raw data sets (default: UGCL_DATA, else ~/.cache/ugcl)",
    )


def add_split(parser: argparse.ArgumentParser, use: str, seed_use: str) -> None:
    """Add which split, and its seed; `use` and `seed_use` begin their help."""
    parser.add_argument(
        "--split",
        choices=get_args(SplitKind),
        help=f"{use}the graph's own split (default where it has one), 20 random nodes a class, or "
        "a random 10/10/80 %%",
    )
    parser.add_argument(
        "--split-seed", type=integer(0), metavar="K", help=f"{seed_use} (default: 0)"
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the settings of all methods, each by its option's own words."""
    group = parser.add_argument_group("settings (each by default as the preset has it)")
    for name, methods in _settings().items():
        meanings: dict[str, list[str]] = {}
        for method in methods:
            option = METHODS[method].options()[name]
            limits = "" if option.wanted.startswith("one of") else f"; {option.wanted}"
            meanings.setdefault(option.help + limits, []).append(method)
        some = len(methods) < len(METHODS)
        words = (
            words + (f" ({', '.join(_families(having))})" if some else "")
            for words, having in meanings.items()
        )
        group.add_argument(flag(name), metavar=option.metavar, help=". ".join(words))


def given_settings(
    arguments: argparse.Namespace, method: str, stored: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The settings that the user gave, as values of their types.

    Args:
        arguments: what the command line says.
        method: the method's name.
        stored: the settings of the run that is repeated, if one is.
    """
    asked = method_named(method)
    texts = {name: text for name in _settings() if (text := getattr(arguments, name)) is not None}
    asked.refuse_training(texts)
    known, given = asked.options({**(stored or {}), **texts}), {}
    for name, text in texts.items():
        if name not in known:
            others = ", ".join(_families(_settings()[name]))
            raise UGCLError(
                f"{flag(name)} is no setting of {method} but of {others}: leave it out, or use "
                "another --method"
            )
        given[name] = known[name].value(flag(name), text)
    return given


def _settings() -> dict[str, list[str]]:
    """The names of all settings, and the methods that have each."""
    found: dict[str, list[str]] = {}
    for method in METHODS:
        for name in METHODS[method].options():
            found.setdefault(name, []).append(method)
    return found


def _families(methods: list[str]) -> list[str]:
    """The first of the methods that share their settings: UGCL for its ablations."""
    first: dict[type, str] = {}
    for method in methods:
        first.setdefault(METHODS[method].settings, method)
    return list(first.values())


def integer(minimum: int) -> Callable[[str], int]:
    """An argparse type: a whole number of at least `least`."""

    def parse(text: str) -> int:
        try:
            return parse_integer(minimum)(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {minimum}, not {text!r}"
            ) from error

    return parse


def real(text: str) -> float:
    """An argparse type: a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return value


def fraction(text: str) -> float:
    """An argparse type: a number above 0 and below 1."""
    value = real(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1, not {text!r}")
    return value


def use_threads(threads: int | None) -> None:
    """Set the number of threads, where one was asked for."""
    if threads is not None:
        torch.set_num_threads(threads)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: bool = False
) -> None:
    """Print a table: the first column to the left, the others to the right, or all to the left."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        first, *others = (
            cell.ljust(width) if left or i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def figure(pair: tuple[float, float | None]) -> str:
    """A mean and, where it is known, its deviation."""
    mean, deviation = pair
    return f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}"


def interval(estimate: Estimate, sign: str = "") -> str:
    """A mean and its confidence interval."""
    low, high = (f"{end:{sign}.1f}" for end in (estimate.low, estimate.high))
    return f"{estimate.mean:{sign}.1f} [{low}, {high}]"


def say(text: str) -> None:
    """Tell a person something that is not the result: on standard error."""
    print(text, file=sys.stderr, flush=True)


class StopRequest:
    """Turns the first Ctrl-C (or a termination) into a wish to stop in good order.

    A second one interrupts at once.
    """

    def __enter__(self) -> StopRequest:
        self.asked = False
        self.before = {
            number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether somebody asked to stop."""
        return self.asked

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        say("\nstopping at the next good place and saving; once more to stop at once")
