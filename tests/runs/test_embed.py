from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from commands import fails, ugcl
from small_runs import files_run
from ugcl import Graph, UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.runs import load_graph_for


def test_new_nodes_are_embedded(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    features = pd.read_parquet(files.features)
    new = features.iloc[[5]].assign(id="newcomer")
    shuffled = pd.concat([features, new])[["x3", "id", *[f"x{i}" for i in range(12) if i != 3]]]
    shuffled.assign(extra=1.0).to_csv(tmp_path / "later.csv", index=False)
    edges = pd.read_csv(files.edges)
    pd.concat([edges, pd.DataFrame({"source": ["newcomer"], "target": ["user-5"]})]).to_csv(
        tmp_path / "later-edges.csv", index=False
    )
    later = GraphFiles(
        edges=str(tmp_path / "later-edges.csv"), features=str(tmp_path / "later.csv")
    )
    graph = load_graph_for(run, later)
    assert graph.feature_names == run.names("features")
    assert graph.num_features == 12
    rows = run.embed(graph)
    assert rows.shape == (41, 8)
    far = np.flatnonzero(_hops(graph, "newcomer") > 4)
    assert far.size
    np.testing.assert_allclose(rows[far], run.embeddings()[far], rtol=1e-4, atol=1e-5)


def _hops(graph: Graph, name: str) -> np.ndarray:
    assert graph.ids is not None
    start = graph.ids.tolist().index(name)
    return sp.csgraph.shortest_path(graph.adjacency, unweighted=True, indices=start)


def test_missing_features_are_an_error(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    pd.read_parquet(files.features).drop(columns=["x1", "x7"]).to_csv(
        tmp_path / "less.csv", index=False
    )
    with pytest.raises(UGCLError, match=r"2 feature\(s\) .* are missing here \(x1, x7\)"):
        load_graph_for(run, replace(files, features=str(tmp_path / "less.csv")))


def test_fewer_feature_indices_are_as_wide_as_training_was(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n2,0\n")
    (tmp_path / "f.json").write_text('{"0": [0], "1": [4], "2": [2]}')
    (tmp_path / "later.json").write_text('{"0": [0], "1": [1], "2": [2]}')
    files = GraphFiles(edges=str(tmp_path / "e.csv"), features=str(tmp_path / "f.json"))
    run = files_run(files, tmp_path / "run", params={"hidden": 4, "epochs": 1, "scope": 1})
    graph = load_graph_for(run, replace(files, features=str(tmp_path / "later.json")))
    assert graph.num_features == 5
    assert run.embed(graph).shape == (3, 4)


def test_new_nodes_are_an_error_for_transductive_methods(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run", method="deepwalk", params={"epochs": 1, "hidden": 4})
    graph = load_graph(files)
    assert run.embed(graph).shape == (40, 4)
    fewer = pd.read_csv(files.edges).iloc[1:]
    fewer.to_csv(tmp_path / "fewer.csv", index=False)
    with pytest.raises(UGCLError, match="deepwalk is transductive and was trained on another"):
        run.embed(load_graph_for(run, replace(files, edges=str(tmp_path / "fewer.csv"))))


def test_columns_of_a_graph_file_are_matched_by_name(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    features = pd.read_parquet(files.features).assign(extra=1.0)
    features[["x3", "extra", "id", *[f"x{i}" for i in range(12) if i != 3]]].to_csv(
        tmp_path / "later.csv", index=False
    )
    later = load_graph(replace(files, features=str(tmp_path / "later.csv")))
    later.save(tmp_path / "later.npz")
    graph = load_graph_for(run, str(tmp_path / "later.npz"))
    assert graph.feature_names == run.names("features")
    note = "ignored 1 feature(s) that training did not have (extra): 40 value(s) of 40 node(s)"
    assert note in graph.notes
    np.testing.assert_array_equal(run.embed(graph), run.embeddings())


@pytest.mark.parametrize("kind", ["json", "csv", "npz"])
def test_features_that_training_did_not_have(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"0": [0, 1], "1": [4], "2": [2, 3]}
    later = {"0": [0, 6], "1": [4], "2": [5, 6]}
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n2,0\n")
    paths = [_write_words(tmp_path / f"{i}", each, kind) for i, each in enumerate((words, later))]
    files = GraphFiles(edges=str(tmp_path / "e.csv"), features=paths[0])
    run = files_run(files, tmp_path / "run", params={"hidden": 4, "epochs": 1, "scope": 1})
    new, out = replace(files, features=paths[1]), tmp_path / "out.npy"
    command = ["embed", run.path, "--edges", files.edges, "--features", paths[1], "--out", out]
    if kind == "npz":  # columns have no names
        assert ugcl(*command) == 2
        assert "has 7 features but" in capsys.readouterr().err
        return
    graph = load_graph_for(run, new)
    note = "ignored 2 feature(s) that training did not have (5, 6): 3 value(s) of 2 node(s)"
    assert note in graph.notes
    assert graph.num_features == 5
    assert ugcl(*command) == 0
    assert note in capsys.readouterr().err
    np.testing.assert_array_equal(np.load(out), run.embed(graph))
    assert fails(capsys, *command, "--unknown-features", "error") == (
        "ugcl: 2 feature(s) were not there in training (5, 6), with 3 value(s) of 2 node(s): "
        "remove them, or pass --unknown-features ignore"
    )


def _write_words(path: Path, words: dict[str, list[int]], kind: str) -> str:
    file = path.with_suffix(f".{kind}")
    pairs = [(int(node), word) for node, many in words.items() for word in many]
    if kind == "json":
        file.write_text(json.dumps(words))
    elif kind == "csv":
        pd.DataFrame(pairs, columns=["node_id", "word_id"]).to_csv(file, index=False)
    else:
        matrix = sp.coo_array((np.ones(len(pairs)), tuple(zip(*pairs, strict=True))))
        sp.save_npz(file, matrix.tocsr())
    return str(file)
