"""Classification by supervised methods, and runs without some edges."""

from __future__ import annotations

import logging
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import make_graph
from small_runs import small_run
from ugcl import UGCLError, load_graph
from ugcl.data import split_of
from ugcl.engine import fit
from ugcl.evaluation import evaluate_run


def test_controls_of_a_run_with_held_out_edges_see_the_same_edges(
    large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run", hold_out_edges=0.3)
    seen, _ = run.config.training_graph(run.config.load_graph())
    seen_file = tmp_path / "seen.npz"
    seen.save(seen_file)
    expected = evaluate_run(small_run(seen_file, tmp_path / "expected"))
    found = evaluate_run(run)
    assert found.score.accuracy == expected.score.accuracy
    assert {n: s.accuracy for n, s in found.controls.items()} == {
        n: s.accuracy for n, s in expected.controls.items()
    }


def other_split(file: Path) -> Path:
    """The same graph, with test nodes that were training nodes."""
    graph = load_graph(file)
    parts = {"train": graph.splits["test"], "val": graph.splits["val"]}
    path = file.parent / "other.npz"
    replace(graph, splits=parts | {"test": graph.splits["train"]}).save(path)
    return path


def test_labels_that_a_run_learned_from_are_never_tested(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", "mlp")
    other = str(other_split(large_file))
    message = "the split or the labels of .* are not those that this run learned from: restore"
    with pytest.raises(UGCLError, match=message):
        evaluate_run(run, graph=other)
    plain = small_run(Path(other), tmp_path / "plain", "raw")
    with pytest.raises(UGCLError, match=message):
        evaluate_run(plain, against=run)
    assert evaluate_run(run, graph=str(large_file)).score.accuracy > 0


def test_a_split_without_validation_nodes_is_reported(tmp_path: Path) -> None:
    graph, path = make_graph(60), tmp_path / "two.npz"
    parts = {part: graph.splits[part] for part in ("train", "test")}
    replace(graph, splits=parts).save(path)
    run = small_run(path, tmp_path / "run", "mlp", split_seed=0)
    with pytest.raises(UGCLError, match="needs 'val' nodes, but the split has none"):
        evaluate_run(run, "paper", split="own")


def test_a_random_split_is_recorded_and_learned_from(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", "gcn", split_seed=3)
    held = tomllib.loads((run.path / "config.toml").read_text())
    assert (held["split"], held["split_seed"]) == ("per-class", 3)
    graph = run.config.load_graph()
    parts, name = split_of(graph, "per-class", 3)
    learned = replace(graph, splits=parts)
    expected_file = tmp_path / "own.npz"
    learned.save(expected_file)
    expected = small_run(expected_file, tmp_path / "expected", "gcn")
    np.testing.assert_array_equal(run.predictions(), expected.predictions())
    found = evaluate_run(run)
    assert found.split == name
    chosen_on = np.union1d(graph.splits["train"], graph.splits["val"])
    test = np.setdiff1d(parts["test"], chosen_on)
    right = (run.predictions() == graph.labels)[test].mean()
    assert found.score.accuracy == pytest.approx(100 * right)


def test_another_split_is_trained_for_again(
    large_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = small_run(large_file, tmp_path / "run", "gcn")
    graph = run.config.load_graph()
    caplog.set_level(logging.INFO, "ugcl.evaluation")
    found = evaluate_run(run, splits=2)
    assert caplog.messages.count("training gcn again for another split") == 2
    assert found.many is not None
    expected = []
    for seed in range(2):
        parts, _ = split_of(graph, "per-class", seed)
        seen = replace(graph, splits=parts)
        fitted = fit("gcn", seen, settings=run.config.settings, seed=run.config.seed)
        predicted = fitted.predict_proba(seen).argmax(axis=1)
        pool = np.union1d(graph.splits["train"], graph.splits["val"])
        test = np.setdiff1d(parts["test"], pool)
        expected.append(100 * (predicted == graph.labels)[test].mean())
    assert found.many.accuracy.by_split == pytest.approx(expected)


def test_a_probe_of_the_penultimate_layer_can_be_asked_for(
    large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run", "gcn")
    predictions, honest = evaluate_run(run), evaluate_run(run, "honest")
    assert (predictions.protocol, honest.protocol) == ("predictions", "honest")
    assert honest.score.chosen.keys() == {"C", "row_normalised"}
    assert predictions.score.chosen == {}
    assert predictions.controls.keys() == honest.controls.keys()


def test_a_run_with_predictions_is_compared_with_one_without(
    large_file: Path, tmp_path: Path
) -> None:
    learned, other = (small_run(large_file, tmp_path / m, m) for m in ("gcn", "ugcl"))
    one, two = evaluate_run(learned, against=other), evaluate_run(other, against=learned)
    assert one.other is not None
    assert two.other is not None
    assert one.other.accuracy == two.score.accuracy
    assert two.other.accuracy == one.score.accuracy


def test_predictions_of_a_self_supervised_method_are_an_error(
    large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run")
    with pytest.raises(UGCLError, match=r"^ugcl learns without labels and predicts none: use the"):
        evaluate_run(run, "predictions")
