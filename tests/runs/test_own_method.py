"""Runs of methods of a user's own: found again, evaluated, resumed, and refused if changed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from own_methods import PARAMS, forget_methods, write_method, write_package
from small_runs import trained_run
from ugcl import Graph, UGCLError, load_run
from ugcl.cli import main
from ugcl.engine import Callback, TrainingState
from ugcl.evaluation import CONTROLS, evaluate_clusters, evaluate_links, evaluate_run
from ugcl.methods import METHODS, get_method, register
from ugcl.report import gather
from ugcl.report.page import page
from ugcl.runs import Run, RunConfig, load_graph_for, open_run, prepare, prepare_again, train_run
from ugcl.runs.method import RecordedSettings
from ugcl.study import published_accuracy, published_where

RESULTS = ("model.safetensors", "embeddings.npy", "nodes.parquet")


class StopAfterOneEpoch(Callback):
    def on_epoch_end(self, state: TrainingState) -> None:
        state.stop()


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_methods(monkeypatch)
    monkeypatch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_method(tmp_path / "mix.py")


def own_run(graph_file: Path, path: Path, name: str = "run", **arguments: Any) -> Run:
    return trained_run(graph_file, graph_file.parent / name, PARAMS, method=path, **arguments)


def test_the_configuration_names_the_file_and_its_contents(graph_file: Path, path: Path) -> None:
    run = own_run(graph_file, path)
    stored = tomllib.loads((run.path / "config.toml").read_text())
    assert list(stored)[:3] == ["method", "method_file", "method_sha256"]
    assert stored["method"] == "mix"
    assert stored["method_file"] == str(path.resolve())
    assert stored["method_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (run.path / "method.py").read_bytes() == path.read_bytes()
    assert run.metrics()["method"] == "mix"
    assert RunConfig.read(run.path / "config.toml") == run.config


def test_a_later_process_embeds_and_evaluates(
    graph: Graph, graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_run(graph_file, path, hold_out_edges=0.2)
    forget_methods(monkeypatch)
    run = load_run(graph_file.parent / "run")
    assert type(run.config.settings).__name__ == "MixSettings"
    training_graph, _ = run.config.training_graph(run.config.load_graph())
    np.testing.assert_array_equal(run.embed(training_graph), run.embeddings())
    new = load_graph_for(run, str(graph_file))
    assert run.model(readout_scope=0).embed(new, "cpu").shape == (40, 8)
    scores = evaluate_run(run, splits=2)
    assert set(scores.controls) == set(CONTROLS)
    assert "untrained" in evaluate_links(run).controls
    assert "untrained" in evaluate_clusters(run, starts=1).controls
    assert published_accuracy(run.config.method, "citeseer") is None
    assert published_where(run.config.method) == "as published"


@pytest.mark.slow
def test_it_is_reported(
    graph_file: Path, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    own_run(graph_file, path)
    forget_methods(monkeypatch)
    report = gather([load_run(graph_file.parent / "run")], splits=2)
    assert report.unscored == ""
    assert "mix, preset &#39;fast&#39;, seed 0" in page(report)


def test_a_stopped_run_is_resumed(
    graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = own_run(graph_file, path, "whole")
    prepared = prepare(str(graph_file), method=str(path), params=PARAMS)
    run = open_run(graph_file.parent / "stopped", prepared)
    train_run(run, prepared, [StopAfterOneEpoch()])
    assert not run.finished
    forget_methods(monkeypatch)
    again = prepare_again(RunConfig.read(run.path / "config.toml"), {})
    resumed = open_run(run.path, again, resume=True)
    fitted = train_run(resumed, again)
    assert fitted is not None
    assert len(fitted.history.losses) == 2
    for name in RESULTS[1:]:
        assert (resumed.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_a_run_is_repeated_with_other_settings(graph_file: Path, path: Path) -> None:
    run = own_run(graph_file, path)
    prepared = prepare_again(run.config, {"scope": 1})
    assert prepared.config.settings.values()["readout_scope"] == 1
    assert prepared.config.method_file == str(path.resolve())


CHANGED = r"mix\.py is not the code that this run was configured with: restore the old file, train "


def test_a_changed_file_is_refused_where_its_code_is_needed(
    graph: Graph, graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_run(graph_file, path)
    write_method(path, more="# changed\n")
    forget_methods(monkeypatch)
    run = load_run(graph_file.parent / "run")
    assert isinstance(run.config.settings, RecordedSettings)
    assert run.config.settings.values()["hidden"] == 8
    with pytest.raises(UGCLError, match=CHANGED):
        run.embed(graph)
    with pytest.raises(UGCLError, match=CHANGED):
        run.model()
    with pytest.raises(UGCLError, match=CHANGED):
        evaluate_run(run)
    with pytest.raises(UGCLError, match=CHANGED):
        prepare_again(run.config, {})
    new = prepare(str(graph_file), method=path, params=PARAMS)
    with pytest.raises(UGCLError, match="cannot be resumed with another version of the method 'm"):
        open_run(run.path, new, resume=True)
    assert run.embeddings().shape == (40, 8)  # what is stored needs no code
    assert len(run.neighbors(0, 3)) == 3
    assert not run.config.has_method(path)
    newer = own_run(graph_file, path, "newer")
    assert evaluate_run(newer, against=run).other is not None


def test_a_changed_file_can_be_replaced_by_the_copy_in_the_run_folder(
    graph: Graph, graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = own_run(graph_file, path)
    path.unlink()
    forget_methods(monkeypatch)
    with pytest.raises(
        UGCLError, match=r"method 'mix' is no longer at \S+mix\.py: move the file b"
    ):
        load_run(run.path).embed(graph)
    config = run.path / "config.toml"
    config.write_text(config.read_text().replace(str(path.resolve()), str(run.path / "method.py")))
    np.testing.assert_array_equal(load_run(run.path).embed(graph), run.embeddings())


def test_a_file_that_the_user_has_not_run_is_not_loaded_by_a_run(
    graph: Graph, graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = own_run(graph_file, path, "run")
    mark = path.parent / "ran"  # what somebody else's code leaves behind
    write_method(path, more=f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n")
    config, sha256 = run.path / "config.toml", hashlib.sha256(path.read_bytes()).hexdigest()
    config.write_text(config.read_text().replace(run.config.method_sha256, sha256))
    forget_methods(monkeypatch)
    with pytest.raises(UGCLError, match=r"mix\.py, which you have not run before: read it, then "):
        load_run(run.path).embed(graph)
    assert not mark.exists()
    assert main(["methods", str(path)]) == 0
    forget_methods(monkeypatch)
    np.testing.assert_array_equal(load_run(run.path).embed(graph), run.embeddings())


def test_a_file_that_changes_during_a_run_has_no_effect(graph_file: Path, path: Path) -> None:
    prepared = prepare(str(graph_file), method=path, params=PARAMS)
    original = path.read_bytes()
    path.write_text("METHOD = 1")
    run = open_run(graph_file.parent / "run", prepared)
    train_run(run, prepared)
    assert (run.path / "method.py").read_bytes() == original
    assert run.config.has_method(path)
    assert evaluate_run(run).controls["untrained"].accuracy > 0


def test_a_registered_method_is_unknown_in_a_process_without_it(
    graph: Graph, graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered = replace(get_method(path), name="mine")
    with pytest.raises(
        UGCLError, match="method 'mine' could not be found again for this run: pass"
    ):
        prepare(str(graph_file), method=registered)
    monkeypatch.setitem(METHODS, "mine", registered)
    run = trained_run(graph_file, graph_file.parent / "run", PARAMS, method="mine")
    assert evaluate_run(load_run(run.path)).controls["untrained"].accuracy > 0
    assert not (run.path / "method.py").exists()
    with pytest.raises(UGCLError, match="there is a method 'mine' already"):
        register(registered)
    monkeypatch.delitem(METHODS, "mine")
    later = load_run(run.path)
    assert later.embeddings().shape == (40, 8)
    message = "the run's method 'mine' is not known here: install the package that has it, or regis"
    with pytest.raises(UGCLError, match=message):
        evaluate_run(later)
    with pytest.raises(UGCLError, match=message):
        prepare_again(later.config, {})


EVALUATE = """
import sys
from ugcl import load_run
from ugcl.evaluation import control_scores, evaluate_run
control_scores.RESPLITS = 1
run = load_run(sys.argv[1])
print(type(run.config.settings).__module__, *evaluate_run(run).controls)
"""


def test_the_method_of_a_package_is_found_by_its_name(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.syspath_prepend(write_package(packages, package="run_package"))
    run = trained_run(graph_file, tmp_path / "run", PARAMS, method="mix")
    stored = tomllib.loads((run.path / "config.toml").read_text())
    assert stored["method"] == "mix"
    assert "method_file" not in stored
    assert run.metrics()["versions"]["run_package"] == "1.5"
    assert run.config.has_method("mix")
    assert not run.config.has_method("grace")
    monkeypatch.setenv("PYTHONPATH", str(packages), prepend=":")
    result = subprocess.run(
        [sys.executable, "-c", EVALUATE, str(run.path)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["run_package.own", *CONTROLS]
