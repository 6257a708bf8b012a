"""Undo half a step: a step that is interrupted before the optimizer's update leaves no trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from ugcl._utils.signals import Interrupted


class HalfSteps:
    """Restores buffers that losses change, such as the running means of batch normalisation.

    Parameters and what belongs to the optimizer change in its update alone, and random streams are
    keyed by the epoch. Buffers are copied before every step, after the first step only those that
    it has changed.

    Args:
        model: the model.

    Attributes:
        undoable: False after an interruption if another buffer had changed than in the first step.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._others: set[str] = set()
        self._first, self.undoable = True, True

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Restore the buffers if a signal interrupts this context: loss and gradients of a step."""
        buffers = dict(self.model.named_buffers())
        copies = {n: each.clone() for n, each in buffers.items() if n not in self._others}
        versions = [buffers[name]._version for name in self._others]
        try:
            yield
        except Interrupted:
            after = dict(self.model.named_buffers())
            self.undoable = versions == [after[name]._version for name in self._others]
            with torch.no_grad():
                for name, copy in copies.items():
                    after[name].copy_(copy)
            raise
        if self._first:
            self._first = False
            same = (name for name, copy in copies.items() if torch.equal(copy, buffers[name]))
            self._others = set(same)
