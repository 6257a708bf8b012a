"""Callbacks: what is called when, and what a callback may do."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from steps import StopAfter
from ugcl import Graph, UGCLError
from ugcl.engine import Callback, EarlyStopping, History, Trainer, TrainingState, fit

SMALL: dict[str, Any] = {"hidden": 4, "scope": 1, "sample": 30, "negatives": 10, "lr": 0.01}


class Log(Callback):
    """Records its calls, in a list that callbacks may share."""

    def __init__(self, name: str = "", calls: list[tuple[str, str, int]] | None = None) -> None:
        self.name = name
        self.calls: list[tuple[str, str, int]] = [] if calls is None else calls
        self.states: list[TrainingState] = []

    def _log(self, event: str, state: TrainingState) -> None:
        self.calls.append((self.name, event, state.epoch))
        self.states.append(state)

    def on_fit_start(self, state: TrainingState) -> None:
        self._log("fit_start", state)

    def on_step_end(self, state: TrainingState) -> None:
        self._log("step_end", state)

    def on_epoch_end(self, state: TrainingState) -> None:
        self._log("epoch_end", state)

    def on_fit_end(self, state: TrainingState) -> None:
        self._log("fit_end", state)


class FailAt(Callback):
    """Raises an exception in one hook after an epoch."""

    def __init__(self, hook: str, epoch: int) -> None:
        self.epoch = epoch
        setattr(self, hook, self.fail)

    def fail(self, state: TrainingState) -> None:
        if state.epoch == self.epoch:
            raise RuntimeError("a callback failed")


def test_hooks_are_called_in_order(graph: Graph) -> None:
    log = Log()
    fit("ugcl", graph, device="cpu", callbacks=[log], epochs=2, **SMALL)
    assert [(event, epoch) for _, event, epoch in log.calls] == [
        ("fit_start", 0),
        ("step_end", 1),
        ("epoch_end", 1),
        ("step_end", 2),
        ("epoch_end", 2),
        ("fit_end", 2),
    ]
    assert all(state is log.states[0] for state in log.states)


def test_several_callbacks_are_called_in_the_given_order(graph: Graph) -> None:
    calls: list[tuple[str, str, int]] = []
    logs = [Log(name, calls) for name in "ab"]
    fit("ugcl", graph, device="cpu", callbacks=logs, epochs=1, **SMALL)
    events = ("fit_start", "step_end", "epoch_end", "fit_end")
    assert [(name, event) for name, event, _ in calls] == [(n, e) for e in events for n in "ab"]


def test_without_epochs_only_start_and_end_are_called(graph: Graph) -> None:
    for method, params in (("ugcl", SMALL | {"epochs": 0}), ("raw", {})):
        log = Log()
        fit(method, graph, device="cpu", callbacks=[log], **params)
        assert [event for _, event, _ in log.calls] == ["fit_start", "fit_end"]


def test_callbacks_see_the_model_the_losses_and_the_progress(graph: Graph) -> None:
    class Look(Callback):
        losses: list[float | None]

        def on_fit_start(self, state: TrainingState) -> None:
            self.losses = []
            assert (state.epoch, state.epochs, state.loss, state.ended) == (0, 3, None, None)
            assert state.optimizer is not None

        def on_epoch_end(self, state: TrainingState) -> None:
            self.losses.append(state.loss)
            assert state.best == min(loss for loss in self.losses if loss is not None)
            assert state.seconds > 0

    look = Look()
    trainer = Trainer("dgi", graph, device="cpu", hidden=4, lr=0.05, epochs=3)
    fitted = trainer.run([look])
    assert look.losses == fitted.history.losses
    assert trainer.state.model is fitted.model
    assert trainer.state.settings is fitted.settings


def test_the_base_class_does_nothing(graph: Graph) -> None:
    plain = fit("ugcl", graph, device="cpu", epochs=2, **SMALL)
    other = fit("ugcl", graph, device="cpu", callbacks=[Callback()], epochs=2, **SMALL)
    assert plain.history == other.history


def test_a_callback_stops_training_after_the_epoch(graph: Graph) -> None:
    log = Log()
    fitted = fit("ugcl", graph, device="cpu", callbacks=[StopAfter(2), log], epochs=9, **SMALL)
    assert (fitted.ended, fitted.epochs) == ("stopped", 2)
    assert len(fitted.history.losses) == 2
    assert log.calls[-2:] == [("", "epoch_end", 2), ("", "fit_end", 2)]
    assert log.states[-1].ended == "stopped"


def test_a_stop_after_the_last_epoch_changes_nothing(graph: Graph) -> None:
    fitted = fit("ugcl", graph, device="cpu", callbacks=[StopAfter(3)], epochs=3, **SMALL)
    assert (fitted.ended, fitted.epochs) == ("epochs", 3)


def test_a_stop_at_the_start_takes_no_step(graph: Graph) -> None:
    class Stop(Callback):
        def on_fit_start(self, state: TrainingState) -> None:
            state.stop("stopped")

    fitted = fit("ugcl", graph, device="cpu", callbacks=[Stop()], epochs=3, **SMALL)
    assert (fitted.ended, fitted.epochs, fitted.loss) == ("stopped", 0, None)


@pytest.mark.parametrize("hook", ["on_step_end", "on_epoch_end"])
def test_an_exception_ends_training_and_all_callbacks(hook: str, graph: Graph) -> None:
    calls: list[tuple[str, str, int]] = []
    callbacks = [Log("a", calls), FailAt(hook, 2), Log("b", calls)]
    with pytest.raises(RuntimeError, match="a callback failed"):
        fit("ugcl", graph, device="cpu", callbacks=callbacks, epochs=5, **SMALL)
    assert calls[-2:] == [("a", "fit_end", 2), ("b", "fit_end", 2)]
    assert max(epoch for _, _, epoch in calls) == 2


def test_an_exception_at_the_start_ends_the_callbacks_that_have_started(graph: Graph) -> None:
    calls: list[tuple[str, str, int]] = []
    callbacks = [Log("a", calls), FailAt("on_fit_start", 0), Log("b", calls)]
    with pytest.raises(RuntimeError, match="a callback failed"):
        fit("ugcl", graph, device="cpu", callbacks=callbacks, epochs=5, **SMALL)
    assert calls == [("a", "fit_start", 0), ("a", "fit_end", 0)]


def test_a_diverged_loss_ends_all_callbacks_too(graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", epochs=5, **SMALL)
    with torch.no_grad():
        next(trainer.model.parameters()).fill_(float("nan"))
    log = Log()
    with pytest.raises(UGCLError, match="the loss is nan in epoch 1"):
        trainer.run([log])
    assert [event for _, event, _ in log.calls] == ["fit_start", "step_end", "fit_end"]
    assert log.states[-1].ended is None


# Early stopping and the history.


def epochs_until_stop(graph: Graph, *callbacks: Callback, **params: Any) -> tuple[str, int]:
    params = {"epochs": 60, "hidden": 16, "dropout": 0.0, **params}
    fitted = fit("gcn", graph, device="cpu", callbacks=callbacks, **params)
    return fitted.ended, fitted.epochs


def test_early_stopping_as_a_callback_equals_the_setting(graph: Graph) -> None:
    by_setting = epochs_until_stop(graph, patience=4, lr=0.05)
    by_callback = epochs_until_stop(graph, EarlyStopping(4), patience=0, lr=0.05)
    assert by_setting == by_callback
    ended, epochs = by_setting
    assert ended == "patience"
    assert 5 < epochs < 60
    assert epochs_until_stop(graph, patience=0, lr=0.05) == ("epochs", 60)


def test_early_stopping_counts_epochs_without_a_lower_loss(graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", epochs=9, **SMALL)
    state = trainer.state
    staleness = []
    for loss in (3.0, 2.0, 2.5, 1.99999, 1.9, 1.9, 1.8):
        state.loss = loss
        state.update_best()
        staleness.append(state.stale)
    assert staleness == [0, 0, 1, 2, 0, 1, 0]  # 1.99999 is not lower by more than the tolerance
    assert state.best == 1.8
    state.validation_loss = 5.0
    state.update_best()
    assert (state.best, state.stale) == (1.8, 1)


def test_the_history_is_a_callback_of_its_own(graph: Graph) -> None:
    history = History()
    fitted = fit("gcn", graph, device="cpu", callbacks=[history], hidden=4, epochs=3)
    assert history == fitted.history
    assert history is not fitted.history
    assert len(history.losses) == len(history.validation_losses) == 3


def test_the_first_reason_to_stop_counts(graph: Graph) -> None:
    class Stop(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            state.stop("patience")
            state.stop("stopped")

    fitted = fit("ugcl", graph, device="cpu", epochs=3, callbacks=[Stop()])
    assert (fitted.ended, fitted.epochs) == ("patience", 1)


def test_all_callbacks_end_even_if_one_of_them_fails(graph: Graph) -> None:
    ended: list[str] = []

    class Fails(Callback):
        def on_fit_end(self, state: TrainingState) -> None:
            ended.append("fails")
            raise OSError("disk full")

    class Closes(Callback):
        def on_fit_end(self, state: TrainingState) -> None:
            ended.append("closes")

    with pytest.raises(OSError, match="disk full"):
        fit("ugcl", graph, device="cpu", epochs=1, callbacks=[Fails(), Closes()])
    assert ended == ["fails", "closes"]
