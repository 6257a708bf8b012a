"""Links, clusters, splits of supervised methods, and the controls as runs."""

from __future__ import annotations

import logging
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, UGCLError, load_graph
from ugcl.data import hold_out_edges, split_of
from ugcl.engine import fit
from ugcl.evaluation import evaluate_clusters, evaluate_links, evaluate_run
from ugcl.evaluation.clusters import cluster_score
from ugcl.evaluation.links import auc, pair_scores
from ugcl.runs import Run, prepare, prepare_again

SMALL: dict[str, Any] = {"epochs": 5, "hidden": 8}
WALKS: dict[str, Any] = {"epochs": 1, "hidden": 8}


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    path = tmp_path / "large.npz"
    make_graph(90, classes=2).save(path)
    return path


def run_of(file: Path, out: Path, method: str = "ugcl", **arguments: Any) -> Run:
    params = SMALL if method in ("ugcl", "gcn", "mlp") else {}
    return trained_run(file, out, **{"params": params, "method": method, **arguments})


# Held-out edges


def test_held_out_edges_are_not_seen_in_training(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", hold_out_edges=0.3, split_seed=2)
    graph = run.config.load_graph()
    seen, held_out = hold_out_edges(graph, 0.3, 2)
    np.testing.assert_array_equal(np.load(run.path / "held_out_edges.npy"), held_out)
    seen_file = tmp_path / "seen.npz"
    seen.save(seen_file)
    expected = run_of(seen_file, tmp_path / "expected")
    np.testing.assert_array_equal(run.embeddings(), expected.embeddings())


def test_a_choice_of_n_does_not_see_held_out_edges(large_file: Path) -> None:
    params = {"scope": "auto"}
    prepared = prepare(str(large_file), params=params, hold_out_edges=0.5)
    seen_file = large_file.parent / "seen.npz"
    prepared.training_graph.save(seen_file)
    expected = prepare(str(seen_file), params=params).config
    assert prepared.config.scope_choice["why"] == expected.scope_choice["why"]


def test_links_are_scored_on_edges_that_were_not_chosen_on(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", hold_out_edges=0.3)
    found = evaluate_links(run, seed=4)
    again = evaluate_links(run, seed=4)
    assert found.to_json() == again.to_json()
    assert evaluate_links(run, seed=5).to_json() != found.to_json()
    held_out = run.held_out()
    assert sum(found.counts.values()) == len(held_out)
    assert found.counts["chosen_on"] == round(0.25 * len(held_out))
    assert found.score.positive.size == found.score.negative.size == found.counts["scored"]
    similarity = found.score.chosen["similarity"]
    every = pair_scores(run.embeddings(), held_out, similarity)
    assert np.isin(found.score.positive.round(9), every.round(9)).all()
    assert found.score.auc == auc(found.score.positive, found.score.negative)
    for name, gain in found.gains.items():
        assert gain.mean == pytest.approx(found.score.auc - found.controls[name].auc)


def test_other_pairs_are_no_edges_seen_or_not(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.3)
    graph = run.config.load_graph()
    rows = graph.features.toarray()
    found = evaluate_links(run)
    dot = found.score.chosen["similarity"] == "dot"
    lengths = np.ones(90) if dot else np.linalg.norm(rows, axis=1)
    all_scores = (rows @ rows.T) / np.outer(lengths, lengths)
    free = (graph.adjacency.toarray() == 0) & ~np.eye(90, dtype=bool)
    taken = all_scores[~free & ~np.eye(90, dtype=bool)]
    assert found.score.negative.size == found.score.positive.size
    for score in found.score.negative:
        assert np.abs(all_scores[free] - score).min() < 1e-5
    assert all(np.abs(taken - score).min() < 1e-5 for score in found.score.positive)


def test_too_few_edges_say_nothing(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.01)
    with pytest.raises(
        UGCLError, match=r"held out \d edges, too few to score: train it again with"
    ):
        evaluate_links(run)


@pytest.mark.parametrize("damage", [np.arange(6), np.array([[0, 500]]), np.zeros((0, 2), int)])
def test_a_record_of_other_edges_is_reported(
    large_file: Path, tmp_path: Path, damage: np.ndarray
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.3)
    np.save(run.path / "held_out_edges.npy", damage)
    message = (
        r"held_out_edges\.npy cannot be read \(it holds other edges than config\.toml says\): "
    )
    with pytest.raises(UGCLError, match=message):
        evaluate_links(run)


def test_a_run_that_is_not_finished_is_reported(large_file: Path, tmp_path: Path) -> None:
    one, other = (run_of(large_file, tmp_path / m, m, hold_out_edges=0.3) for m in ("raw", "ugcl"))
    for file in ("held_out_edges.npy", "metrics.json"):
        (other.path / file).unlink()
    with pytest.raises(UGCLError, match=r"is not finished: resume it \(ugcl train"):
        evaluate_links(one, against=other)


def test_a_row_for_each_node_is_embedded_whatever_edges_were_held_out(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", "deepwalk", params=WALKS, hold_out_edges=0.3)
    np.testing.assert_array_equal(run.embed(run.config.load_graph()), run.embeddings())


def test_a_run_that_held_nothing_out_is_refused(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run")
    message = r"trained on all edges, so links cannot .* again with `hold_out_edges` 0\.1$"
    with pytest.raises(UGCLError, match=message):
        evaluate_links(run)


def test_runs_that_held_out_other_edges_are_not_compared(large_file: Path, tmp_path: Path) -> None:
    one, other, without = (
        run_of(large_file, tmp_path / name, **asked)
        for name, asked in {
            "one": {"hold_out_edges": 0.3},
            "other": {"hold_out_edges": 0.3, "split_seed": 1},
            "without": {},
        }.items()
    )
    with pytest.raises(UGCLError, match=r"held out other edges than .*same `hold_out_edges` and"):
        evaluate_links(one, against=other)
    for task in (evaluate_run, evaluate_clusters):
        for another in (other, without):
            with pytest.raises(UGCLError, match="held out other edges than"):
                task(one, against=another)


def test_two_runs_are_compared_on_the_same_pairs(large_file: Path, tmp_path: Path) -> None:
    one, other = (
        run_of(large_file, tmp_path / method, method, hold_out_edges=0.3)
        for method in ("ugcl", "smooth")
    )
    found = evaluate_links(one, against=other)
    assert found.other is not None
    alone = evaluate_links(other)
    assert found.other[0].to_json() == alone.score.to_json()
    assert found.other[1].mean == pytest.approx(found.score.auc - alone.score.auc)


def test_accuracy_of_such_a_run_is_beside_controls_that_saw_no_more(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", hold_out_edges=0.3)
    seen, _ = run.config.training_graph(run.config.load_graph())
    seen_file = tmp_path / "seen.npz"
    seen.save(seen_file)
    expected = evaluate_run(run_of(seen_file, tmp_path / "expected"))
    found = evaluate_run(run)
    assert found.score.accuracy == expected.score.accuracy
    assert {n: s.accuracy for n, s in found.controls.items()} == {
        n: s.accuracy for n, s in expected.controls.items()
    }


# Clusters


def test_clusters_are_those_of_the_embeddings(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run")
    graph = run.config.load_graph()
    assert graph.labels is not None
    found = evaluate_clusters(run, starts=3, seed=2)
    assert found.score == cluster_score(run.embeddings(), graph.labels, starts=3, seed=2)
    assert found.clusters == 2
    raw = cluster_score(graph.features, graph.labels, starts=3, seed=2)
    assert found.controls["raw"] == raw


def test_a_graph_without_labels_has_no_clusters_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "plain.npz"
    make_graph(30, labels=None, splits={}).save(path)
    with pytest.raises(UGCLError, match=r"the graph has fewer than 2: pass the same graph with"):
        evaluate_clusters(run_of(path, tmp_path / "run"))


@pytest.mark.parametrize(("starts", "seed"), [(0, 0), (2, -1), (1.5, 0)])
def test_starts_and_seeds_that_are_none_are_reported(
    starts: Any, seed: Any, large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw")
    with pytest.raises(UGCLError, match="must be an integer of at least"):
        evaluate_clusters(run, starts=starts, seed=seed)


def test_a_graph_without_edges_is_clustered(tmp_path: Path) -> None:
    path = tmp_path / "no-edges.npz"
    Graph.from_edges([], np.eye(6), labels=np.arange(6) % 2).save(path)
    found = evaluate_clusters(run_of(path, tmp_path / "run", "raw"), starts=2)
    assert found.controls["smooth"] == found.controls["raw"]


def test_fewer_distinct_rows_than_classes_are_clustered(tmp_path: Path) -> None:
    path = tmp_path / "same.npz"
    replace(make_graph(30), features=np.ones((30, 2))).save(path)
    found = evaluate_clusters(run_of(path, tmp_path / "run", "raw"), starts=2)
    assert found.score.values["nmi"] == 0


# Splits of methods that learn from labels


def other_split(file: Path) -> Path:
    """The same graph, with test nodes that were training nodes."""
    graph = load_graph(file)
    parts = {"train": graph.splits["test"], "val": graph.splits["val"]}
    path = file.parent / "other.npz"
    replace(graph, splits=parts | {"test": graph.splits["train"]}).save(path)
    return path


def test_labels_that_a_run_learned_from_are_never_tested(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "mlp")
    other = str(other_split(large_file))
    message = "the split or the labels of .* are not those that this run learned from: restore"
    with pytest.raises(UGCLError, match=message):
        evaluate_run(run, graph=other)
    plain = run_of(Path(other), tmp_path / "plain", "raw")
    with pytest.raises(UGCLError, match=message):
        evaluate_run(plain, against=run)
    assert evaluate_run(run, graph=str(large_file)).score.accuracy > 0


def test_a_repetition_keeps_the_kind_of_split(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "mlp", split="fraction", split_seed=1)
    config = prepare_again(run.config, {}, split_seed=2).config
    assert (config.split, config.split_seed) == ("fraction", 2)
    assert config.labels != run.config.labels
    own = run_of(large_file, tmp_path / "own", "mlp")
    config = prepare_again(own.config, {}, split_seed=2).config
    assert (config.split, config.split_seed) == ("per-class", 2)
    config = prepare_again(own.config, {}, seed=2).config
    assert (config.split, config.labels) == ("own", own.config.labels)


def test_the_graphs_own_split_goes_with_any_seed_of_held_out_edges(large_file: Path) -> None:
    prepared = prepare(str(large_file), method="gcn", split="own", split_seed=4, hold_out_edges=0.2)
    assert (prepared.config.split, prepared.config.split_seed) == ("own", 4)
    expected = hold_out_edges(prepared.graph, 0.2, 4)[1]
    np.testing.assert_array_equal(prepared.held_out, expected)


def test_a_split_without_validation_nodes_is_reported(tmp_path: Path) -> None:
    graph, path = make_graph(60), tmp_path / "two.npz"
    parts = {part: graph.splits[part] for part in ("train", "test")}
    replace(graph, splits=parts).save(path)
    run = run_of(path, tmp_path / "run", "mlp", split_seed=0)
    with pytest.raises(UGCLError, match="needs 'val' nodes, but the split has none"):
        evaluate_run(run, "paper", split="own")


def test_a_random_split_is_recorded_and_learned_from(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "gcn", split_seed=3)
    held = tomllib.loads((run.path / "config.toml").read_text())
    assert (held["split"], held["split_seed"]) == ("per-class", 3)
    graph = run.config.load_graph()
    parts, name = split_of(graph, "per-class", 3)
    learned = replace(graph, splits=parts)
    expected_file = tmp_path / "own.npz"
    learned.save(expected_file)
    expected = run_of(expected_file, tmp_path / "expected", "gcn")
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
    run = run_of(large_file, tmp_path / "run", "gcn")
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
    run = run_of(large_file, tmp_path / "run", "gcn")
    predictions, honest = evaluate_run(run), evaluate_run(run, "honest")
    assert (predictions.protocol, honest.protocol) == ("predictions", "honest")
    assert honest.score.chosen.keys() == {"C", "row_normalised"}
    assert predictions.score.chosen == {}
    assert predictions.controls.keys() == honest.controls.keys()


def test_a_run_with_predictions_is_compared_with_one_without(
    large_file: Path, tmp_path: Path
) -> None:
    learned, other = (run_of(large_file, tmp_path / m, m) for m in ("gcn", "ugcl"))
    one, two = evaluate_run(learned, against=other), evaluate_run(other, against=learned)
    assert one.other is not None
    assert two.other is not None
    assert one.other.accuracy == two.score.accuracy
    assert two.other.accuracy == one.score.accuracy


# Controls as runs


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing"])
def test_damaged_sparse_embeddings_are_reported(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "graph.npz"
    make_graph(30).save(path)
    run = run_of(path, tmp_path / "run", "raw")
    (run.path / "embeddings.npz").write_bytes(damage)
    with pytest.raises(UGCLError, match=r"embeddings\.npz cannot be read .*: train again with"):
        run.embeddings()


def test_smooth_is_the_power_of_the_adjacency(large_file: Path, tmp_path: Path) -> None:
    params = {"scope": 3, "self_loops": 1.0}
    run = run_of(large_file, tmp_path / "run", "smooth", params=params)
    graph = run.config.load_graph()
    loops = graph.adjacency.toarray() + np.eye(90)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    normalised = root @ loops @ root
    expected = np.linalg.matrix_power(normalised, 3) @ graph.features.toarray()
    np.testing.assert_allclose(run.embeddings(), expected, rtol=1e-5)
    assert run.metrics()["scope"] == 3


@pytest.mark.parametrize("name", ["raw", "smooth"])
def test_features_have_nothing_to_train(name: str) -> None:
    graph = make_graph()
    model = fit(name, graph).model
    with pytest.raises(UGCLError, match=r"^SmoothedFeatures is not trained: use its embeddings"):
        model.loss_fn(graph, "cpu")
    with pytest.raises(UGCLError, match=f"^{name} is a control and .*: leave out `epochs`$"):
        fit(name, graph, epochs=3)


def test_smooth_can_choose_its_power_without_labels(large_file: Path, tmp_path: Path) -> None:
    config = prepare(str(large_file), method="smooth", params={"scope": "auto"}).config
    assert isinstance(config.settings.values()["scope"], int)
    assert config.scope_choice["settings"] == ["scope"]


def test_predictions_are_refused_of_a_method_that_makes_none(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run")
    with pytest.raises(UGCLError, match=r"^ugcl learns without labels and predicts none: use the"):
        evaluate_run(run, "predictions")
