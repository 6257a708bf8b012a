"""Progress of training: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

from ugcl.cli.common import say
from ugcl.engine import Callback, TrainingState


class Progress(Callback):
    """Shows epochs, loss, speed and remaining time on standard error.

    Args:
        title: text before the bar or the line.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: tqdm[None] | None = None

    def on_fit_start(self, state: TrainingState) -> None:
        """Start the clock and, on a terminal, the bar."""
        self.first_epoch = state.epoch
        if state.epoch:
            say(f"{self.title}: resuming after epoch {state.epoch}")
        self.started = self.printed = time.monotonic()
        if sys.stderr.isatty():
            self.bar = tqdm(
                total=state.epochs, initial=state.epoch, desc=self.title, unit="epoch", leave=True
            )

    def on_epoch_end(self, state: TrainingState) -> None:
        """Update the bar, or print a line now and then."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"loss {state.loss:.4f}", refresh=False)
            self.bar.update()
            return
        now = time.monotonic()
        tenth = max(1, state.epochs // 10)
        due = state.epoch % tenth == 0 and now - self.printed >= 0.5
        ends = (self.first_epoch + 1, state.epochs)
        if due or now - self.printed >= 30 or state.epoch in ends:
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
            self.bar.close()
