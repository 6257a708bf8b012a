"""Node classification of runs: splits, controls, comparisons."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, UGCLError, evaluation
from ugcl.data import split_of
from ugcl.data.splits import pool_of
from ugcl.evaluation import CONTROLS, FeatureControls, evaluate_run
from ugcl.evaluation.controls import FEATURE_CONTROLS

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}

trained = partial(trained_run, params=SMALL)


def test_a_graph_that_moved_or_got_labels_can_be_named(graph_file: Path, tmp_path: Path) -> None:
    make_graph(labels=None, splits={}).save(graph_file)
    run = trained(graph_file, tmp_path / "run")
    with pytest.raises(UGCLError, match="has no labels"):
        evaluate_run(run)
    graph_file.unlink()
    make_graph().save(tmp_path / "labelled.npz")
    assert evaluate_run(run, graph=str(tmp_path / "labelled.npz")).sizes["train"] == 13


def test_a_graph_that_changed_is_noticed(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    make_graph(40, seed=1).save(graph_file)
    with pytest.raises(UGCLError, match="are not those that this run was configured for"):
        evaluate_run(run)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_evaluation_has_the_controls_beside(
    graph_file: Path, tmp_path: Path, protocol: str
) -> None:
    run = trained(graph_file, tmp_path / "run")
    result = evaluate_run(run, protocol).to_json()
    assert set(result["controls"]) == set(CONTROLS)
    for figure in (result["accuracy"], result["validation"], *result["controls"].values()):
        assert 0 <= figure <= 100
    assert result["split"] == "own"
    assert evaluate_run(run, split_seed=2).split == "per-class, split seed 2"


def test_an_untrained_run_scores_as_its_untrained_control(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run", params=SMALL | {"epochs": 0})
    result = evaluate_run(run)
    assert result.score == result.controls["untrained"]


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_many_splits_add_intervals_and_paired_differences(
    graph_file: Path, tmp_path: Path, protocol: str
) -> None:
    run = trained(graph_file, tmp_path / "run")
    plain = evaluate_run(run, protocol).to_json()
    result = evaluate_run(run, protocol, splits=3).to_json()
    assert plain.items() <= result.items()
    low, high = result["accuracy_ci95"]
    assert low <= result["accuracy_mean"] <= high
    assert np.mean(result["accuracy_by_split"]) == pytest.approx(result["accuracy_mean"], abs=1e-3)
    for name, difference in result["differences"].items():
        gap = result["accuracy_mean"] - result["controls_mean"][name]
        assert difference["mean"] == pytest.approx(gap, abs=1e-3)
        assert difference["ci95"][0] <= difference["mean"] <= difference["ci95"][1]
    assert set(result["differences"]) == set(result["controls"])
    assert result["splits"] == 3
    with pytest.raises(UGCLError, match="only one own split"):
        evaluate_run(run, protocol, split="own", splits=3)


def test_random_splits_never_test_nodes_that_choices_were_made_on(
    graph_file: Path, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(graph_file, tmp_path / "run")
    seen: list[np.ndarray] = []
    probe = evaluation.linear_probe

    def spy(
        matrix: Any, labels: Any, split: dict[str, np.ndarray], *rest: Any, **named: Any
    ) -> Any:
        seen.append(split["test"])
        return probe(matrix, labels, split, *rest, **named)

    monkeypatch.setattr("ugcl.evaluation.scorers.linear_probe", spy)
    evaluate_run(run, splits=3)
    assert len(seen) == 8  # the run and its untrained control, on four splits
    pool = np.concatenate([graph.splits["train"], graph.splits["val"]])
    for nodes in seen:
        assert nodes.size
        assert not np.isin(nodes, pool).any()


def test_two_runs_are_compared_on_the_same_splits(graph_file: Path, tmp_path: Path) -> None:
    first = trained(graph_file, tmp_path / "first")
    second = trained(graph_file, tmp_path / "second", seed=1)
    result = evaluate_run(first, against=second, splits=3).to_json()
    alone = evaluate_run(second, splits=3).to_json()
    assert result["against"]["accuracy"] == alone["accuracy"]
    assert result["against"]["accuracy_mean"] == alone["accuracy_mean"]
    gap = result["accuracy_mean"] - alone["accuracy_mean"]
    assert result["against"]["difference"]["mean"] == pytest.approx(gap, abs=1e-3)
    itself = evaluate_run(first, against=first, splits=3).to_json()
    assert itself["against"]["difference"]["ci95"] == [0, 0]
    make_graph(40, seed=5).save(tmp_path / "other.npz")
    other = trained(tmp_path / "other.npz", tmp_path / "third")
    with pytest.raises(UGCLError, match="trained on another graph"):
        evaluate_run(first, against=other)


@pytest.mark.slow
def test_controls_are_scored_once_for_a_graph(
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = trained(graph_file, tmp_path / "run")
    caplog.set_level(logging.INFO, "ugcl.evaluation")
    first = evaluate_run(run, splits=2)
    assert caplog.messages[0].startswith("note: 13 training nodes for 3 classes are few")
    assert len(caplog.messages) == 4  # then the choice, and the scores on one split and on two
    again = evaluate_run(trained(graph_file, tmp_path / "b", seed=1), splits=2)
    assert len(caplog.messages) == 5  # the note again
    for name in FEATURE_CONTROLS:
        assert again.controls[name] == first.controls[name]
        assert again.many.controls[name] == first.many.controls[name]
    for file in (tmp_path / "cache/ugcl/controls").iterdir():
        file.write_text("not JSON")
    assert evaluate_run(run, splits=2).to_json() == first.to_json()
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked"))
    assert evaluate_run(run).score == first.score


def test_a_graph_without_a_split_never_tests_the_pool_of_its_random_split(
    tmp_path: Path,
) -> None:
    graph = make_graph(60, splits={})
    graph.save(tmp_path / "g.npz")
    run = trained(tmp_path / "g.npz", tmp_path / "run")
    pool = pool_of(split_of(graph)[0])
    for split in (None, "fraction", "per-class"):
        result = evaluate_run(run, split=split, split_seed=3, splits=2)
        sampled = split_of(graph, split, 3)[0]["test"]
        assert result.sizes["test"] == np.setdiff1d(sampled, pool).size < sampled.size


@pytest.mark.parametrize(
    ("labels", "splits", "options", "message"),
    [
        (np.zeros(40, dtype=int), {}, {}, "all of one class"),
        (np.arange(40) % 2, {"train": [0], "val": [1], "test": [2, 3]}, {}, "all of one class"),
        (np.arange(40) % 2, {"train": [], "val": [1], "test": [2, 3]}, {}, "needs 'train' nodes"),
        (np.arange(40) % 2, {"train": [0, 1], "test": [2, 3]}, {}, "needs 'val' nodes"),
        (np.where(np.arange(40) < 2, np.arange(40), -1), {}, {"protocol": "paper"}, "needs 'test'"),
        (
            np.where(np.arange(40) < 12, np.arange(40) % 2, -1),
            {},
            {"split": "per-class"},
            "all of one class",
        ),
        (
            np.arange(40) % 2,
            {"train": range(24), "val": range(24, 39), "test": [39]},
            {"splits": 2},
            "random splits have none left to test",
        ),
    ],
)
def test_splits_that_cannot_be_scored_are_refused_in_a_sentence(
    tmp_path: Path, labels: np.ndarray, splits: Any, options: dict[str, Any], message: str
) -> None:
    make_graph(40, labels=labels, splits=splits).save(tmp_path / "g.npz")
    run = trained(tmp_path / "g.npz", tmp_path / "run", params=SMALL | {"epochs": 1})
    with pytest.raises(UGCLError, match=message):
        evaluate_run(run, **options)


def test_a_split_without_validation_nodes_can_be_scored_by_the_papers_probe(tmp_path: Path) -> None:
    splits = {"train": range(12), "test": range(12, 40)}
    make_graph(40, splits=splits).save(tmp_path / "g.npz")
    run = trained(tmp_path / "g.npz", tmp_path / "run", params=SMALL | {"epochs": 1})
    assert evaluate_run(run, "paper").score.validation is None


def test_the_scores_of_controls_depend_on_the_name_that_the_papers_probe_goes_by(
    tmp_path: Path,
) -> None:
    found = []
    for name in ("citeseer", "mine"):
        make_graph(60, name=name, num_features=30).save(tmp_path / f"{name}.npz")
        run = trained(tmp_path / f"{name}.npz", tmp_path / name, params=SMALL | {"epochs": 1})
        found.append(evaluate_run(run, "paper", splits=2).to_json())
    assert found[0]["controls_mean"] != found[1]["controls_mean"]


def test_a_moved_graph_can_be_named_again(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run", params=SMALL | {"epochs": 1})
    moved = graph_file.rename(tmp_path / "moved.npz")
    with pytest.raises(UGCLError, match="--graph FILE"):
        evaluate_run(run)
    assert evaluate_run(run, graph=str(moved)).split == "own"


def test_a_supervised_run_on_a_graph_without_a_split_is_scored(tmp_path: Path) -> None:
    make_graph(60, splits={}).save(tmp_path / "plain.npz")
    run = trained_run(tmp_path / "plain.npz", tmp_path / "run", {"epochs": 3}, method="gcn")
    evaluation = evaluate_run(run)
    assert evaluation.protocol == "predictions"
    assert "untrained" in evaluation.controls


def test_controls_of_full_width_have_the_same_settings(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    usual = evaluate_run(run).to_json()
    with patch("ugcl.evaluation.classification.FeatureControls", wraps=FeatureControls) as spy:
        full = evaluate_run(run, full_width=True).to_json()
    assert spy.call_args.args[1] is None
    assert (usual["full_width"], full["full_width"]) == (False, True)
    assert usual["accuracy"] == full["accuracy"]
    for name in FEATURE_CONTROLS:
        for setting in ("scaling", "k"):
            assert usual["controls_chosen"][name][setting] == full["controls_chosen"][name][setting]
