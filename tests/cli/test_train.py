from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from commands import SMALL, fails, ugcl
from conftest import make_graph
from ugcl import Graph, fit
from ugcl.methods import DEFAULT_METHOD


def test_training_that_stops_early_says_so(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--patience", "2", "--lr", "1e-9", "--sample", "all", "--epochs", "50"]
    assert ugcl("train", graph_file, "--out", tmp_path / "run", *options) == 0
    assert ", stopped early" in capsys.readouterr().out


def test_train_prints_where_things_are(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("train", graph_file, "--out", tmp_path / "a", *SMALL) == 0
    captured = capsys.readouterr()
    assert "40 nodes" in captured.err
    assert "epoch 5/5" in captured.err
    assert f"embeddings: {tmp_path / 'a' / 'embeddings.npy'}" in captured.out
    assert f"next: ugcl evaluate {tmp_path / 'a'}" in captured.out
    assert ugcl("train", graph_file, "--out", tmp_path / "b", *SMALL, "--json") == 0
    assert json.loads(capsys.readouterr().out)["epochs"] == 5


def test_a_collapsed_embedding_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_graph(30, 1).save(tmp_path / "one-feature.npz")
    options = ["--method", "ugcl", *SMALL]
    assert ugcl("train", tmp_path / "one-feature.npz", "--out", tmp_path / "run", *options) == 0
    assert "warning: the embedding has collapsed" in capsys.readouterr().err


def test_config_repeats_and_flags_change(run: Path, tmp_path: Path) -> None:
    config = run / "config.toml"
    assert ugcl("train", "--config", config, "--out", tmp_path / "same") == 0
    for name in ("embeddings.npy", "model.safetensors", "config.toml"):
        assert (run / name).read_bytes() == (tmp_path / "same" / name).read_bytes()
    assert ugcl("train", "--config", config, "--seed", "1", "--out", tmp_path / "other") == 0
    assert (run / "embeddings.npy").read_bytes() != (tmp_path / "other/embeddings.npy").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "scope", "readout_scope"),
    [
        (["--method", "grace", "--scope", "3"], 3, 0),
        (["--method", "dgi", "--scope", "component", "--readout-scope", "5"], "component", 5),
        (["--method", "bgrl", "--readout-scope", "graph"], 0, "graph"),
        (["--method", "ugcl", "--scope", "component"], "component", "component"),
        (["--scope", "2", "--readout-scope", "4"], 2, 4),
    ],
)
def test_scopes_of_any_method_are_used_and_recorded(
    arguments: list[str],
    scope: int | str,
    readout_scope: int | str,
    graph: Graph,
    graph_file: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    assert ugcl("train", graph_file, "--out", out, *SMALL, *arguments) == 0
    metrics = json.loads((out / "metrics.json").read_text())
    config = tomllib.loads((out / "config.toml").read_text())
    method = arguments[1] if "--method" in arguments else DEFAULT_METHOD
    scopes = {"scope": scope, "readout_scope": readout_scope}
    for recorded in (metrics, config["settings"]):
        assert {name: recorded[name] for name in scopes} == scopes
    assert (metrics["method"], config["method"]) == (method, method)
    fitted = fit(method, graph, **scopes, epochs=5, hidden=8, lr=0.01)
    np.testing.assert_array_equal(np.load(out / "embeddings.npy"), fitted.embed(graph))


@pytest.mark.parametrize(("method", "readout_scope"), [("grace", 0), ("ugcl", 3)])
def test_the_scope_of_a_stored_configuration_is_changed_and_the_readouts_only_where_it_follows(
    method: str, readout_scope: int, graph_file: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert ugcl("train", graph_file, "--method", method, "--out", first, *SMALL) == 0
    before = tomllib.loads((first / "config.toml").read_text())
    assert before["settings"]["scope"] != 3
    config = first / "config.toml"
    assert ugcl("train", "--config", config, "--scope", "3", "--out", second) == 0
    after = tomllib.loads((second / "config.toml").read_text())
    assert after["method"] == method
    changed = {"scope": 3, "readout_scope": readout_scope}
    assert after["settings"] == before["settings"] | changed
    weights = [(run / "model.safetensors").read_bytes() for run in (first, second)]
    assert weights[0] != weights[1]


def test_config_and_preset_contradict_each_other(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = fails(
        capsys,
        "train",
        "--config",
        run / "config.toml",
        "--preset",
        "paper",
        "--out",
        tmp_path / "new",
    )
    assert "--preset paper contradicts the stored configuration, which has 'fast'" in sentence


def test_resume_starts_goes_on_and_ends(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("train", graph_file, "--out", tmp_path / "run", *SMALL, "--resume")
    assert ugcl(*arguments) == 0
    capsys.readouterr()
    assert ugcl(*arguments) == 0
    assert "was finished before: nothing to do" in capsys.readouterr().out
    assert ugcl("train", "--out", tmp_path / "run", "--resume") == 0
    capsys.readouterr()
    assert "cannot be resumed with --hidden 9 instead of 8" in fails(
        capsys, "train", "--out", tmp_path / "run", "--resume", "--hidden", "9"
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_ended_at_epoch_20_and_resumed(tmp_path: Path, number: signal.Signals) -> None:
    """The real thing: another process, a real signal, the real data set."""
    options = ["--hidden", "64", "--sample", "600", "--epochs", "60", "--threads", "1"]
    train = ["train", "citeseer", "--method", "ugcl"]
    command = [sys.executable, "-m", "ugcl", *train, *options, "--out"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    log = tmp_path / "ended/log.jsonl"
    process = subprocess.Popen(
        [*command, str(tmp_path / "ended")],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (log.is_file() and log.read_text().count("\n") >= 20):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    _, told = process.communicate(timeout=120)
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert re.search(r"stopped after epoch \d+; resume: ugcl train --out \S+ --resume", told)
    assert not (tmp_path / "ended/embeddings.npy").exists()
    for name, extra in (("ended", ["--resume"]), ("whole", [])):
        subprocess.run(
            [*command, str(tmp_path / name), *extra],
            env=environment,
            check=True,
            capture_output=True,
        )
    for name in ("embeddings.npy", "model.safetensors", "config.toml", "nodes.parquet"):
        assert (tmp_path / "ended" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_config_with_an_unknown_preset_is_told(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tmp_path / "first"
    options = ["--method", "dgi", "--hidden", "4", "--epochs", "1"]
    assert ugcl("train", graph_file, "--out", first, *options) == 0
    capsys.readouterr()
    config = first / "config.toml"
    config.write_text(config.read_text("utf-8").replace('"fast"', '"fsat"'), "utf-8")
    said = fails(capsys, "train", "--config", config, "--out", tmp_path / "second")
    assert "there is no preset called 'fsat'; did you mean 'fast'?" in said
