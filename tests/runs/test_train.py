from __future__ import annotations

import json
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
from ugcl.engine import Callback, Checkpoint, TrainingState
from ugcl.runs import Prepared, open_run, prepare, prepare_again, train_run

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
    assert {path.name for path in run.path.iterdir()} == {*RESULTS, "metrics.json", "log.jsonl"}
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
