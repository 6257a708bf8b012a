"""Arguments, errors, messages and tables that the commands share."""

from __future__ import annotations

import argparse
import json
import logging
import math
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, get_args

import torch

from ugcl._utils.errors import UGCLError
from ugcl.engine import Callback, TrainingState
from ugcl.evaluation import Estimate
from ugcl.methods import METHODS, get_method
from ugcl.methods.params import parse_integer
from ugcl.typing import SplitKind

Command = Callable[[argparse.Namespace], int]

INTERRUPTED = 130
"""Exit code of a command that was stopped by Ctrl-C."""


class Parser(argparse.ArgumentParser):
    """Argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise an error instead of exiting."""
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
    """Add a command with subcommands, which are added to the returned object."""
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
    """Add the options of the device and the threads."""
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), help="default: auto")
    parser.add_argument(
        "--threads",
        type=integer(1),
        help="CPU threads (default: PyTorch's, for a stored run those of the run)",
    )


def add_data_root(parser: argparse.ArgumentParser) -> None:
    """Add the folder of raw data sets."""
    parser.add_argument(
        "--data-root",
        metavar="DIR",
        help="folder of raw data sets (default: UGCL_DATA, else ~/.cache/ugcl)",
    )


def add_split(parser: argparse.ArgumentParser, use: str, seed_use: str) -> None:
    """Add the kind of split and its seed; `use` and `seed_use` begin their help."""
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
    """Add the settings of all methods as options."""
    group = parser.add_argument_group("settings (the default is the preset's value)")
    for name, methods in _methods_by_setting().items():
        meanings: dict[str, list[str]] = {}
        for method in methods:
            param = METHODS[method].params[name]
            limits = "" if param.expected.startswith("one of") else f"; {param.expected}"
            meanings.setdefault(param.help + limits, []).append(method)
        some = len(methods) < len(METHODS)
        words = (
            words + (f" ({', '.join(_families(having))})" if some else "")
            for words, having in meanings.items()
        )
        group.add_argument(option(name), metavar=param.metavar, help=". ".join(words))


def params_of(arguments: argparse.Namespace, method: str) -> dict[str, Any]:
    """Return the settings that the user has set, parsed.

    Args:
        arguments: the parsed command line.
        method: the method's name.
    """
    chosen, by_setting = get_method(method), _methods_by_setting()
    texts = {name: text for name in by_setting if (text := getattr(arguments, name)) is not None}
    chosen.check_training(texts)
    params = {}
    for name, text in texts.items():
        if name not in chosen.params:
            others = ", ".join(_families(by_setting[name]))
            raise UGCLError(
                f"{option(name)} is not a setting of {method} but of {others}: leave it out, or "
                "use another --method"
            )
        params[name] = chosen.params[name].value(option(name), text)
    return params


def option(name: str) -> str:
    """Return the command-line spelling of a parameter."""
    return "--" + name.replace("_", "-")


def with_options(message: str) -> str:
    """Replace the parameters in an error message of the library by options: `lr` by --lr."""
    return re.sub(r"`([a-z]\w*)`", lambda match: option(match[1]), message)


def _methods_by_setting() -> dict[str, list[str]]:
    """Return the methods that have each setting."""
    methods: dict[str, list[str]] = {}
    for method in METHODS.values():
        for name in method.params:
            methods.setdefault(name, []).append(method.name)
    return methods


def _families(methods: list[str]) -> list[str]:
    """Return one method for each settings class: UGCL stands for its ablations."""
    first: dict[type, str] = {}
    for method in methods:
        first.setdefault(METHODS[method].settings, method)
    return list(first.values())


def integer(minimum: int) -> Callable[[str], int]:
    """Return the argparse type of an integer of at least `minimum`."""

    def parse(text: str) -> int:
        try:
            return parse_integer(minimum)(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(
                f"must be an integer of at least {minimum}, not {text!r}"
            ) from error

    return parse


def real(text: str) -> float:
    """Parse a finite number (an argparse type)."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return value


def fraction(text: str) -> float:
    """Parse a number above 0 and below 1 (an argparse type)."""
    value = real(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and below 1, not {text!r}")
    return value


def use_threads(threads: int | None) -> None:
    """Set the number of CPU threads, where one is given."""
    if threads is not None:
        torch.set_num_threads(threads)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: bool = False
) -> None:
    """Print a table; the first column, or with `left` all, are left-aligned."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        first, *others = (
            cell.ljust(width) if left or i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())


def figure(pair: tuple[float, float | None]) -> str:
    """Format a mean and its deviation."""
    mean, deviation = pair
    return f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}"


def interval(estimate: Estimate, sign: str = "") -> str:
    """Format a mean and its confidence interval."""
    low, high = (f"{end:{sign}.1f}" for end in (estimate.low, estimate.high))
    return f"{estimate.mean:{sign}.1f} [{low}, {high}]"


def say(text: str) -> None:
    """Print a message that is not the result to standard error."""
    print(text, file=sys.stderr, flush=True)


class MessageHandler(logging.Handler):
    """Prints log messages of the library to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the bare message."""
        say(with_options(record.getMessage()))


class StopOnSignal(Callback):
    """Stops training after the current epoch on Ctrl-C or a termination; a context manager.

    A second signal interrupts at once. Called, it returns whether a stop was requested.
    """

    def __init__(self) -> None:
        self.requested = False

    def __enter__(self) -> StopOnSignal:
        self.previous = {
            number: signal.signal(number, self._request)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Return whether a stop was requested."""
        return self.requested

    def on_epoch_end(self, state: TrainingState) -> None:
        """Stop training where a stop was requested."""
        if self.requested:
            state.stop()

    def _request(self, number: int, frame: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        say("\nstopping after this epoch and saving; press Ctrl-C again to stop at once")
