"""Messages, tables and JSON that the commands print."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ugcl._utils.signals import Interrupted

if TYPE_CHECKING:
    from ugcl.evaluation import Estimate

PIPE_WIDTH = 10_000
"""Columns of tables where standard output is not a terminal: no cell is wrapped."""


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Print nothing but results, warnings and errors inside this context."""
    logger = logging.getLogger("ugcl")
    token, level = _quiet.set(True), logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
        _quiet.reset(token)


def on_terminal() -> bool:
    """Return whether progress is shown by bars: standard error is a terminal, without --quiet."""
    return sys.stderr.isatty() and not _quiet.get()


def say(text: str, *, always: bool = False) -> None:
    """Print a message that is not the result to standard error.

    Args:
        text: the message.
        always: print it with --quiet, too.
    """
    if always or not _quiet.get():
        print(text, file=sys.stderr, flush=True)


@contextmanager
def resumable(advice: str) -> Iterator[None]:
    """Say how to continue what a signal interrupts inside this context."""
    try:
        yield
    except Interrupted as stop:
        stop.message = f"{stop.message or 'stopped'}; {advice}"
        raise


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: bool = False
) -> None:
    """Print a table; the first column, or with `left` all, are left-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        table.add_column(name, justify="left" if left or index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    terminal = sys.stdout.isatty()
    console = Console(
        width=None if terminal else PIPE_WIDTH, markup=False, emoji=False, highlight=False
    )
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def figure(pair: tuple[float, float | None]) -> str:
    """Format a mean and its deviation."""
    mean, deviation = pair
    return f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}"


def interval(estimate: Estimate, sign: str = "") -> str:
    """Format a mean and its confidence interval."""
    low, high = (f"{end:{sign}.1f}" for end in (estimate.low, estimate.high))
    return f"{estimate.mean:{sign}.1f} [{low}, {high}]"


def option_name(name: str) -> str:
    """Return the command-line spelling of a parameter."""
    return "--" + name.replace("_", "-")


def with_options(message: str) -> str:
    """Replace the parameters in an error message of the library by options.

    `lr` becomes --lr, `header=False` --no-header.
    """
    message = re.sub(r"`([a-z]\w*)=False`", r"`no_\1`", message)
    message = re.sub(r"`([a-z]\w*)=True`", r"`\1`", message)
    return re.sub(r"`([a-z]\w*)`", lambda match: option_name(match[1]), message)


class MessageHandler(logging.Handler):
    """Prints log messages of the library to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the bare message."""
        say(with_options(record.getMessage()), always=record.levelno >= logging.WARNING)


class Clock:
    """Prints progress with the remaining time now and then.

    Args:
        say: prints a line.
        interval: seconds between two lines.
    """

    def __init__(self, say: Callable[[str], None], interval: float = 10.0) -> None:
        self.say, self.interval = say, interval
        self.started = self.printed = time.monotonic()
        self.first, self.what = 0.0, ""

    def __call__(self, fraction: float, what: str) -> None:
        """Print a line where the last one is long ago."""
        now = time.monotonic()
        if (what == "writing") != (self.what == "writing") or not self.what:
            self.started, self.first = now, fraction
        self.what = what
        if now - self.printed < self.interval:
            return
        self.printed = now
        gained = fraction - self.first
        left = (now - self.started) * (1 - fraction) / gained if gained > 0 else None
        remaining = "" if left is None else f", about {_duration(left)} left"
        self.say(f"{what}: {100 * fraction:.0f} %{remaining}")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
