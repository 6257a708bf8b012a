"""The tasks on the command line: held-out edges, links, clusters, supervised methods, controls."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, load_graph
from ugcl.cli import main
from ugcl.evaluation import evaluate_run
from ugcl.methods import METHODS
from ugcl.runs import Run

SMALL: dict[str, Any] = {"epochs": 5, "hidden": 8}


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    path = tmp_path / "large.npz"
    make_graph(90, classes=2).save(path)
    return path


def run_of(file: Path, out: Path, method: str = "ugcl", **arguments: Any) -> Run:
    params = SMALL if method in ("ugcl", "mlp") else {}
    return trained_run(file, out, params, method=method, **arguments)


def ugcl(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_the_configuration_has_the_fraction_and_the_seed_and_repeats_the_bits(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", hold_out_edges=0.3, split_seed=2)
    held = tomllib.loads((run.path / "config.toml").read_text())
    assert (held["hold_out_edges"], held["split_seed"]) == (0.3, 2)
    assert ugcl("train", "--config", run.path / "config.toml", "--out", tmp_path / "again") == 0
    for name in ("embeddings.npy", "held_out_edges.npy", "config.toml"):
        assert (run.path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    without = run_of(large_file, tmp_path / "without")
    held = tomllib.loads((without.path / "config.toml").read_text())
    assert not {"hold_out_edges", "split_seed", "split"} & set(held)


def test_a_run_cannot_go_on_with_other_held_out_edges(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(large_file, tmp_path / "run", hold_out_edges=0.3)
    (run.path / "metrics.json").unlink()
    arguments = ["train", "--out", run.path, "--resume", "--hold-out-edges", 0.4]
    assert ugcl(*arguments) == 2
    assert "cannot be resumed with hold_out_edges 0.4 instead of 0.3" in capsys.readouterr().err


@pytest.mark.parametrize("fraction", ["0", "1", "-0.1", "some", "nan"])
def test_an_invalid_fraction_of_held_out_edges_is_refused(
    fraction: str, large_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = large_file.parent / "run"
    assert ugcl("train", large_file, "--hold-out-edges", fraction, "--out", out) == 2
    assert "--hold-out-edges must be " in capsys.readouterr().err
    assert not out.exists()


def test_more_edges_than_there_are_to_hold_out_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.npz"
    Graph.from_edges([[0, 1], [1, 2]], np.eye(3)).save(path)
    assert ugcl("train", path, "--hold-out-edges", 0.4, "--out", tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert "holding out 0.4 of 2 edges leaves 1 to score" in error
    assert "change --hold-out-edges" in error
    assert not (tmp_path / "run").exists()


def test_a_run_does_not_go_on_with_other_labels(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(large_file, tmp_path / "run", "mlp")
    (run.path / "metrics.json").unlink()
    graph = load_graph(large_file)
    swapped = {"train": graph.splits["test"], "test": graph.splits["train"]}
    replace(graph, splits=graph.splits | swapped).save(large_file)
    assert ugcl("train", "--out", run.path, "--resume") == 2
    assert "are not those that this run learned from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "ugcl", "--split", "own"], "ugcl learns without labels and has no --split"),
        (
            ["--method", "gcn", "--split", "own", "--split-seed", 1],
            "the graph's own split takes no seed",
        ),
        (["--split-seed", 3], "--split-seed has no effect, because multiscope learns without lab"),
        (["--method", "gcn", "--scope", 2], "--scope is not a setting of gcn but of ugcl, "),
        (["--method", "raw", "--hidden", 2], "--hidden is not a setting of raw but of ugcl, "),
    ],
)
def test_what_does_not_go_together_is_reported(
    arguments: list[object], message: str, large_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = large_file.parent / "run"
    assert ugcl("train", large_file, *arguments, "--out", out) == 2
    assert capsys.readouterr().err.startswith(f"ugcl: {message}")
    assert not out.exists()


def test_a_graph_without_labels_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plain.npz"
    make_graph(30, labels=None, splits={}).save(path)
    assert ugcl("train", path, "--method", "gcn", "--out", tmp_path / "run") == 2
    told = capsys.readouterr().err
    assert told.startswith("ugcl: gcn learns from labels and those of this graph are missing: ")
    assert not (tmp_path / "run").exists()


def test_a_method_that_ignores_weights_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = make_graph(30)
    scale = sp.diags_array(np.linspace(0.5, 2, 30))
    path = tmp_path / "weighted.npz"
    replace(graph, adjacency=scale @ graph.adjacency @ scale, weighted=True).save(path)
    arguments = ["train", path, "--method", "gat", "--epochs", 2, "--out", tmp_path / "run"]
    assert ugcl(*arguments) == 0
    assert "gat ignores edge weights" in capsys.readouterr().err


def test_a_repetition_of_an_untrained_run_changes_single_settings(
    large_file: Path, tmp_path: Path
) -> None:
    params = {"epochs": 0, "hidden": 8, "projector": 4}
    run = trained_run(large_file, tmp_path / "run", params, method="grace")
    stored = run.path / "config.toml"
    out = tmp_path / "again"
    assert ugcl("train", "--config", stored, "--projector", 16, "--scope", 3, "--out", out) == 0
    found = Run.open(out).config.settings.values()
    graph = run.config.load_graph()
    fresh = METHODS["grace"].resolve("fast", graph, params | {"projector": 16, "scope": 3})
    assert found == fresh.values()
    assert (found["scope"], found["readout_scope"]) == (3, 0)


def test_a_method_whose_library_is_missing_leaves_no_folder(
    large_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    arguments = ["train", large_file, "--method", "gae", "--epochs", 0]
    assert ugcl(*arguments, "--out", tmp_path / "run") == 2
    assert not (tmp_path / "run").exists()


def test_sparse_features_stay_sparse_on_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "graph.npz"
    features = sp.random_array((40, 300), density=0.02, rng=np.random.default_rng(0), format="csr")
    graph = make_graph(40)
    replace(graph, features=features).save(path)
    assert ugcl("train", path, "--method", "raw", "--out", tmp_path / "run") == 0
    run = Run.open(tmp_path / "run")
    assert not (run.path / "embeddings.npy").exists()
    held = sp.load_npz(run.path / "embeddings.npz")
    assert held.nnz == features.nnz
    np.testing.assert_allclose(held.toarray(), features.toarray(), rtol=1e-6)
    assert f"embeddings: {run.path / 'embeddings.npz'}" in capsys.readouterr().out
    assert 0 < evaluate_run(run).score.accuracy <= 100
    assert ugcl("embed", run.path, path, "--out", tmp_path / "rows.npy") == 2
    assert "these embeddings are sparse: use the extension .npz for --out" in (
        capsys.readouterr().err
    )
    assert ugcl("embed", run.path, path, "--out", tmp_path / "rows.npz", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sparse"] is True
    assert (sp.load_npz(tmp_path / "rows.npz") != held).nnz == 0


def test_a_control_is_called_by_its_name_in_a_verdict(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.2)
    for task in ("classes", "links", "clusters"):
        assert ugcl("evaluate", run.path, "--task", task) == 0
        printed = capsys.readouterr().out
        assert "\nraw is " in printed
        assert "trained" not in printed
        for control in ("raw features", "smoothed features A^k X"):
            assert control in printed


def test_every_task_prints_its_table_and_json(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--epochs", 3, "--hidden", 8, "--hold-out-edges", 0.3]
    assert ugcl("train", large_file, "--out", tmp_path / "run", *arguments) == 0
    printed = capsys.readouterr()
    held = round(0.3 * make_graph(90, classes=2).num_edges)
    assert f"holds out {held:,} of " in printed.err
    assert f"next: ugcl evaluate {tmp_path / 'run'} --task links" in printed.out
    assert ugcl("evaluate", tmp_path / "run", "--task", "links", "--against", tmp_path / "run") == 0
    printed = capsys.readouterr()
    assert "AUC" in printed.out
    assert "Hits@10" in printed.out
    assert "trained is level with " in printed.out
    assert f"\nmultiscope ({tmp_path / 'run'}) " in printed.out
    assert ugcl("evaluate", tmp_path / "run", "--task", "links", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {"auc", "average_precision", "hits", "controls", "differences"} <= set(found)
    assert ugcl("evaluate", tmp_path / "run", "--task", "clusters", "--starts", 2) == 0
    assert "the tightest of 2 starts" in capsys.readouterr().out
    assert ugcl("evaluate", tmp_path / "run", "--task", "clusters", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {"nmi", "ari", "accuracy", "controls"} <= set(found)


@pytest.mark.parametrize(
    ("task", "option"),
    [("links", "--splits"), ("clusters", "--split-seed"), ("classes", "--starts")],
)
def test_an_option_of_another_task_is_refused(
    task: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("evaluate", tmp_path, "--task", task, option, 3) == 2
    assert f"{option} belongs to --task " in capsys.readouterr().err


def test_full_width_is_an_option_of_classes(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("train", graph_file, "--out", tmp_path / "run", "--method", "raw") == 0
    capsys.readouterr()
    assert ugcl("evaluate", tmp_path / "run", "--full-width", "--json") == 0
    assert json.loads(capsys.readouterr().out)["full_width"] is True
    assert ugcl("evaluate", tmp_path / "run", "--task", "clusters", "--full-width") == 2
    assert "--full-width belongs to --task classes" in capsys.readouterr().err


@pytest.mark.usefixtures("short_probes")
def test_the_protocols_of_other_harnesses_are_accepted(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw")
    for protocol in ("bgrl", "pygcl", "gca"):
        assert ugcl("evaluate", run.path, "--protocol", protocol, "--split", "own") == 2
        printed = capsys.readouterr().err
        assert f"'{protocol}' has its own random splits: leave out --split" in printed
    assert ugcl("evaluate", run.path, "--protocol", "bgrl", "--split-seed", "3") == 0
    assert "protocol 'bgrl', split 'random 20/0/80 %, split seed 3'" in capsys.readouterr().out
    assert ugcl("evaluate", run.path, "--protocol", "bgrl", "--splits", "2", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["protocol"] == "bgrl"
    assert result["splits_kind"] == "random 20/0/80 %"
