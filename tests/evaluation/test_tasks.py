"""Links, clusters, splits of methods that learn from labels, and the controls as runs."""

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
from ugcl import Graph, UGCLError, load_graph
from ugcl.cli import main
from ugcl.data import hold_out_edges, split_of
from ugcl.engine import train
from ugcl.evaluation import evaluate_clusters, evaluate_links, evaluate_run
from ugcl.evaluation.clusters import cluster_score
from ugcl.evaluation.links import auc, pair_scores
from ugcl.methods import METHODS, Shape
from ugcl.runs import Run, embed_graph, new_config, open_run, train_run

SMALL: dict[str, Any] = {"epochs": 5, "hidden": 8}


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    path = tmp_path / "large.npz"
    make_graph(90, classes=2).save(path)
    return path


def run_of(file: Path, out: Path, method: str = "ugcl", **asked: Any) -> Run:
    given = SMALL if method in ("ugcl", "gcn", "mlp") else {}
    config, graph = new_config(str(file), method=method, given=given, **asked)
    run = open_run(out, config, graph, resume=False)
    train_run(run, graph)
    return run


def ugcl(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


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
    given = {"scope": "auto"}
    config, graph = new_config(str(large_file), given=given, hold_out_edges=0.5)
    seen, _ = config.seen(graph)
    seen_file = large_file.parent / "seen.npz"
    seen.save(seen_file)
    expected, _ = new_config(str(seen_file), given=given)
    assert config.scope_choice["why"] == expected.scope_choice["why"]


def test_the_configuration_holds_the_share_and_the_seed_and_repeats_the_bits(
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
    assert "cannot go on with hold_out_edges 0.4 instead of 0.3" in capsys.readouterr().err


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
    assert found.score.edges.size == found.score.others.size == found.counts["scored"]
    similarity = found.score.chosen["similarity"]
    every = pair_scores(run.embeddings(), held_out, similarity)
    assert np.isin(found.score.edges.round(9), every.round(9)).all()
    assert found.score.auc == auc(found.score.edges, found.score.others)
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
    assert found.score.others.size == found.score.edges.size
    for score in found.score.others:
        assert np.abs(all_scores[free] - score).min() < 1e-5
    assert all(np.abs(taken - score).min() < 1e-5 for score in found.score.edges)


def test_too_few_edges_say_nothing(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.01)
    with pytest.raises(
        UGCLError, match=r"held out \d edges, too few to score: train it again with"
    ):
        evaluate_links(run)


@pytest.mark.parametrize("damage", [np.arange(6), np.array([[0, 500]]), np.zeros((0, 2), int)])
def test_a_record_of_other_edges_is_told(
    large_file: Path, tmp_path: Path, damage: np.ndarray
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw", hold_out_edges=0.3)
    np.save(run.path / "held_out_edges.npy", damage)
    message = (
        r"held_out_edges\.npy cannot be read \(it holds other edges than config\.toml says\): "
    )
    with pytest.raises(UGCLError, match=message):
        evaluate_links(run)


def test_a_run_that_is_not_finished_is_told_so(large_file: Path, tmp_path: Path) -> None:
    one, other = (run_of(large_file, tmp_path / m, m, hold_out_edges=0.3) for m in ("raw", "ugcl"))
    for file in ("held_out_edges.npy", "metrics.json"):
        (other.path / file).unlink()
    with pytest.raises(UGCLError, match="is not finished: go on with ugcl train"):
        evaluate_links(one, against=other)


def test_a_row_for_each_node_is_embedded_whatever_edges_were_held_out(
    large_file: Path, tmp_path: Path
) -> None:
    config, graph = new_config(
        str(large_file), method="deepwalk", given={"epochs": 1, "hidden": 8}, hold_out_edges=0.3
    )
    run = open_run(tmp_path / "run", config, graph, resume=False)
    train_run(run, graph)
    np.testing.assert_array_equal(embed_graph(run, graph), run.embeddings())


def test_a_run_that_held_nothing_out_is_refused(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run")
    message = r"held out no edges, .* cannot be scored: train it again with --hold-out-edges 0\.1$"
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
    with pytest.raises(UGCLError, match=r"held out other edges than .*same --hold-out-edges and"):
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
    seen, _ = run.config.seen(run.config.load_graph())
    seen_file = tmp_path / "seen.npz"
    seen.save(seen_file)
    expected = evaluate_run(run_of(seen_file, tmp_path / "expected"))
    found = evaluate_run(run)
    assert found.score.accuracy == expected.score.accuracy
    assert {n: s.accuracy for n, s in found.controls.items()} == {
        n: s.accuracy for n, s in expected.controls.items()
    }


@pytest.mark.parametrize("share", ["0", "1", "-0.1", "some", "nan"])
def test_a_share_that_is_none_is_refused(
    share: str, large_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = large_file.parent / "run"
    assert ugcl("train", large_file, "--hold-out-edges", share, "--out", out) == 2
    assert "--hold-out-edges: must be " in capsys.readouterr().err
    assert not out.exists()


def test_more_edges_than_there_are_to_hold_out_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.npz"
    Graph.from_edges([[0, 1], [1, 2]], np.eye(3)).save(path)
    assert ugcl("train", path, "--hold-out-edges", 0.4, "--out", tmp_path / "run") == 2
    assert "holding out 0.4 of 2 edges leaves 1 to score" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


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
    with pytest.raises(UGCLError, match=r"the graph has fewer than 2: give the same graph with"):
        evaluate_clusters(run_of(path, tmp_path / "run"))


@pytest.mark.parametrize(("starts", "seed"), [(0, 0), (2, -1), (1.5, 0)])
def test_starts_and_seeds_that_are_none_are_told(
    starts: Any, seed: Any, large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run", "raw")
    with pytest.raises(UGCLError, match="must be a whole number of at least"):
        evaluate_clusters(run, starts=starts, seed=seed)


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
    message = "the split or the labels of .* are not those that this run learned from: bring the"
    with pytest.raises(UGCLError, match=message):
        evaluate_run(run, graph=other)
    plain = run_of(Path(other), tmp_path / "plain", "raw")
    with pytest.raises(UGCLError, match=message):
        evaluate_run(plain, against=run)
    assert evaluate_run(run, graph=str(large_file)).score.accuracy > 0


def test_a_run_does_not_go_on_with_other_labels(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(large_file, tmp_path / "run", "mlp")
    (run.path / "metrics.json").unlink()
    large_file.write_bytes(other_split(large_file).read_bytes())
    assert ugcl("train", "--out", run.path, "--resume") == 2
    assert "are not those that this run learned from" in capsys.readouterr().err


def test_a_repetition_keeps_the_kind_of_split(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "mlp", split="fraction", split_seed=1)
    config, _ = run.config.changed({}, split_seed=2)
    assert (config.split, config.split_seed) == ("fraction", 2)
    assert config.labels != run.config.labels
    own = run_of(large_file, tmp_path / "own", "mlp")
    config, _ = own.config.changed({}, split_seed=2)
    assert (config.split, config.split_seed) == ("per-class", 2)
    config, _ = own.config.changed({}, seed=2)
    assert (config.split, config.labels) == ("own", own.config.labels)


def test_the_graphs_own_split_goes_with_any_seed_of_held_out_edges(large_file: Path) -> None:
    config, graph = new_config(
        str(large_file), method="gcn", split="own", split_seed=4, hold_out_edges=0.2
    )
    assert (config.split, config.split_seed) == ("own", 4)
    np.testing.assert_array_equal(config.seen(graph)[1], hold_out_edges(graph, 0.2, 4)[1])


def test_a_split_without_validation_nodes_is_told(tmp_path: Path) -> None:
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


def test_another_split_is_trained_for_anew(large_file: Path, tmp_path: Path) -> None:
    run = run_of(large_file, tmp_path / "run", "gcn")
    graph = run.config.load_graph()
    told: list[str] = []
    found = evaluate_run(run, splits=2, tell=told.append)
    assert told.count("training gcn anew for another split") == 2
    assert found.many is not None
    expected = []
    for seed in range(2):
        parts, _ = split_of(graph, "per-class", seed)
        seen = replace(graph, splits=parts)
        model = run.config.untrained_model(Shape.of(graph))
        train(model, seen, run.config.settings)
        predicted = model.predict(seen, "cpu").argmax(axis=1)  # type: ignore[attr-defined]
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "ugcl", "--split", "own"], "ugcl learns without labels and has no split"),
        (["--method", "gcn", "--split", "own", "--split-seed", 1], "the graph's own split has no"),
        (["--split-seed", 3], "--split-seed decides nothing here, as ugcl learns without labels"),
        (["--method", "gcn", "--scope", 2], "--scope is no setting of gcn but of ugcl, "),
        (["--method", "raw", "--hidden", 2], "--hidden is no setting of raw but of ugcl, "),
    ],
)
def test_what_does_not_go_together_is_told(
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
    assert "gat knows no edge weights; all edges count the same" in capsys.readouterr().err


# Controls as runs


def test_a_repetition_of_an_untrained_recipe_knows_its_settings(
    large_file: Path, tmp_path: Path
) -> None:
    given = {"recipe": "grace", "hidden": 8, "projector": 4}
    config, graph = new_config(str(large_file), method="untrained", given=given)
    run = open_run(tmp_path / "run", config, graph, resume=False)
    stored = run.path / "config.toml"
    out = tmp_path / "again"
    assert ugcl("train", "--config", stored, "--projector", 16, "--scope", 3, "--out", out) == 0
    found = Run.open(out).config.settings.values()
    fresh = METHODS["untrained"].resolve("fast", graph, given | {"projector": 16, "scope": 3})
    assert found == fresh.values()
    assert (found["scope"], found["readout_scope"]) == (3, 0)


def test_a_recipe_whose_library_is_missing_leaves_no_folder(
    large_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    arguments = ["train", large_file, "--method", "untrained", "--recipe", "gae"]
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
    assert "these embeddings are sparse: give --out a name that ends in .npz" in (
        capsys.readouterr().err
    )
    assert ugcl("embed", run.path, path, "--out", tmp_path / "rows.npz", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sparse"] is True
    assert (sp.load_npz(tmp_path / "rows.npz") != held).nnz == 0


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing"])
def test_damaged_sparse_embeddings_are_told(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "graph.npz"
    make_graph(30).save(path)
    run = run_of(path, tmp_path / "run", "raw")
    (run.path / "embeddings.npz").write_bytes(damage)
    with pytest.raises(UGCLError, match=r"embeddings\.npz cannot be read .*: train again with"):
        run.embeddings()


def test_smooth_is_the_power_of_the_adjacency(large_file: Path, tmp_path: Path) -> None:
    config, graph = new_config(
        str(large_file), method="smooth", given={"scope": 3, "self_loops": 1.0}
    )
    run = open_run(tmp_path / "run", config, graph, resume=False)
    train_run(run, graph)
    loops = graph.adjacency.toarray() + np.eye(90)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    normalised = root @ loops @ root
    expected = np.linalg.matrix_power(normalised, 3) @ graph.features.toarray()
    np.testing.assert_allclose(run.embeddings(), expected, rtol=1e-5)
    assert run.metrics()["scope"] == 3


@pytest.mark.parametrize("name", ["raw", "smooth"])
def test_features_have_nothing_to_train(name: str) -> None:
    graph, method = make_graph(), METHODS[name]
    model = method.build(Shape.of(graph), method.resolve("fast", graph, {}), 0)
    with pytest.raises(UGCLError, match=f"^{name.capitalize()} has nothing to train: take its "):
        model.loss_fn(graph, "cpu")


def test_smooth_can_choose_its_power_without_labels(large_file: Path, tmp_path: Path) -> None:
    config, _ = new_config(str(large_file), method="smooth", given={"scope": "auto"})
    assert isinstance(config.settings.values()["scope"], int)
    assert config.scope_choice["settings"] == ["scope"]


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


# The command line of the tasks


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


def test_predictions_are_refused_of_a_method_that_makes_none(
    large_file: Path, tmp_path: Path
) -> None:
    run = run_of(large_file, tmp_path / "run")
    with pytest.raises(UGCLError, match=r"^ugcl learns without labels and predicts none: use the"):
        evaluate_run(run, "predictions")
