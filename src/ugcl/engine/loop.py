"""The training loop, the same for every method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.engine.checkpoint import Checkpoint, LoopState
from ugcl.engine.memory import kept_memory
from ugcl.graph import Graph
from ugcl.methods import Model, Settings, TrainedSettings

TOLERANCE = 1e-4
"""A loss counts as lower if it is lower by more than this."""


@dataclass(frozen=True)
class Outcome:
    """How training ended: after all epochs, early for want of progress, or on request."""

    epochs: int
    loss: float | None
    seconds: float
    ended: Literal["epochs", "patience", "stopped"]


def new_optimizer(model: Model, settings: TrainedSettings) -> torch.optim.Optimizer | None:
    """The settings' optimiser over all parameters that are trained; None where none are."""
    groups = list(model.parameter_groups())
    return settings.optimizer(groups) if groups else None


def step(
    loss_of: Callable[[int], Tensor], optimizer: torch.optim.Optimizer | None, epoch: int
) -> float:
    """One step of training: the epoch's loss, its gradient, the optimiser."""
    if optimizer is None:
        return loss_of(epoch).item()
    optimizer.zero_grad()
    loss = loss_of(epoch)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


@kept_memory()
def train(
    model: Model,
    graph: Graph,
    settings: Settings,
    *,
    device: torch.device | str = "cpu",
    checkpoint: Checkpoint | None = None,
    on_start: Callable[[LoopState], None] = lambda state: None,
    on_epoch: Callable[[LoopState], None] = lambda state: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train a model on a graph, from its checkpoint if there is one.

    Args:
        model: the model, changed in place and left on `device`.
        graph: the graph.
        settings: epochs, learning rates, optimiser and patience; the rest is read by the model.
            With those of a method that is not trained, the model only takes in the graph.
        device: where to compute.
        checkpoint: where to keep the state now and then, and when stopped.
        on_start: called once with the state that training starts from.
        on_epoch: called with the state after every epoch.
        should_stop: asked after every epoch; True ends training in good order.
    """
    model.to(device)
    model.prepare(graph)
    if not isinstance(settings, TrainedSettings):
        on_start(LoopState())
        return _outcome(LoopState(), "epochs")
    optimizer = new_optimizer(model, settings)
    state = checkpoint.load(model, optimizer) if checkpoint else LoopState()
    on_start(state)
    loss_of = model.loss_fn(graph, device)
    while state.epoch < settings.epochs:
        if settings.patience and state.stale >= settings.patience:
            return _outcome(state, "patience")
        start = time.perf_counter()
        for group in optimizer.param_groups if optimizer else ():
            group["lr"] = settings.rate(state.epoch)
        loss = step(loss_of, optimizer, state.epoch)
        model.after_step(state.epoch)
        if not math.isfinite(loss):
            raise _lost(loss, state.epoch, settings)
        state = _after_epoch(state, loss, model.validate(), time.perf_counter() - start)
        on_epoch(state)
        if should_stop() and state.epoch < settings.epochs:
            if checkpoint:
                checkpoint.save(model, optimizer, state)
            return _outcome(state, "stopped")
        if checkpoint:
            checkpoint.maybe_save(model, optimizer, state)
    return _outcome(state, "epochs")


def _after_epoch(
    state: LoopState, loss: float, validation: float | None, seconds: float
) -> LoopState:
    watched = loss if validation is None else validation
    better = watched < state.best - TOLERANCE
    return LoopState(
        epoch=state.epoch + 1,
        loss=loss,
        validation=validation,
        best=watched if better else state.best,
        stale=0 if better else state.stale + 1,
        seconds=state.seconds + seconds,
    )


def _lost(loss: float, epoch: int, settings: Settings) -> UGCLError:
    wiser = "use a smaller --lr"
    if "temperature" in settings.values():
        wiser += " or a larger --temperature"
    return UGCLError(f"the loss is {loss} in epoch {epoch + 1}: {wiser}")


def _outcome(state: LoopState, ended: Literal["epochs", "patience", "stopped"]) -> Outcome:
    return Outcome(state.epoch, state.loss, state.seconds, ended)
