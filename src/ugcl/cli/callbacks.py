"""Callbacks on the command line: progress of training and of the stages of other commands."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from ugcl.cli.output import on_terminal, say
from ugcl.engine import Callback, TrainingState

REFRESH = 0.1
"""Seconds between two updates of the bar."""

SILENCE = 10.0
"""Seconds between two lines about a stage where standard error is not a terminal."""


class Progress(Callback):
    """Shows epochs, loss, speed and remaining time on standard error.

    A bar on a terminal, plain lines elsewhere.

    Args:
        title: text before the bar or the line.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: RichProgress | None = None

    def on_fit_start(self, state: TrainingState) -> None:
        """Start the clock and, on a terminal, the bar."""
        self.first_epoch = state.epoch
        if state.epoch:
            say(f"{self.title}: resuming after epoch {state.epoch}")
        self.started = self.printed = time.monotonic()
        if on_terminal():
            self.bar = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[loss]}"),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=Console(stderr=True),
                auto_refresh=False,
            )
            self.task = self.bar.add_task(
                self.title, total=state.epochs, completed=state.epoch, loss=""
            )
            self.bar.start()

    def on_epoch_end(self, state: TrainingState) -> None:
        """Update the bar, or print a line now and then."""
        now = time.monotonic()
        ends = state.epoch in (self.first_epoch + 1, state.epochs)
        if self.bar is not None:
            speed = (state.epoch - self.first_epoch) / max(now - self.started, 1e-9)
            loss = f"loss {state.loss:.4f}, {speed:.1f} epochs/s"
            self.bar.update(self.task, completed=state.epoch, loss=loss)
            if ends or now - self.printed >= REFRESH:
                self.printed = now
                self.bar.refresh()
            return
        tenth = max(1, state.epochs // 10)
        due = state.epoch % tenth == 0 and now - self.printed >= 0.5
        if due or now - self.printed >= 30 or ends:
            self.printed = now
            speed = (state.epoch - self.first_epoch) / max(now - self.started, 1e-9)
            remaining = (state.epochs - state.epoch) / speed
            say(
                f"{self.title}: epoch {state.epoch}/{state.epochs}, loss {state.loss:.4f}, "
                f"{speed:.1f} epochs/s, {remaining:.0f} s left"
            )

    def on_fit_end(self, state: TrainingState) -> None:
        """Close the bar."""
        if self.bar is not None:
            self.bar.stop()


class Stages:
    """Shows how much of each stage is done on standard error, with the remaining time.

    A bar on a terminal, lines about stages that take long elsewhere.
    """

    def __init__(self) -> None:
        self.bar: RichProgress | None = None
        self.tasks: dict[str, TaskID] = {}
        self.started: dict[str, float] = {}
        self.printed = time.monotonic()

    def __enter__(self) -> Stages:
        """Start the bar, on a terminal."""
        if on_terminal():
            self.bar = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=Console(stderr=True),
            )
            self.bar.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Close the bar."""
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Update a stage.

        Args:
            stage: its name.
            done: how much of it is done.
            total: when it is finished.
        """
        if self.bar is not None:
            if stage not in self.tasks:
                self.tasks[stage] = self.bar.add_task(stage, total=total)
            self.bar.update(self.tasks[stage], completed=done)
            return
        now = time.monotonic()
        first = self.started.setdefault(stage, now)
        if done and now - max(first, self.printed) >= SILENCE:
            self.printed = now
            remaining = (now - first) * (total - done) / done
            say(f"{stage}: {done:,}/{total:,}, {remaining:.0f} s left")
