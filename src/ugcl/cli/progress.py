"""Progress of loops on standard error: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import Any, Self

from ugcl.cli.output import on_terminal, say

DELAY = 0.5
"""Seconds of a loop after which its bar is shown."""

INTERVAL = 10.0
"""Seconds between two lines of a loop where standard error is not a terminal."""


class Loops:
    """Shows the loops that `ugcl._utils.progress` reports, with rate and remaining time."""

    def __init__(self) -> None:
        self.started: dict[str, float] = {}
        self.printed: dict[str, float] = {}
        self.tasks: dict[str, Any] = {}
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show what is done of a loop, unless that takes a moment only."""
        now = time.monotonic()
        if done == 0 or what not in self.started:
            self.started[what] = self.printed[what] = now
            return
        if on_terminal():
            self._update(what, done, total, now)
        elif done < total and now - self.printed[what] >= INTERVAL:
            self.printed[what] = now
            say(f"{what}: {done:,}/{total:,}, {_speed(done, total, now - self.started[what])}")
        if done == total:
            del self.started[what]

    def _update(self, what: str, done: int, total: int, now: float) -> None:
        seconds = now - self.started[what]
        if done == total:
            if (task := self.tasks.pop(what, None)) is not None:
                self.bar.remove_task(task)
            if not self.tasks:
                self._stop()
            return
        if what not in self.tasks:
            if seconds < DELAY:
                return
            if self.bar is None:
                self.bar = _new_bar()
            self.tasks[what] = self.bar.add_task(what, total=total, speed="")
        speed = _speed(done, total, seconds)
        self.bar.update(self.tasks[what], completed=done, total=total, speed=speed)

    def _stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
        self.bar, self.tasks = None, {}


def _new_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar


def _speed(done: int, total: int, seconds: float) -> str:
    """Return rate and remaining time as text."""
    rate = done / max(seconds, 1e-9)
    shown = f"{rate:,.1f}/s" if rate >= 1 else f"{1 / rate:,.1f} s each"
    return f"{shown}, {duration((total - done) / rate)} left"


def duration(seconds: float) -> str:
    """Return a time as text."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
