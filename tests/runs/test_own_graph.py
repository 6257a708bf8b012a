"""Runs on a graph of one's own: files that are remembered, ids that are kept."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open

import ugcl
from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.evaluation import evaluate_run
from ugcl.runs import Run, RunConfig, load_graph_for, open_run, prepare, prepare_again, train_run
from ugcl.runs.export import write_embeddings
from ugcl.runs.neighbors import nearest

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 3, "scope": 2}


def write_files(folder: Path, graph: Graph) -> GraphFiles:
    """A graph as an engineer has it: three files, ids that are text."""
    names = np.array([f"user-{i}" for i in range(graph.num_nodes)])
    ends = sp.triu(graph.adjacency).tocoo().coords
    pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).to_csv(
        folder / "edges.csv", index=False
    )
    frame = pd.DataFrame(graph.features.toarray()).add_prefix("x")
    frame.insert(0, "id", names)
    frame.to_parquet(folder / "features.parquet")
    colours = np.array(["red", "green", "blue"])[graph.labels]
    pd.DataFrame({"id": names, "label": colours}).to_csv(folder / "labels.csv", index=False)
    return GraphFiles(edges=str(folder / "edges.csv"), features=str(folder / "features.parquet"))


@pytest.fixture
def files(tmp_path: Path, graph: Graph) -> GraphFiles:
    return write_files(tmp_path, graph)


def trained(files: GraphFiles | str, out: Path, **arguments: Any) -> Run:
    trained_run(files, out, **{"params": SMALL, **arguments})
    return ugcl.load_run(out)


def test_a_run_remembers_its_files_and_repeats(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
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
    prepared = prepare(files, params=SMALL)
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


def test_files_that_moved_or_changed_are_reported(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
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
def test_a_spoilt_table_of_files_is_reported(files: GraphFiles, tmp_path: Path, value: str) -> None:
    config = prepare(files, params=SMALL).config
    text = config.to_toml().partition("[files]")[0] + f"[files]\n{value}\n"
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UGCLError, match=r"files has|is not the config.toml"):
        RunConfig.read(tmp_path / "config.toml")


def test_the_model_file_holds_its_settings(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
    with safe_open(run.path / "model.safetensors", "pt") as model:
        text = model.metadata()["config.toml"]
    assert tomllib.loads(text)["settings"] == run.config.settings.values()


def test_nodes_that_came_later_are_embedded(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
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


def test_features_that_are_missing_are_named(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
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
    run = trained(files, tmp_path / "run", params={"hidden": 4, "epochs": 1, "scope": 1})
    graph = load_graph_for(run, replace(files, features=str(tmp_path / "later.json")))
    assert graph.num_features == 5
    assert run.embed(graph).shape == (3, 4)


def test_a_method_of_its_nodes_alone_says_no(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run", method="deepwalk", params={"epochs": 1, "hidden": 4})
    graph = load_graph(files)
    assert run.embed(graph).shape == (40, 4)
    fewer = pd.read_csv(files.edges).iloc[1:]
    fewer.to_csv(tmp_path / "fewer.csv", index=False)
    with pytest.raises(UGCLError, match="deepwalk is transductive and was trained on another"):
        run.embed(load_graph_for(run, replace(files, edges=str(tmp_path / "fewer.csv"))))


def test_labels_that_come_later_score_as_if_they_had_been_there(
    files: GraphFiles, tmp_path: Path
) -> None:
    run = trained(files, tmp_path / "bare")
    labels = GraphFiles(edges=files.edges, labels=str(tmp_path / "labels.csv"))
    later = evaluate_run(run, labels=labels)
    with_them = replace(files, labels=str(tmp_path / "labels.csv"))
    first = evaluate_run(trained(with_them, tmp_path / "labelled"))
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
    run = trained(
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
    run = trained(files, tmp_path / "run")
    frame = run.frame()
    np.testing.assert_array_equal(frame.to_numpy(), run.embeddings())
    np.testing.assert_array_equal(frame.loc["user-3"], run.embeddings()[3])
    raw = trained(files, tmp_path / "raw", method="raw", params={})
    assert raw.frame().shape == (40, 12)


def test_load_run_wants_a_finished_run(files: GraphFiles, tmp_path: Path) -> None:
    open_run(tmp_path / "run", prepare(files, params=SMALL))
    with pytest.raises(UGCLError, match="is not finished"):
        ugcl.load_run(tmp_path / "run")
    with pytest.raises(UGCLError, match="is not a run folder"):
        ugcl.load_run(tmp_path)


def test_damaged_nodes_and_names_are_reported(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
    (run.path / "names.json").write_text("[")
    with pytest.raises(UGCLError, match=r"names\.json cannot be read"):
        run.names("features")
    (run.path / "nodes.parquet").write_bytes(b"no")
    with pytest.raises(UGCLError, match=r"nodes\.parquet cannot be read"):
        run.ids()


# Neighbours

rows_of_numbers = hnp.arrays(
    np.float32,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.integers(-3, 3).map(float),
)


@given(rows_of_numbers, st.integers(1, 15), st.integers(1, 200), st.booleans())
def test_the_nearest_are_the_formula(rows: np.ndarray, k: int, block: int, sparse: bool) -> None:
    node = len(rows) // 2

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        return float(a @ b / lengths) if lengths else 0.0

    expected = [cosine(rows[node], row) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.runs.neighbors.BLOCK", block)
        numbers, cosines = nearest(sp.csr_array(rows) if sparse else rows, node, k)
    assert node not in numbers
    assert len(numbers) == min(k, len(rows) - 1)
    np.testing.assert_allclose(cosines, [expected[i] for i in numbers], atol=1e-6)
    best = sorted((e for i, e in enumerate(expected) if i != node), reverse=True)[:k]
    np.testing.assert_allclose(cosines, best, atol=1e-6)


def test_neighbors_by_id_and_by_number(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
    found = run.neighbors("user-3", 5)
    numbers, cosines = nearest(run.embeddings(), 3, 5)
    assert [name for name, _ in found] == [f"user-{i}" for i in numbers]
    np.testing.assert_allclose([cosine for _, cosine in found], cosines, atol=1e-6)
    assert len(run.neighbors("user-3", 1000)) == 39
    with pytest.raises(UGCLError, match="called 'usr-3'; did you mean"):
        run.neighbors("usr-3")
    with pytest.raises(UGCLError, match="`k` must be at least 1"):
        run.neighbors("user-3", 0)
    make_graph().save(tmp_path / "g.npz")
    numbered = trained(str(tmp_path / "g.npz"), tmp_path / "numbered")
    assert all(isinstance(name, int) for name, _ in numbered.neighbors(7, 3))
    assert numbered.neighbors("7", 3) == numbered.neighbors(7, 3)
    for strange in ("x", 40, "7.5"):
        with pytest.raises(UGCLError, match="there is no node called"):
            numbered.neighbors(strange)


def test_the_index_finds_nearly_the_same_and_is_kept(files: GraphFiles, tmp_path: Path) -> None:
    run = trained(files, tmp_path / "run")
    rows = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    np.save(run.path / "embeddings.npy", rows)
    exact = [run.neighbors(f"user-{i}", 5) for i in range(40)]
    found = [run.neighbors(f"user-{i}", 5, approximate=True) for i in range(40)]
    shared = [len({*a} & {*b}) for a, b in zip(exact, found, strict=True)]
    assert np.mean(shared) > 4.5
    index = run.path / "neighbors.usearch"
    written = index.stat().st_mtime_ns
    run.neighbors("user-1", approximate=True)
    assert index.stat().st_mtime_ns == written
    index.write_bytes(b"damaged")
    assert run.neighbors("user-1", 5, approximate=True)
    assert index.stat().st_size > 100


def test_sparse_embeddings_have_neighbours_and_no_index(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g.npz")
    run = trained(str(tmp_path / "g.npz"), tmp_path / "raw", method="raw", params={})
    assert len(run.neighbors(0, 4)) == 4
    with pytest.raises(UGCLError, match="leave out `approximate`"):
        run.neighbors(0, 4, approximate=True)


# Files for other programs

ROWS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
NAMES = np.array(["a", 'b "quoted", with comma', "ü", "d\te", "e"])


@pytest.mark.parametrize("ids", [NAMES, np.arange(5) * 7])
def test_each_ending_can_be_read_back(tmp_path: Path, ids: np.ndarray) -> None:
    write_embeddings(tmp_path / "e.npy", ROWS, ids)
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), ROWS)
    write_embeddings(tmp_path / "e.parquet", ROWS, ids)
    table = pq.read_table(tmp_path / "e.parquet")
    assert table["id"].to_pylist() == ids.tolist()
    np.testing.assert_array_equal(np.stack(table["embedding"].to_pylist()), ROWS)
    write_embeddings(tmp_path / "e.csv", ROWS, ids)
    frame = pd.read_csv(tmp_path / "e.csv", dtype={f"e{i}": np.float32 for i in range(3)})
    assert frame["id"].tolist() == ids.tolist()
    np.testing.assert_array_equal(frame[["e0", "e1", "e2"]].to_numpy(), ROWS)
    edges = pd.DataFrame({"source": [ids[0]], "target": [ids[4]]})
    np.testing.assert_array_equal(ugcl.read_graph(edges, tmp_path / "e.parquet").features, ROWS)
    np.testing.assert_array_equal(ugcl.read_graph(edges, tmp_path / "e.csv").features, ROWS)


def test_word2vec_text_is_gensim_s(tmp_path: Path) -> None:
    for ids in (np.array(["a", "ü,x", '"q"', "d", "e"]), np.arange(5)):
        for ending in (".txt", ".vec"):
            write_embeddings(tmp_path / f"e{ending}", ROWS, ids)
            found = KeyedVectors.load_word2vec_format(str(tmp_path / f"e{ending}"))
            assert found.index_to_key == [str(name) for name in ids]
            np.testing.assert_array_equal(found.vectors, ROWS)
    with pytest.raises(UGCLError, match=r"2 id\(s\) contain spaces"):
        write_embeddings(tmp_path / "e.txt", ROWS, NAMES)


def test_the_files_of_the_projector(tmp_path: Path) -> None:
    labels = np.array(["x", "y", "", "y", "x"])
    written = write_embeddings(tmp_path / "e.tsv", ROWS, NAMES, labels)
    assert [path.name for path in written] == [
        "e.tsv",
        "e.metadata.tsv",
        "projector_config.pbtxt",
    ]
    np.testing.assert_array_equal(np.loadtxt(written[0], dtype=np.float32, delimiter="\t"), ROWS)
    lines = written[1].read_text().splitlines()
    assert lines[0] == "id\tlabel"
    assert lines[4] == "d e\ty"
    assert all(line.count("\t") == 1 for line in lines)
    write_embeddings(tmp_path / "e.tsv", ROWS, NAMES)
    assert written[1].read_text().splitlines()[0] == "a"
    with pytest.raises(UGCLError, match="names other files"):
        write_embeddings(tmp_path / "other.tsv", ROWS, NAMES)


def test_sparse_and_dense_have_their_endings(tmp_path: Path) -> None:
    sparse = sp.csr_array(ROWS)
    write_embeddings(tmp_path / "e.npz", sparse, NAMES)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "e.npz").toarray(), ROWS)
    with pytest.raises(UGCLError, match=r"sparse: use the extension \.npz for `out`"):
        write_embeddings(tmp_path / "e.csv", sparse, NAMES)
    with pytest.raises(UGCLError, match="are dense"):
        write_embeddings(tmp_path / "e.npz", ROWS, NAMES)


def test_many_rows_are_written_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.runs.export.ROWS", 2)
    test_each_ending_can_be_read_back(tmp_path, NAMES)
