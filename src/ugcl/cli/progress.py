"""Progress of training: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

from ugcl.cli.common import say
from ugcl.engine import LoopState
from ugcl.runs import Reporter


class Progress(Reporter):
    """Shows epochs, loss, speed and remaining time on standard error.

    Args:
        title: what stands before the bar or the line.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: tqdm[None] | None = None

    def start(self, state: LoopState, epochs: int) -> None:
        """Training starts from this state and goes on to that many epochs."""
        self.epochs, self.first = epochs, state.epoch
        if state.epoch:
            say(f"{self.title}: going on after epoch {state.epoch}")
        self.began = self.spoken = time.monotonic()
        if sys.stderr.isatty():
            self.bar = tqdm(
                total=epochs, initial=state.epoch, desc=self.title, unit="epoch", leave=True
            )

    def epoch(self, state: LoopState) -> None:
        """An epoch is done."""
        if self.bar is not None:
            self.bar.set_postfix_str(f"loss {state.loss:.4f}", refresh=False)
            self.bar.update()
            return
        now = time.monotonic()
        tenth = max(1, self.epochs // 10)
        due = state.epoch % tenth == 0 and now - self.spoken >= 0.5
        if due or now - self.spoken >= 30 or state.epoch in (self.first + 1, self.epochs):
            self.spoken = now
            speed = (state.epoch - self.first) / max(now - self.began, 1e-9)
            remaining = (self.epochs - state.epoch) / speed
            say(
                f"{self.title}: epoch {state.epoch}/{self.epochs}, loss {state.loss:.4f}, "
                f"{speed:.1f} epochs/s, {remaining:.0f} s left"
            )

    def end(self) -> None:
        """Training has ended, well or not."""
        if self.bar is not None:
            self.bar.close()
