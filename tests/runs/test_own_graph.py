"""Runs on files: paths, columns, ids and labels are stored with the run."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open

import ugcl
from conftest import make_graph
from small_runs import SMALL, files_run
from ugcl import UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.evaluation import evaluate_run
from ugcl.runs import RunConfig, open_run, prepare, prepare_again, train_run


def test_a_run_remembers_its_files_and_repeats(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    text = tomllib.loads((run.path / "config.toml").read_text())
    assert text["graph"] == files.edges
    assert text["files"] == {"features": files.features}
    config = RunConfig.read(run.path / "config.toml")
    assert config == run.config
    again = prepare_again(config, {})
    other = open_run(tmp_path / "again", again)
    train_run(other, again)
    np.testing.assert_array_equal(other.embeddings(), run.embeddings())
    assert run.ids().tolist()[:2] == ["user-0", "user-1"]
    assert json.loads((run.path / "names.json").read_text())["features"][:2] == ["x0", "x1"]


def test_relative_paths_and_columns_are_remembered(
    files: GraphFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv("edges.csv").rename(columns={"source": "who", "target": "whom"})
    frame.assign(amount=2.0).to_csv("other.csv", index=False)
    files = GraphFiles(
        edges="other.csv",
        features="features.parquet",
        source="who",
        target="whom",
        weight="amount",
        ignore=("x3", "x4"),
        directed=True,
    )
    prepared = prepare(files, method="ugcl", params=SMALL)
    config, graph = prepared.config, prepared.graph
    assert graph.num_features == 10
    read = tomllib.loads(config.to_toml())
    assert read["files"] == {
        "source": "who",
        "target": "whom",
        "weight": "amount",
        "ignore": ["x3", "x4"],
        "directed": True,
        "features": str(tmp_path / "features.parquet"),
    }
    assert config.graph_files == files.resolved()
    monkeypatch.chdir("/")
    assert config.load_graph().fingerprint == graph.fingerprint


def test_moved_or_changed_files_are_errors(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    edges = Path(files.edges)
    moved = tmp_path / "moved.csv"
    edges.rename(moved)
    with pytest.raises(UGCLError, match=r"graph is no longer at .*edges\.csv"):
        run.config.load_graph()
    again = replace(files, edges=str(moved))
    assert run.config.load_graph(again).fingerprint == run.config.fingerprint
    edges.write_text("source,target\nuser-0,user-1\n")
    with pytest.raises(UGCLError, match="are not those that this run was configured for"):
        run.config.load_graph()


@pytest.mark.parametrize("value", ["features = 3", 'colour = "red"', 'directed = "yes"'])
def test_invalid_table_of_files_is_an_error(files: GraphFiles, tmp_path: Path, value: str) -> None:
    config = prepare(files, method="ugcl", params=SMALL).config
    text = config.to_toml().partition("[files]")[0] + f"[files]\n{value}\n"
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UGCLError, match=r"files has|is not the config.toml"):
        RunConfig.read(tmp_path / "config.toml")


def test_the_model_file_holds_its_settings(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    with safe_open(run.path / "model.safetensors", "pt") as model:
        text = model.metadata()["config.toml"]
    assert tomllib.loads(text)["settings"] == run.config.settings.values()


def test_labels_that_come_later_score_as_if_they_had_been_there(
    files: GraphFiles, tmp_path: Path
) -> None:
    run = files_run(files, tmp_path / "bare")
    labels = GraphFiles(edges=files.edges, labels=str(tmp_path / "labels.csv"))
    later = evaluate_run(run, labels=labels)
    with_them = replace(files, labels=str(tmp_path / "labels.csv"))
    first = evaluate_run(files_run(with_them, tmp_path / "labelled"))
    assert later.to_json() == first.to_json()
    with pytest.raises(UGCLError, match="no labels"):
        evaluate_run(run)


def test_labels_for_a_graph_in_one_file(tmp_path: Path) -> None:
    make_graph(labels=None, splits={}).save(tmp_path / "g.npz")
    frame = pd.DataFrame({"id": range(40), "what": np.arange(40) % 3, "split": "test"})
    frame.loc[:19, "split"] = ["train", "val"] * 10
    frame.to_csv(tmp_path / "l.csv", index=False)
    files = GraphFiles(edges=str(tmp_path / "g.npz"), labels=str(tmp_path / "l.csv"))
    graph = load_graph(files)
    assert graph.num_classes == 3
    assert {part: nodes.size for part, nodes in graph.splits.items()} == {
        "train": 10,
        "val": 10,
        "test": 20,
    }
    with pytest.raises(
        UGCLError, match="is a complete graph and cannot be combined with `features`"
    ):
        load_graph(replace(files, features="f.csv"))


def test_names_of_classes_are_kept(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(
        replace(files, labels=str(tmp_path / "labels.csv")),
        tmp_path / "run",
        method="gcn",
        params={"epochs": 2, "hidden": 4},
    )
    nodes = run.nodes().to_pydict()
    assert nodes["class"][:3] == ["red", "green", "blue"]
    assert run.names("classes") == ("blue", "green", "red")
    assert run.labels().tolist()[:2] == ["red", "green"]
    assert run.predictions().shape == (40,)


def test_a_run_as_a_frame(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    frame = run.frame()
    np.testing.assert_array_equal(frame.to_numpy(), run.embeddings())
    np.testing.assert_array_equal(frame.loc["user-3"], run.embeddings()[3])
    raw = files_run(files, tmp_path / "raw", method="raw", params={})
    assert raw.frame().shape == (40, 12)


def test_load_run_wants_a_finished_run(files: GraphFiles, tmp_path: Path) -> None:
    open_run(tmp_path / "run", prepare(files, method="ugcl", params=SMALL))
    with pytest.raises(UGCLError, match="is not finished"):
        ugcl.load_run(tmp_path / "run")
    with pytest.raises(UGCLError, match="is not a run folder"):
        ugcl.load_run(tmp_path)


def test_damaged_nodes_and_names_are_errors(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    (run.path / "names.json").write_text("[")
    with pytest.raises(UGCLError, match=r"names\.json cannot be read"):
        run.names("features")
    (run.path / "nodes.parquet").write_bytes(b"no")
    with pytest.raises(UGCLError, match=r"nodes\.parquet cannot be read"):
        run.ids()
