"""Checkpoints: a stopped or killed fit that is resumed equals an uninterrupted one."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from conftest import make_graph
from steps import StopAfter
from ugcl import Graph, UGCLError
from ugcl._utils.linalg import dense_rows
from ugcl._utils.signals import Interrupted, raise_on_signals
from ugcl.engine import Callback, Checkpoint, Fitted, Trainer, TrainingState, fit
from ugcl.methods import METHODS

SMALL: dict[str, Any] = {
    "hidden": 8,
    "projector": 8,
    "predictor": 8,
    "inner": 8,
    "sample": 30,
    "negatives": 10,
    "walk_length": 10,
    "window": 3,
    "heads": 2,
    "warmup": 1,
    "lr": 0.01,
    "epochs": 6,
}
TRAINED = [name for name, method in METHODS.items() if method.trained]


class Killed(Exception):
    pass


class KillAfter(Callback):
    """Raises an exception after an epoch, before later callbacks see that epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch > self.epoch:
            raise Killed


class Start(Callback):
    """Records the epoch that training starts from."""

    epoch = -1

    def on_fit_start(self, state: TrainingState) -> None:
        self.epoch = state.epoch


class SaveAlways(Checkpoint):
    """Saves after every epoch, whatever it costs."""

    saves = 0

    def __init__(self, path: Path) -> None:
        super().__init__(path, every=0)

    def save(self, state: TrainingState) -> None:
        super().save(state)
        self.cost = 0.0
        self.saves += 1


def small(name: str, **params: Any) -> dict[str, Any]:
    return {key: value for key, value in (SMALL | params).items() if key in METHODS[name].params}


def train(
    name: str, graph: Graph, *callbacks: Callback, preset: str = "fast", **params: Any
) -> Fitted:
    values = small(name, **params)
    return fit(name, graph, preset=preset, seed=1, device="cpu", callbacks=callbacks, **values)


def assert_same(one: Fitted, other: Fitted, graph: Graph) -> None:
    assert (one.epochs, one.loss, one.ended) == (other.epochs, other.loss, other.ended)
    state, other_state = one.model.state_dict(), other.model.state_dict()
    assert state.keys() == other_state.keys()
    for name, value in state.items():
        assert torch.equal(value, other_state[name]), name
    embeddings, others = (dense_rows(each.embed(graph)) for each in (one, other))
    np.testing.assert_array_equal(embeddings, others)


@pytest.mark.parametrize("name", TRAINED)
def test_a_stopped_and_resumed_fit_equals_an_uninterrupted_one(
    name: str, graph: Graph, tmp_path: Path
) -> None:
    whole = train(name, graph)
    file = tmp_path / "checkpoint.safetensors"
    stopped = train(name, graph, Checkpoint(file), StopAfter(2))
    assert (stopped.ended, stopped.epochs) == ("stopped", 2)
    assert file.is_file()
    start = Start()
    resumed = train(name, graph, Checkpoint(file), start)
    assert start.epoch == 2
    assert stopped.history.losses + resumed.history.losses == whole.history.losses
    assert_same(resumed, whole, graph)


@pytest.mark.parametrize("killed_after", [1, 5, 11])
@pytest.mark.parametrize("name", ["ugcl", "bgrl", "gcn"])
def test_a_killed_and_resumed_fit_equals_an_uninterrupted_one(
    name: str, killed_after: int, graph: Graph, tmp_path: Path
) -> None:
    whole = train(name, graph, epochs=12)
    file = tmp_path / "checkpoint.safetensors"
    with pytest.raises(Killed):
        train(name, graph, KillAfter(killed_after), SaveAlways(file), epochs=12)
    start = Start()
    resumed = train(name, graph, Checkpoint(file), start, epochs=12)
    assert start.epoch == killed_after
    assert_same(resumed, whole, graph)


def raising(function: Callable[..., Any], call: int, *, before: bool = False) -> Callable[..., Any]:
    """The function, which is sent a signal before or after its work in this call."""
    calls = 0

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == call:
            signal.raise_signal(signal.SIGTERM)
        result = function(*arguments, **named)
        if not before and calls == call:
            signal.raise_signal(signal.SIGTERM)
        return result

    return called


def interrupted(
    name: str, graph: Graph, file: Path, where: str, *, preset: str = "fast"
) -> Trainer:
    """Train until a signal in the third epoch, inside a part of it."""
    trainer = Trainer(name, graph, preset=preset, seed=1, device="cpu", **small(name))
    part: Any = trainer.model if where in ("on_step_end", "validation_loss") else trainer
    loss_fn = trainer.setup()
    if where == "loss":
        trainer._loss_fn = raising(loss_fn, 3)
    elif where == "backward":
        value = next(each for each in trainer.model.parameters() if each.requires_grad)
        value.register_hook(raising(lambda gradient: gradient, 3))
    elif where == "optimizer":
        part, where = trainer.state.optimizer, "step"
    if where in ("on_step_end", "validation_loss", "step"):
        setattr(part, where, raising(getattr(part, where), 3, before=where == "step"))
    with pytest.raises(Interrupted), raise_on_signals():
        trainer.run([Checkpoint(file)])
    return trainer


PRESETS = [(name, preset) for name in TRAINED for preset in METHODS[name].presets]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_fit_that_a_signal_interrupts_in_a_step_equals_an_uninterrupted_one(
    name: str, preset: str, graph: Graph, tmp_path: Path
) -> None:
    """Weights, moments, momentum encoders, running means and random streams are as before it."""
    whole = train(name, graph, preset=preset)
    file = tmp_path / "checkpoint.safetensors"
    assert interrupted(name, graph, file, "loss", preset=preset).state.epoch == 2
    start = Start()
    resumed = train(name, graph, Checkpoint(file), start, preset=preset)
    assert start.epoch == 2
    assert_same(resumed, whole, graph)


@pytest.mark.parametrize(
    ("where", "epoch"), [("backward", 2), ("optimizer", 3), ("on_step_end", 3)]
)
@pytest.mark.parametrize("name", ["bgrl", "multiscope", "gcn"])
def test_a_signal_waits_for_the_update_of_the_weights(
    name: str, where: str, epoch: int, graph: Graph, tmp_path: Path
) -> None:
    whole = train(name, graph)
    file = tmp_path / "checkpoint.safetensors"
    assert interrupted(name, graph, file, where).state.epoch == epoch
    start = Start()
    resumed = train(name, graph, Checkpoint(file), start)
    assert start.epoch == epoch
    assert_same(resumed, whole, graph)


@pytest.mark.parametrize("slow", [True, False])
def test_a_long_validation_is_interrupted_and_not_saved(
    slow: bool, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("ugcl.engine.fit"), "SLOW", -1.0 if slow else 60.0)
    whole = train("gcn", graph)
    file = tmp_path / "checkpoint.safetensors"
    interrupted("gcn", graph, file, "validation_loss")
    assert file.exists() != slow
    start = Start()
    assert_same(train("gcn", graph, Checkpoint(file), start), whole, graph)
    assert start.epoch == (0 if slow else 3)


def test_a_state_that_cannot_be_restored_is_not_saved(graph: Graph, tmp_path: Path) -> None:
    """A buffer that the loss changes from the third step on only."""
    trainer = Trainer("ugcl", graph, device="cpu", **small("ugcl"))
    trainer.model.register_buffer("late", torch.zeros(1))
    loss_fn = trainer.setup()

    def changing(epoch: int) -> torch.Tensor:
        trainer.model.late += int(epoch == 2)  # type: ignore[operator]
        return loss_fn(epoch)

    trainer._loss_fn = raising(changing, 3)
    file = tmp_path / "checkpoint.safetensors"
    with pytest.raises(Interrupted), raise_on_signals():
        trainer.run([Checkpoint(file)])
    assert not file.exists()


def test_several_stops_change_nothing(graph: Graph, tmp_path: Path) -> None:
    whole = train("grace", graph)
    file = tmp_path / "checkpoint.safetensors"
    losses = []
    for epoch in (1, 2, 4):
        losses += train("grace", graph, Checkpoint(file), StopAfter(epoch)).history.losses
    resumed = train("grace", graph, Checkpoint(file))
    assert losses + resumed.history.losses == whole.history.losses
    assert_same(resumed, whole, graph)


def test_early_stopping_goes_on_where_it_was(graph: Graph, tmp_path: Path) -> None:
    params: dict[str, Any] = {"epochs": 60, "lr": 0.3, "patience": 4}
    whole = train("gcn", graph, **params)
    assert whole.ended == "patience"
    file = tmp_path / "checkpoint.safetensors"
    train("gcn", graph, Checkpoint(file), StopAfter(whole.epochs - 2), **params)
    assert_same(train("gcn", graph, Checkpoint(file), **params), whole, graph)


def test_a_fit_that_was_due_to_stop_early_takes_no_more_steps(graph: Graph, tmp_path: Path) -> None:
    params: dict[str, Any] = {"epochs": 60, "lr": 0.3, "patience": 4}
    file = tmp_path / "checkpoint.safetensors"
    whole = train("gcn", graph, SaveAlways(file), **params)
    resumed = train("gcn", graph, Checkpoint(file), **params)
    assert resumed.history.losses == []
    assert_same(resumed, whole, graph)


def test_stopping_saves_and_finishing_does_not(graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.safetensors"
    assert train("ugcl", graph, Checkpoint(file)).ended == "epochs"
    assert not file.exists()
    assert train("ugcl", graph, Checkpoint(file), StopAfter(1)).ended == "stopped"
    assert file.is_file()
    Checkpoint(file).remove()
    assert not file.exists()
    Checkpoint(file).remove()


def test_nothing_is_saved_more_often_than_asked(graph: Graph, tmp_path: Path) -> None:
    for every, saves in ((1e6, 0), (0.0, 6)):
        checkpoint = SaveAlways(tmp_path / f"{every}.safetensors")
        checkpoint.every = every
        train("ugcl", graph, checkpoint)
        assert checkpoint.saves == saves


def test_saving_takes_a_small_part_of_the_time(graph: Graph, tmp_path: Path) -> None:
    """After a save that took a second the next comes twenty seconds later at the earliest."""
    checkpoint = Checkpoint(tmp_path / "checkpoint.safetensors", every=0)
    trainer = Trainer("ugcl", graph, device="cpu", **small("ugcl"))
    trainer.state.loss = trainer.step()
    checkpoint.on_epoch_end(trainer.state)
    saved = checkpoint.last_save
    checkpoint.cost = 1.0
    checkpoint.on_epoch_end(trainer.state)
    assert checkpoint.last_save == saved
    checkpoint.last_save -= 20
    checkpoint.on_epoch_end(trainer.state)
    assert checkpoint.last_save > saved


@pytest.mark.parametrize("damage", ["text", "cut", "weights", "progress", "metadata"])
def test_a_damaged_checkpoint_is_an_error_that_names_the_file(
    damage: str, graph: Graph, tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    if damage == "text":
        file.write_text("not a checkpoint")
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-40])
    else:
        tensors = load_file(file)
        metadata = {"progress": '{"epoch": 1}'} if damage == "progress" else {"other": "1"}
        if damage == "weights":
            tensors = {"model.other": torch.zeros(1)}
        save_file(tensors, file, metadata=metadata)
    expected = rf"^the checkpoint {file} cannot be read \(.*\): delete it to start"
    with pytest.raises(UGCLError, match=expected):
        train("ugcl", graph, Checkpoint(file))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epoch", 10**6),
        ("epoch", "x"),
        ("epoch", -5),
        pytest.param("loss", 10**400, id="loss-huge"),
        pytest.param("best", 10**400, id="best-huge"),
        ("epoch", 1.0),
        ("epoch", True),
        ("stale", 7),
        ("loss", "x"),
        ("loss", np.nan),
        ("loss", None),
        ("best", None),
        ("seconds", np.inf),
        ("validation_loss", []),
    ],
)
def test_progress_that_cannot_be_is_an_error(
    name: str, value: object, graph: Graph, tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    progress = json.loads(metadata["progress"]) | {name: value}
    # as an earlier version wrote it, without a checksum
    changed = {"fit": metadata["fit"], "progress": json.dumps(progress)}
    save_file(load_file(file), file, metadata=changed)
    shown = name.replace("_", " ")
    with pytest.raises(UGCLError, match=rf"cannot be read \(its {shown} must be .*: delete it"):
        train("ugcl", graph, Checkpoint(file))


@pytest.mark.parametrize("damage", ["half", "names", "shape", "nan", "none", "model"])
def test_half_an_optimizer_is_an_error(damage: str, graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    tensors = load_file(file)
    moments = sorted(name for name in tensors if name.startswith("optimizer."))
    if damage == "nan":
        tensors["optimizer.0.exp_avg"].reshape(-1)[0] = np.nan
    elif damage == "model":
        tensors[min(name for name in tensors if name.startswith("model."))] += 1
    elif damage == "shape":
        tensors["optimizer.0.exp_avg"] = torch.zeros(3)
    else:
        lost = {"half": moments[: len(moments) // 2], "names": moments[:1], "none": moments}
        for name in lost[damage]:
            del tensors[name]
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    save_file(tensors, file, metadata=metadata)
    with pytest.raises(UGCLError, match=r"another checksum than it says\): delete it to start"):
        train("ugcl", graph, Checkpoint(file))
    if damage in ("names", "shape", "nan", "none"):  # which is found without a checksum, too
        old = {name: metadata[name] for name in ("fit", "progress")}
        save_file(tensors, file, metadata=old)
        with pytest.raises(UGCLError, match=r"optimizer.*\): delete it to start"):
            train("ugcl", graph, Checkpoint(file))


def test_checkpoints_of_newer_formats_are_refused_and_of_earlier_ones_read(
    graph: Graph, tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    save_file(load_file(file), file, metadata=metadata | {"format": "2"})
    with pytest.raises(UGCLError, match="has format 2 of a newer version of ugcl, and this one re"):
        train("ugcl", graph, Checkpoint(file))
    old = {name: metadata[name] for name in ("fit", "progress")}
    save_file(load_file(file), file, metadata=old)
    resumed = train("ugcl", graph, Checkpoint(file))
    assert_same(resumed, train("ugcl", graph), graph)


def test_a_checkpoint_of_another_model_is_refused(graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    with pytest.raises(UGCLError, match="cannot be read"):
        train("dgi", graph, Checkpoint(file))
    with pytest.raises(UGCLError, match="cannot be read"):
        train("ugcl", make_graph(40, 5), Checkpoint(file))


def test_a_checkpoint_of_another_fit_is_refused(graph: Graph, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.safetensors"
    train("ugcl", graph, Checkpoint(file), StopAfter(1))
    with pytest.raises(UGCLError, match="it is of another method, settings, seed or graph"):
        fit("ugcl", graph, seed=99, device="cpu", epochs=3, callbacks=[Checkpoint(file)])


def test_checkpoints_load_first_and_save_last(graph: Graph, tmp_path: Path) -> None:
    """A kill after a save must not lose what other callbacks write in that epoch."""
    calls: list[str] = []

    class Recording(Checkpoint):
        def on_fit_start(self, state: TrainingState) -> None:
            calls.append("load")

        def on_epoch_end(self, state: TrainingState) -> None:
            calls.append("save")

    class Log(Callback):
        def on_fit_start(self, state: TrainingState) -> None:
            calls.append("open")

        def on_epoch_end(self, state: TrainingState) -> None:
            calls.append("write")

    for order in ([Recording(tmp_path / "a"), Log()], [Log(), Recording(tmp_path / "a")]):
        calls.clear()
        fit("ugcl", graph, device="cpu", epochs=1, callbacks=order)
        assert calls == ["load", "open", "write", "save"]
