from __future__ import annotations

import json
import os
import threading
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import make_graph
from small_runs import RESULTS, assert_same_bits, trained_run
from ugcl import Graph, UGCLError
from ugcl._utils.files import TEMPORARY
from ugcl._utils.locks import locked
from ugcl.engine import Callback, Checkpoint, Trainer, TrainingState
from ugcl.runs import Prepared, Run, open_run, prepare, prepare_again, train_run
from ugcl.runs.train import JSONLog

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}


trained = partial(trained_run, params=SMALL)


def prepared_run(file: Path, **params: Any) -> Prepared:
    return prepare(str(file), method="ugcl", params=SMALL | params)


class StopAt(Callback):
    def __init__(self, epoch: int) -> None:
        self.at, self.first = epoch, -1

    def on_fit_start(self, state: TrainingState) -> None:
        self.first = state.epoch

    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == self.at:
            state.stop("stopped")


class Killed(Exception):
    pass


class KillAt(StopAt):
    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == self.at:
            raise Killed


def test_run_folder_has_all_files(graph: Graph, graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    assert {path.name for path in run.path.iterdir()} == {
        *(*RESULTS, "metrics.json", "log.jsonl", "manifest.json")
    }
    embeddings = np.load(run.path / "embeddings.npy", allow_pickle=False)
    assert embeddings.dtype == np.float32
    assert embeddings.shape == (40, 8)
    nodes = pq.read_table(run.path / "nodes.parquet").to_pydict()
    assert nodes["node"] == list(range(40))
    assert graph.labels is not None
    assert nodes["label"] == graph.labels.tolist()
    log = [json.loads(line) for line in (run.path / "log.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in log] == list(range(1, 31))
    metrics = json.loads((run.path / "metrics.json").read_text())
    assert metrics["loss"] == log[-1]["loss"]
    assert set(metrics["collapse"]) == {"effective_rank", "alignment", "uniformity", "collapsed"}
    config = tomllib.loads((run.path / "config.toml").read_text())
    assert config["settings"]["hidden"] == 8
    assert config["fingerprint"] == graph.fingerprint


def test_ids_are_kept(tmp_path: Path) -> None:
    make_graph(ids=[f"n{i}" for i in range(40)]).save(tmp_path / "named.npz")
    run = trained(tmp_path / "named.npz", tmp_path / "run")
    assert pq.read_table(run.path / "nodes.parquet")["id"].to_pylist()[:2] == ["n0", "n1"]


@pytest.mark.parametrize("stopper", [StopAt, KillAt])
def test_a_run_ended_at_epoch_20_and_resumed_equals_one_that_was_not(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopper: type[StopAt]
) -> None:
    whole = trained(graph_file, tmp_path / "whole")

    def save_every_third(checkpoint: Checkpoint, state: TrainingState) -> None:
        if state.epoch % 3 == 0:
            checkpoint.save(state)

    monkeypatch.setattr(Checkpoint, "on_epoch_end", save_every_third)
    prepared = prepared_run(graph_file)
    run = open_run(tmp_path / "resumed", prepared, resume=True)
    if stopper is KillAt:
        with pytest.raises(Killed):
            train_run(run, prepared, [stopper(20)])
    else:
        fitted = train_run(run, prepared, [stopper(20)])
        assert fitted is not None
        assert fitted.ended == "stopped"
    assert not run.finished
    with pytest.raises(UGCLError, match=r"is not finished: resume it \(ugcl train --out"):
        run.embeddings()
    again = StopAt(1000)
    train_run(open_run(run.path, prepared, resume=True), prepared, [again])
    assert again.first == (20 if stopper is StopAt else 18)
    assert_same_bits(whole.path, run.path)
    assert not (run.path / "checkpoint.safetensors").exists()
    lines = [
        [json.loads(line)["loss"] for line in (path / "log.jsonl").read_text().splitlines()]
        for path in (whole.path, run.path)
    ]
    assert lines[0] == lines[1]


def test_a_finished_run_is_left_alone(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    before = (run.path / "metrics.json").read_bytes()
    assert train_run(run, prepare_again(run.config, {})) is None
    assert (run.path / "metrics.json").read_bytes() == before


def test_resuming_with_other_settings_is_an_error(graph_file: Path, tmp_path: Path) -> None:
    trained(graph_file, tmp_path / "run")
    with pytest.raises(UGCLError, match="cannot be resumed with `hidden` 9 instead of 8"):
        open_run(tmp_path / "run", prepared_run(graph_file, hidden=9), resume=True)


def test_existing_folder_is_an_error(graph_file: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/precious.txt").write_text("mine")
    prepared = prepared_run(graph_file)
    for resume in (False, True):
        with pytest.raises(UGCLError, match=r"exists already: choose another `out`$"):
            open_run(tmp_path / "run", prepared, resume=resume)
    assert (tmp_path / "run/precious.txt").read_text() == "mine"


def test_a_result_that_is_missing_is_made_again(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    before = (run.path / "embeddings.npy").read_bytes()
    (run.path / "embeddings.npy").unlink()
    assert not run.finished
    train_run(run, prepare_again(run.config, {}))
    assert (run.path / "embeddings.npy").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"damaged", None])
def test_damaged_checkpoint_is_an_error(
    graph_file: Path, tmp_path: Path, content: bytes | None
) -> None:
    prepared = prepared_run(graph_file)
    run = open_run(tmp_path / "run", prepared)
    other = trained(graph_file, tmp_path / "other")
    model = (other.path / "model.safetensors").read_bytes()
    (run.path / "checkpoint.safetensors").write_bytes(model if content is None else content)
    with pytest.raises(UGCLError, match=r"cannot be read .* delete it to start"):
        train_run(run, prepared)


def test_diverged_training_leaves_no_results(graph_file: Path, tmp_path: Path) -> None:
    prepared = prepared_run(graph_file, epochs=1, lr=1e38)
    run = open_run(tmp_path / "run", prepared)
    with pytest.raises(UGCLError, match=r"has diverged in epoch 1, .*: use a smaller `lr`"):
        train_run(run, prepared)
    assert not run.finished


def test_a_graph_that_cannot_be_trained_leaves_no_folder(tmp_path: Path) -> None:
    Graph.from_edges([], np.eye(3)).save(tmp_path / "no-edges.npz")
    prepared = prepare(str(tmp_path / "no-edges.npz"))
    with pytest.raises(UGCLError, match="has no edges"):
        open_run(tmp_path / "run", prepared)
    assert not (tmp_path / "run").exists()


def test_threads_and_device_are_part_of_what_is_resumed(graph_file: Path, tmp_path: Path) -> None:
    one, other = (
        prepare(str(graph_file), method="ugcl", params=SMALL, threads=count) for count in (1, 2)
    )
    open_run(tmp_path / "run", one)
    with pytest.raises(UGCLError, match="cannot be resumed with threads 2 instead of 1"):
        open_run(tmp_path / "run", other, resume=True)


def stopped_run(graph_file: Path, out: Path) -> tuple[Run, Prepared]:
    """A run that was stopped after 20 of its 30 epochs."""
    prepared = prepared_run(graph_file)
    run = open_run(out, prepared)
    train_run(run, prepared, [StopAt(20)])
    return run, prepared


@pytest.mark.parametrize("damage", ["gone", "cut", "text", "bytes", "nan"])
def test_a_log_that_lacks_epochs_of_the_checkpoint_is_an_error(
    damage: str, graph_file: Path, tmp_path: Path
) -> None:
    run, prepared = stopped_run(graph_file, tmp_path / "run")
    log = run.path / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    if damage == "gone":
        log.unlink()
    else:
        changed = {
            "cut": lines[:12],
            "text": [b"text\n", *lines[1:]],
            "bytes": [b"\xff\n", *lines[1:]],
            "nan": [b'{"epoch": 1, "loss": NaN}\n', *lines[1:]],
        }
        log.write_bytes(b"".join(changed[damage]))
    expected = r"log\.jsonl is not the log of the 20 epochs of the checkpoint \(.*\): delete checkp"
    with pytest.raises(UGCLError, match=expected):
        train_run(open_run(run.path, prepared, resume=True), prepared)
    (run.path / "checkpoint.safetensors").unlink()
    train_run(open_run(run.path, prepared, resume=True), prepared)
    assert_same_bits(run.path, trained(graph_file, tmp_path / "whole").path)


def test_a_log_that_cannot_be_written_is_one_sentence(graph_file: Path, tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    log = JSONLog(tmp_path / "log.jsonl")
    prepared = prepared_run(graph_file)
    state = Trainer("ugcl", prepared.training_graph, **SMALL).state
    log.on_fit_start(state)
    log.stream.close()
    log.stream = full.open("a")
    expected = r"^cannot write .*log\.jsonl \(No space left on device\): make room, then run the co"
    with pytest.raises(UGCLError, match=expected):
        log.on_epoch_end(state)
    with pytest.raises(UGCLError, match=expected):
        log.on_fit_end(state)


@pytest.mark.parametrize("resume", [False, True])
def test_what_a_kill_left_in_a_new_folder_is_no_obstacle(
    resume: bool, graph_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / f"{TEMPORARY}abcdefgh-config.toml").write_text("half")
    (folder / ".lock").write_text("1")
    prepared = prepared_run(graph_file)
    run = open_run(folder, prepared, resume=resume)
    assert [path.name for path in folder.iterdir()] == ["config.toml"]
    (folder / f"{TEMPORARY}abcdefgh-model.safetensors").write_text("half")
    train_run(run, prepared)
    whole = trained(graph_file, tmp_path / "whole")
    names = [{path.name for path in each.path.iterdir()} for each in (run, whole)]
    assert names[0] == names[1]
    for name in ("checkpoint.safetensors", ".lock", f"{TEMPORARY}abcdefgh-x"):
        (folder / name).touch()  # of a process that was killed after it had written the results
    assert train_run(open_run(folder, prepared, resume=True), prepared) is None
    assert {path.name for path in folder.iterdir()} == names[1]


def test_two_processes_do_not_train_into_one_folder(graph_file: Path, tmp_path: Path) -> None:
    prepared = prepared_run(graph_file)
    expected = rf"another process trains into .*run \(process {os.getpid()}\): wait until it"
    with (
        locked(tmp_path / "run", "x"),
        pytest.raises(UGCLError, match=expected),
    ):
        open_run(tmp_path / "run", prepared)
    run = open_run(tmp_path / "run", prepared)
    with locked(run.path, "x"), pytest.raises(UGCLError, match=expected):
        train_run(run, prepared)
    assert {path.name for path in run.path.iterdir()} == {"config.toml"}
    later = threading.Timer(0.5, lambda: None)
    with locked(run.path, "x"):
        waiting = threading.Thread(target=train_run, args=(run, prepared), kwargs={"wait": True})
        waiting.start()
        later.start()
        later.join()
        assert not (run.path / "log.jsonl").exists()
    waiting.join()
    assert run.finished


def test_a_retrained_folder_is_not_finished_until_its_end(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    (run.path / "embeddings.npy").unlink()
    prepared = prepare_again(run.config, {})
    with pytest.raises(Killed):
        train_run(run, prepared, [KillAt(20)])
    (run.path / "embeddings.npy").touch()
    assert not run.finished
    train_run(run, prepared)
    run.verify()


def test_large_embeddings_are_streamed_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_graph(sparse=False).save_folder(tmp_path / "graph")
    expected = trained_run(tmp_path / "graph", tmp_path / "one", SMALL)
    monkeypatch.setattr("ugcl.engine.streaming.IN_MEMORY", 0)
    streamed = trained_run(tmp_path / "graph", tmp_path / "other", SMALL)
    for name in ("embeddings.npy", "nodes.parquet"):
        assert (streamed.path / name).read_bytes() == (expected.path / name).read_bytes()
    assert streamed.metrics()["collapse"] == expected.metrics()["collapse"]
    assert not (streamed.path / "embeddings.partial").exists()
