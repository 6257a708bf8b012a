"""Callbacks: objects whose methods are called during training, as in Lightning and skorch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from torch.optim import Optimizer

from ugcl.graph import Graph
from ugcl.methods import Settings
from ugcl.methods.models.model import Model

TOLERANCE = 1e-4
"""A loss counts as lower if it is lower by more than this."""

Ended = Literal["epochs", "patience", "converged", "stopped"]
"""How training ended: after all epochs, by early stopping, by the model's own rule, on request."""


@dataclass
class TrainingState:
    """State of training, which callbacks read and may change.

    Attributes:
        model: the model.
        method: the method's name.
        graph: the training graph.
        settings: the resolved settings.
        seed: the training seed.
        optimizer: the optimizer; None for a model without gradients.
        epochs: the number of epochs to train.
        epoch: the number of epochs done.
        loss: loss of the last epoch.
        validation_loss: loss on the validation nodes after it, where the method has them.
        best: the lowest loss so far, on the validation nodes where there are some.
        stale: epochs since then.
        seconds: time spent in epochs.
        ended: how training ended; None while it goes on.
    """

    model: Model
    method: str
    graph: Graph
    settings: Settings
    seed: int
    optimizer: Optimizer | None = None
    epochs: int = 0
    epoch: int = 0
    loss: float | None = None
    validation_loss: float | None = None
    best: float = float("inf")
    stale: int = 0
    seconds: float = 0.0
    ended: Ended | None = None

    def stop(self, reason: Ended = "stopped") -> None:
        """Stop training after this epoch; the first reason counts."""
        if self.epoch < self.epochs and self.ended is None:
            self.ended = reason

    def update_best(self) -> None:
        """Compare the loss of the epoch with the lowest so far."""
        loss = self.loss if self.validation_loss is None else self.validation_loss
        assert loss is not None
        if loss < self.best - TOLERANCE:
            self.best, self.stale = loss, 0
        else:
            self.stale += 1

    def progress(self) -> dict[str, float | int | None]:
        """Return the numbers that a checkpoint stores."""
        return {name: getattr(self, name) for name in PROGRESS}


PROGRESS = ("epoch", "loss", "validation_loss", "best", "stale", "seconds")


class Callback:
    """Base class for callbacks; all methods do nothing."""

    def on_fit_start(self, state: TrainingState) -> None:
        """Training starts, or resumes after `state.epoch` epochs."""

    def on_step_end(self, state: TrainingState) -> None:
        """A step of the optimizer is done; `state.epoch` counts it and `state.loss` is its loss."""

    def on_epoch_end(self, state: TrainingState) -> None:
        """An epoch is done; `state.stop` ends training."""

    def on_fit_end(self, state: TrainingState) -> None:
        """Training has ended, also by an exception."""


class EarlyStopping(Callback):
    """Stop when the loss, on the validation nodes where there are some, stops falling.

    Args:
        patience: epochs without a lower loss after which training stops; 0 for never.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience

    def on_fit_start(self, state: TrainingState) -> None:
        """Stop a resumed run that was due to stop."""
        self._check(state)

    def on_epoch_end(self, state: TrainingState) -> None:
        """Stop when the patience is over."""
        self._check(state)

    def _check(self, state: TrainingState) -> None:
        if self.patience and state.stale >= self.patience:
            state.stop("patience")


class Convergence(Callback):
    """Stop when the model has converged by its own rule."""

    def on_fit_start(self, state: TrainingState) -> None:
        """Stop a resumed run that was due to stop."""
        self.on_epoch_end(state)

    def on_epoch_end(self, state: TrainingState) -> None:
        """Ask the model."""
        if state.model.converged(state.epoch):
            state.stop("converged")


@dataclass
class History(Callback):
    """Records the loss of every epoch.

    Attributes:
        losses: losses of the epochs of this session.
        validation_losses: the same on the validation nodes, for methods that have them.
    """

    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)

    def on_epoch_end(self, state: TrainingState) -> None:
        """Append the losses."""
        assert state.loss is not None
        self.losses.append(state.loss)
        if state.validation_loss is not None:
            self.validation_losses.append(state.validation_loss)
