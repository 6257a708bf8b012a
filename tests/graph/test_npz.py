from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from graph_helpers import TRIANGLE, X, assert_same
from ugcl import Graph, UGCLError, load_graph


@given(st.integers(2, 12), st.booleans(), st.booleans(), st.sampled_from([None, "text", "numbers"]))
def test_save_and_load(
    tmp_path_factory: pytest.TempPathFactory,
    num_nodes: int,
    sparse: bool,
    weighted: bool,
    ids: str | None,
) -> None:
    rng = np.random.default_rng(num_nodes)
    edges = rng.integers(num_nodes, size=(20, 2))
    names = {"text": [f"node ü{i}" for i in range(num_nodes)], "numbers": range(10, 10 + num_nodes)}
    features = rng.random((num_nodes, 3)) * (rng.random((num_nodes, 3)) < 0.5)
    graph = Graph.from_edges(
        edges,
        sp.csr_array(features) if sparse else features,
        weights=rng.random(20) if weighted else None,
        labels=np.arange(num_nodes) % 3 - 1,
        splits={"train": [1], "test": [] if num_nodes < 3 else [2]},
        ids=None if ids is None else list(names[ids]),
        name="saved",
    )
    path = tmp_path_factory.mktemp("graphs") / "graph.npz"
    graph.save(path)
    loaded = load_graph(path)
    assert loaded.name == "saved"
    assert loaded.notes == graph.notes
    assert_same(graph, loaded)


def test_load_reads_what_save_wrote(tmp_path: Path) -> None:
    graph = Graph.from_edges(TRIANGLE, X, labels=[0, 1, 2, -1], name="triangle")
    graph.save(tmp_path / "graph.npz")
    assert_same(graph, Graph.load(tmp_path / "graph.npz"))
    with pytest.raises(UGCLError, match="is not a graph that ugcl can read"):
        Graph.load(tmp_path / "missing.npz")


def test_files_of_version_0_1_stay_readable() -> None:
    graph = Graph.load(Path(__file__).parent / "version_0_1.npz")
    expected = Graph.from_edges(
        TRIANGLE,
        sp.csr_array(X),
        weights=[1, 2, 0.5],
        labels=[0, 1, 0, -1],
        splits={"train": [0], "val": [1], "test": [2]},
        ids=["a", "b", "c", "d"],
        name="old",
        class_names=("red", "blue"),
        feature_names=("w", "x", "y", "z"),
    )
    assert_same(graph, expected)
    assert graph.notes == expected.notes
    assert (graph.name, graph.class_names) == ("old", ("red", "blue"))
    assert graph.feature_names == ("w", "x", "y", "z")


def test_equal_graphs_give_equal_files(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        make_graph().save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_large_arrays_are_compressed_where_it_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl._utils.files.LARGE", 1000)
    noise = np.random.default_rng(0).random((100, 100))
    for features, kind in ((noise, zipfile.ZIP_STORED), (noise > 0.9, zipfile.ZIP_DEFLATED)):
        graph = Graph.from_edges(TRIANGLE, features)
        graph.save(tmp_path / "graph.npz")
        with zipfile.ZipFile(tmp_path / "graph.npz") as archive:
            assert archive.getinfo("features.npy").compress_type == kind
        assert_same(graph, load_graph(tmp_path / "graph.npz"))


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.npz"
    make_graph().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["format"] = np.array("ugcl-graph-2")
    np.savez(path, **arrays)
    expected = r"newer\.npz has format 2 of a newer version of ugcl, and this one reads up to 1"
    with pytest.raises(UGCLError, match=expected):
        Graph.load(path)
    for other in ("ugcl-graph-x", "ugcl-graph-0", "pickle-1", "1"):
        arrays["format"] = np.array(other)
        np.savez(path, **arrays)
        with pytest.raises(UGCLError, match=r"is not a graph|is damaged"):
            Graph.load(path)
