from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import make_graph
from ugcl import Graph, UGCLError, evaluation
from ugcl.data import split_of
from ugcl.data.splits import pool_of
from ugcl.engine import LoopState
from ugcl.evaluation import evaluate_run
from ugcl.runs import Reporter, Run, RunConfig, embed_graph, new_config, open_run, train_run

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}
RESULTS = ("config.toml", "model.safetensors", "embeddings.npy", "nodes.parquet")


def trained(file: Path, out: Path, **changes: Any) -> Run:
    config, graph = new_config(str(file), given=SMALL | changes.pop("given", {}), **changes)
    run = open_run(out, config, graph, resume=False)
    train_run(run, graph)
    return run


def assert_same_bits(one: Path, other: Path) -> None:
    for name in RESULTS:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


class StopAt(Reporter):
    def __init__(self, epoch: int) -> None:
        self.at, self.now, self.first = epoch, 0, -1

    def start(self, state: LoopState, epochs: int) -> None:
        self.first = state.epoch

    def epoch(self, state: LoopState) -> None:
        self.now = state.epoch

    def __call__(self) -> bool:
        return self.now >= self.at


class Killed(Exception):
    pass


class KillAt(StopAt):
    def epoch(self, state: LoopState) -> None:
        if state.epoch == self.at:
            raise Killed


def test_a_run_holds_what_it_promises(graph: Graph, graph_file: Path, tmp_path: Path) -> None:
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


def test_a_configuration_repeats_its_run_bit_for_bit(graph_file: Path, tmp_path: Path) -> None:
    first = trained(graph_file, tmp_path / "first", seed=5, threads=2)
    config, graph = RunConfig.read(first.path / "config.toml").changed({})
    second = open_run(tmp_path / "second", config, graph, resume=False)
    train_run(second, graph)
    assert_same_bits(first.path, second.path)


@pytest.mark.parametrize("stopper", [StopAt, KillAt])
def test_a_run_ended_at_epoch_20_and_resumed_equals_one_that_was_not(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopper: type[StopAt]
) -> None:
    whole = trained(graph_file, tmp_path / "whole")
    monkeypatch.setattr(
        "ugcl.engine.checkpoint.Checkpoint.maybe_save", lambda self, *a: self.save(*a)
    )
    config, graph = new_config(str(graph_file), given=SMALL)
    run = open_run(tmp_path / "resumed", config, graph, resume=True)
    end = stopper(20)
    if stopper is KillAt:
        with pytest.raises(Killed):
            train_run(run, graph, reporter=end)
    else:
        outcome = train_run(run, graph, reporter=end, should_stop=end)
        assert outcome is not None
        assert outcome.ended == "stopped"
    assert not run.finished
    with pytest.raises(UGCLError, match="is not finished: go on with ugcl train --out"):
        run.embeddings()
    again = StopAt(1000)
    train_run(open_run(run.path, config, graph, resume=True), graph, reporter=again)
    assert again.first == (20 if stopper is StopAt else 19)
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
    assert train_run(run, run.config.load_graph()) is None
    assert (run.path / "metrics.json").read_bytes() == before


def test_resuming_with_other_settings_is_refused(graph_file: Path, tmp_path: Path) -> None:
    trained(graph_file, tmp_path / "run")
    config, graph = new_config(str(graph_file), given=SMALL | {"hidden": 9})
    with pytest.raises(UGCLError, match="cannot go on with --hidden 9 instead of 8"):
        open_run(tmp_path / "run", config, graph, resume=True)


def test_an_existing_folder_is_refused_and_left_alone(graph_file: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/precious.txt").write_text("mine")
    config, graph = new_config(str(graph_file), given=SMALL)
    for resume in (False, True):
        with pytest.raises(UGCLError, match=r"exists already: choose another --out$"):
            open_run(tmp_path / "run", config, graph, resume=resume)
    assert (tmp_path / "run/precious.txt").read_text() == "mine"


def test_a_repetition_that_does_not_fit_is_refused(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    make_graph(20).save(tmp_path / "smaller.npz")
    with pytest.raises(UGCLError, match="stored configuration does not fit this graph: --sample"):
        run.config.changed({}, graph=str(tmp_path / "smaller.npz"))
    with pytest.raises(UGCLError, match="--sample 50 is more than the 40 nodes"):
        run.config.changed({"sample": 50})


def test_a_changed_scope_takes_the_readout_along_if_they_were_equal(graph_file: Path) -> None:
    def changed(**given: int) -> dict[str, Any]:
        config, _ = new_config(str(graph_file), given=SMALL | given)
        return config.changed({"scope": 7})[0].settings.values()

    assert changed(scope=3)["readout_scope"] == 7
    assert changed(scope=3, readout_scope=9)["readout_scope"] == 9


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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("embeddings.npy", b"damaged"),
        ("embeddings.npy", None),
        ("model.safetensors", b"damaged"),
        ("metrics.json", b""),
        ("metrics.json", b"{}"),
        ("metrics.json", b"[]"),
    ],
)
def test_damaged_files_are_told(
    graph_file: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    run = trained(graph_file, tmp_path / "run")
    if content is None:
        np.save(run.path / name, np.full((40, 8), np.nan, dtype=np.float32))
    else:
        (run.path / name).write_bytes(content)
    with pytest.raises(UGCLError, match=f"{name} cannot be read .* train again with --config"):
        (run.embeddings if name == "embeddings.npy" else run.model)()


def test_a_result_that_is_missing_is_made_again(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    before = (run.path / "embeddings.npy").read_bytes()
    (run.path / "embeddings.npy").unlink()
    assert not run.finished
    train_run(run, run.config.load_graph())
    assert (run.path / "embeddings.npy").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"damaged", None])
def test_a_damaged_checkpoint_is_told(
    graph_file: Path, tmp_path: Path, content: bytes | None
) -> None:
    config, graph = new_config(str(graph_file), given=SMALL)
    run = open_run(tmp_path / "run", config, graph, resume=False)
    other = trained(graph_file, tmp_path / "other")
    model = (other.path / "model.safetensors").read_bytes()
    (run.path / "checkpoint.safetensors").write_bytes(model if content is None else content)
    with pytest.raises(UGCLError, match=r"cannot be read .* delete it, and --resume starts"):
        train_run(run, graph)


def test_training_that_goes_wrong_leaves_no_results(graph_file: Path, tmp_path: Path) -> None:
    given = SMALL | {"epochs": 1, "lr": 1e38}
    config, graph = new_config(str(graph_file), given=given)
    run = open_run(tmp_path / "run", config, graph, resume=False)
    with pytest.raises(UGCLError, match="not finite: use a smaller --lr"):
        train_run(run, graph)
    assert not run.finished


def test_a_graph_that_cannot_be_trained_leaves_no_folder(tmp_path: Path) -> None:
    Graph.from_edges([], np.eye(3)).save(tmp_path / "no-edges.npz")
    config, graph = new_config(str(tmp_path / "no-edges.npz"))
    with pytest.raises(UGCLError, match="has no edges"):
        open_run(tmp_path / "run", config, graph, resume=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "change",
    ["threads = 0", 'threads = "two"', "seed = -4", 'seed = "x"', "graph = 7", 'device = "tpu"'],
)
def test_a_configuration_is_checked(graph_file: Path, tmp_path: Path, change: str) -> None:
    run = trained(graph_file, tmp_path / "run")
    name = change.split(" ")[0]
    lines = (run.path / "config.toml").read_text().splitlines()
    changed = [change if line.startswith(f"{name} =") else line for line in lines]
    (run.path / "config.toml").write_text("\n".join(changed))
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run|no device 'tpu'"):
        RunConfig.read(run.path / "config.toml").changed({})


def test_threads_and_device_are_part_of_what_is_resumed(graph_file: Path, tmp_path: Path) -> None:
    config, graph = new_config(str(graph_file), given=SMALL, threads=1)
    open_run(tmp_path / "run", config, graph, resume=False)
    other, _ = new_config(str(graph_file), given=SMALL, threads=2)
    with pytest.raises(UGCLError, match="cannot go on with threads 2 instead of 1"):
        open_run(tmp_path / "run", other, graph, resume=True)


def test_folders_that_are_not_runs_are_told(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match="is not a run folder"):
        Run.open(tmp_path)
    (tmp_path / "config.toml").write_text("method = 1")
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run"):
        Run.open(tmp_path)
    (tmp_path / "config.toml").write_text("= nonsense")
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run"):
        Run.open(tmp_path)


def test_embedding_the_runs_own_graph_gives_its_embeddings(
    graph: Graph, graph_file: Path, tmp_path: Path
) -> None:
    run = trained(graph_file, tmp_path / "run")
    np.testing.assert_array_equal(embed_graph(run, graph), run.embeddings())
    with pytest.raises(UGCLError, match=r"5 features but .* was trained on 12"):
        embed_graph(run, make_graph(10, num_features=5))


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_evaluation_has_the_controls_beside(
    graph_file: Path, tmp_path: Path, protocol: str
) -> None:
    run = trained(graph_file, tmp_path / "run")
    result = evaluate_run(run, protocol).to_json()
    assert set(result["controls"]) == {"raw", "smooth", "pca", "untrained"}
    for figure in (result["accuracy"], result["validation"], *result["controls"].values()):
        assert 0 <= figure <= 100
    assert result["split"] == "own"
    assert evaluate_run(run, split_seed=2).split == "per-class, split seed 2"


def test_an_untrained_run_scores_as_its_untrained_control(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run", given={"epochs": 0})
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
    with pytest.raises(UGCLError, match="one split of the graph's own"):
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


def test_controls_are_scored_once_for_a_graph(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = trained(graph_file, tmp_path / "run")
    told: list[str] = []
    first = evaluate_run(run, splits=2, tell=told.append)
    assert told.pop(0).startswith("note: 13 training nodes for 3 classes are few")
    assert len(told) == 3  # the choice, then the scores on one split and on two
    again = evaluate_run(trained(graph_file, tmp_path / "b", seed=1), splits=2, tell=told.append)
    assert len(told) == 4  # the note
    for name in ("raw", "smooth", "pca"):
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
        drawn = split_of(graph, split, 3)[0]["test"]
        assert result.sizes["test"] == np.setdiff1d(drawn, pool).size < drawn.size


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
    run = trained(tmp_path / "g.npz", tmp_path / "run", given={"epochs": 1})
    with pytest.raises(UGCLError, match=message):
        evaluate_run(run, **options)


def test_a_split_without_validation_nodes_can_be_scored_by_the_papers_probe(tmp_path: Path) -> None:
    splits = {"train": range(12), "test": range(12, 40)}
    make_graph(40, splits=splits).save(tmp_path / "g.npz")
    run = trained(tmp_path / "g.npz", tmp_path / "run", given={"epochs": 1})
    assert evaluate_run(run, "paper").score.validation is None


def test_the_scores_of_controls_depend_on_the_name_that_the_papers_probe_goes_by(
    tmp_path: Path,
) -> None:
    found = []
    for name in ("citeseer", "mine"):
        make_graph(60, name=name, num_features=30).save(tmp_path / f"{name}.npz")
        run = trained(tmp_path / f"{name}.npz", tmp_path / name, given={"epochs": 1})
        found.append(evaluate_run(run, "paper", splits=2).to_json())
    assert found[0]["controls_mean"] != found[1]["controls_mean"]


def test_a_moved_graph_can_be_named_again(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run", given={"epochs": 1})
    moved = graph_file.rename(tmp_path / "moved.npz")
    with pytest.raises(UGCLError, match="--graph FILE"):
        evaluate_run(run)
    assert evaluate_run(run, graph=str(moved)).split == "own"
