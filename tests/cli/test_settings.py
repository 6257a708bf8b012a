from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from commands import fails, options_of, ugcl
from own_methods import write_method
from ugcl.methods import METHODS


def test_the_help_of_train_has_about_a_dozen_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("train", "--help") == 0
    listed = options_of(capsys.readouterr().out)
    assert {"--edges", "--out", "--method", "--preset", "--scope", "--hidden"} <= set(listed)
    assert len(listed) <= 15


def test_the_help_of_a_method_adds_its_settings_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ugcl("train", "--help") == 0
    common = set(options_of(capsys.readouterr().out))
    for name in ("grace", "dgi", "deepwalk"):
        assert ugcl("train", "--method", name, "--help") == 0
        printed = capsys.readouterr().out
        settings = {"--" + setting.replace("_", "-") for setting in METHODS[name].params}
        listed = set(options_of(printed))
        assert settings <= listed
        assert listed - settings <= common - {"--scope", "--hidden", "--epochs"}
    assert ugcl("train", "--method", "grace", "--preset", "paper", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    base = METHODS["grace"].presets["paper"].base
    assert f"learning rate of the optimizer (default: {base['lr']})" in shown
    assert f"temperature of the loss (default: {base['temperature']})" in shown


def test_the_help_has_the_defaults_of_a_named_data_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = METHODS["grace"].presets["fast"].values("citeseer")
    assert values["temperature"] != METHODS["grace"].presets["fast"].base["temperature"]
    assert ugcl("train", "citeseer", "--method", "grace", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Settings of grace (preset fast for citeseer)" in shown
    assert f"temperature of the loss (default: {values['temperature']})" in shown


def test_help_all_shows_every_option_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("train", "--help-all") == 0
    listed = options_of(capsys.readouterr().out)
    assert len(listed) == len(set(listed))
    hidden = {"--source", "--split-column", "--ignore", "--device", "--threads", "--temperature"}
    assert hidden <= set(listed)
    assert ugcl("train", "--help") == 0
    assert not hidden & set(options_of(capsys.readouterr().out))


def test_lr_and_learning_rate_are_the_same_option(
    run: Path, graph_file: Path, tmp_path: Path
) -> None:
    options = ["--hidden", "8", "--epochs", "5", "--learning-rate", "0.01"]
    assert ugcl("train", graph_file, "--out", tmp_path / "other", *options) == 0
    for name in ("embeddings.npy", "config.toml"):
        assert (run / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_stored_run_has_the_options_of_its_method(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--method", "grace", "--hidden", "4", "--projector", "4", "--epochs", "1"]
    assert ugcl("train", graph_file, "--out", tmp_path / "a", *options) == 0
    config = tmp_path / "a/config.toml"
    assert ugcl("train", "--config", config, "--projector", "5", "--out", tmp_path / "b") == 0
    assert tomllib.loads((tmp_path / "b/config.toml").read_text())["settings"]["projector"] == 5
    capsys.readouterr()
    said = fails(capsys, "train", f"--config={config}", "--sampling", "ball", "--out", "c")
    assert "--sampling is not a setting of grace but of ugcl" in said


def test_a_method_of_ones_own_from_a_file(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_method(tmp_path / "mine.py", "mine")
    assert ugcl("train", "--method", file, "--help") == 0
    assert "Settings of mine" in capsys.readouterr().out
    run = tmp_path / "run"
    options = ["--hidden", "8", "--epochs", "2", "--temperature", "0.7"]
    assert ugcl("train", graph_file, "--method", file, "--out", run, *options) == 0
    assert ugcl("train", "--out", run, "--resume") == 0
    assert ugcl("train", "--config", run / "config.toml", "--out", tmp_path / "again") == 0
    assert ugcl("embed", run, graph_file, "--out", tmp_path / "x.npy") == 0
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.load(run / "embeddings.npy"))
    capsys.readouterr()
    assert ugcl("evaluate", run) == 0
    assert "mine, trained" in capsys.readouterr().out
    assert ugcl("methods", file) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("mine  contrastive  X, A")
    study = ["--preset", "fast:hidden=4,epochs=1", "--seeds", "1", "--splits", "2"]
    study += ["--out", tmp_path / "s.json", "--runs", tmp_path / "runs"]
    assert ugcl("study", "run", graph_file, "--method", file, *study) == 0
    capsys.readouterr()
    said = fails(capsys, "train", "--method", "grace", "--out", run, "--resume")
    assert "--method grace contradicts the stored configuration, which has 'mine'" in said
    assert "no-such.py does not exist" in fails(capsys, "train", "--method", "no-such.py")
