"""`fit`: the one way to train a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any

from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.signals import Interrupted, deferred, interruptible
from ugcl.engine.callbacks import (
    Callback,
    Convergence,
    EarlyStopping,
    History,
    TrainingState,
)
from ugcl.engine.checkpoint import Checkpoint
from ugcl.engine.device import resolve_device
from ugcl.engine.divergence import Divergence, check_loss
from ugcl.engine.fitted import Fitted
from ugcl.engine.half_steps import HalfSteps
from ugcl.engine.memory import keep_memory
from ugcl.engine.ranks import SharedState, check_method, current
from ugcl.engine.resolve import resolve_settings
from ugcl.graph import Graph
from ugcl.methods import (
    DEFAULT_PRESET,
    Method,
    Settings,
    Shape,
    TrainingSettings,
    get_method,
)
from ugcl.methods.params import check_integer
from ugcl.selection import Choice, resolve_scope

SLOW = 1.0
"""Seconds of a validation that a signal does not wait for."""


def fit(
    method: str | Method,
    graph: Graph,
    *,
    preset: str = DEFAULT_PRESET,
    seed: int = 0,
    device: str = "auto",
    callbacks: Sequence[Callback] = (),
    settings: Settings | None = None,
    **params: Any,
) -> Fitted:
    """Train a method on a graph.

    Inside `engine.ranks.joined` all ranks call it alike; the result is that of rank 0.

    Args:
        method: the method or its name.
        graph: the training graph.
        preset: the preset whose values hold where `params` has none.
        seed: the training seed.
        device: "auto", "cpu" or "cuda".
        callbacks: called during training in this order, but checkpoints load first and save last.
        settings: all settings, in place of `preset` and `params`.
        **params: settings of the method that differ from the preset. `epochs=0` gives the
            untrained model.
    """
    trainer = Trainer(
        method, graph, preset=preset, seed=seed, device=device, settings=settings, **params
    )
    return trainer.run(callbacks)


class Trainer:
    """A model, its optimizer and its graph; `fit` runs it, benchmarks time its steps.

    Args:
        method: as for `fit`, like all others.
        graph: the training graph.
        preset: the preset.
        seed: the training seed.
        device: where to compute.
        settings: all settings, resolved.
        **params: settings that differ from the preset.
    """

    def __init__(
        self,
        method: str | Method,
        graph: Graph,
        *,
        preset: str = DEFAULT_PRESET,
        seed: int = 0,
        device: str = "auto",
        settings: Settings | None = None,
        **params: Any,
    ) -> None:
        if not isinstance(graph, Graph):
            raise UGCLError(f"fit takes a Graph, not {type(graph).__name__}: see Graph.from_edges")
        seed = check_integer("`seed`", seed, 0)
        self.method, self.graph = get_method(method), graph
        self.device = resolve_device(device)
        self.scope_choice: Choice | None = None
        if settings is None:
            settings, self.scope_choice = resolve_settings(
                self.method, graph, preset, params, self.device
            )
        elif params:
            raise UGCLError("pass either `settings` or single values, not both")
        else:
            self._check_settings(settings)
            settings, self.scope_choice = resolve_scope(settings, graph)
        self.settings = settings
        self.ranks = current()
        check_method(self.method.name, settings, graph, self.ranks.size)
        self.model = self.method.new_model(Shape.of(graph), settings, seed).to(self.device)
        self.model.rank = self.ranks.rank
        self.model.fit_buffers(graph)
        self.state = TrainingState(self.model, self.method.name, graph, settings, seed)
        if isinstance(settings, TrainingSettings):
            self.state.optimizer = self.model.new_optimizer(settings)
            self.state.epochs = settings.epochs
        self._loss_fn: Callable[[int], Tensor] | None = None
        self._half_steps = HalfSteps(self.model)
        self._complete = True  # whether the state is that after an epoch
        self._slow_validation = True

    def _check_settings(self, settings: Settings) -> None:
        if getattr(settings, "epochs", 0):  # an untrained model needs no edges, labels or split
            self.method.check(self.graph)
        expected = self.method.settings
        if not isinstance(settings, expected):
            raise UGCLError(
                f"{self.method.name} takes {expected.__name__}, not {type(settings).__name__}"
            )

    def setup(self) -> Callable[[int], Tensor]:
        """Prepare the views of the graph, once; return the loss function."""
        if self._loss_fn is None:
            self._loss_fn = self.model.loss_fn(self.graph, self.device)
        return self._loss_fn

    def step(self) -> float:
        """Take one training step: loss, gradients, optimizer. Returns the loss.

        A signal of the command line interrupts the first two, which change nothing that lasts.
        """
        settings, state, loss_fn = self.settings, self.state, self.setup()
        assert isinstance(settings, TrainingSettings)
        optimizer = state.optimizer
        with deferred():
            if optimizer is not None:
                for group in optimizer.param_groups:
                    group["lr"] = settings.lr_at(state.epoch)
                optimizer.zero_grad()
            with self._half_steps.undone(), interruptible():
                loss = loss_fn(state.epoch)
                if optimizer is not None:
                    loss.backward()  # type: ignore[no-untyped-call]
                    groups = optimizer.param_groups
                    parameters = [value for group in groups for value in group["params"]]
                    loss = self.ranks.mean(parameters, loss)
            self._complete = False
            if optimizer is not None:
                optimizer.step()
            self.model.on_step_end(state.epoch)
            state.epoch += 1
        return loss.item()

    def run(self, callbacks: Sequence[Callback] = ()) -> Fitted:
        """Train until all epochs are done or a callback stops it."""
        history = History()
        patience = getattr(self.settings, "patience", 0)
        rules = (Convergence(), EarlyStopping(patience), Divergence(self.model))
        checkpoints = [each for each in callbacks if isinstance(each, Checkpoint)]
        others = [each for each in callbacks if not isinstance(each, Checkpoint)]
        state = self.state
        started: list[Callback] = []
        with keep_memory(), deferred():
            try:
                for callback in (*checkpoints, SharedState(self.ranks), *others, *rules):
                    callback.on_fit_start(state)
                    started.append(callback)
                state.ended = self.ranks.share(state.ended)
                while state.epoch < state.epochs and state.ended is None:
                    self._epoch([history, *rules, *others, *checkpoints])
            except Interrupted as stop:
                if self._complete and self._half_steps.undoable:
                    state.stop()
                    stop.message = f"stopped after epoch {state.epoch}"
                raise
            finally:
                with ExitStack() as stack:  # every callback ends, even if one of them raises
                    for callback in reversed(started):
                        stack.callback(callback.on_fit_end, state)
            start = time.perf_counter()
            if self.ranks.rank == 0:
                with interruptible():
                    self.model.on_fit_end(self.graph, self.device)
            state.seconds += time.perf_counter() - start
        return Fitted(
            method=self.method,
            model=self.model,
            settings=self.settings,
            scope_choice=self.scope_choice,
            history=history,
            epochs=state.epoch,
            loss=state.loss,
            seconds=state.seconds,
            ended=state.ended or "epochs",
            device=self.device,
            shape=Shape.of(self.graph),
            seed=self.state.seed,
        )

    def _epoch(self, callbacks: Sequence[Callback]) -> None:
        with interruptible():
            self.setup()
        state, start = self.state, time.perf_counter()
        state.loss = self.step()
        for callback in callbacks:
            callback.on_step_end(state)
        check_loss(state)
        state.validation_loss = self._validation_loss()
        state.update_best()
        state.seconds += time.perf_counter() - start
        self._complete = True
        for callback in callbacks:
            callback.on_epoch_end(state)
        state.ended = self.ranks.share(state.ended)

    def _validation_loss(self) -> float | None:
        """Return the loss on validation nodes; a signal waits for it unless it takes long.

        The epoch is not complete until then. One that takes long was preceded by a checkpoint.
        """
        start = time.perf_counter()
        with interruptible() if self._slow_validation else nullcontext():
            loss = self.model.validation_loss()
        self._slow_validation = time.perf_counter() - start > SLOW
        return loss
