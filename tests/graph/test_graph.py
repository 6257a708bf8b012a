from __future__ import annotations

import copy
import pickle
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph, UGCLError, load_graph

TRIANGLE = [[0, 1], [1, 2], [2, 0]]
X = np.eye(4)


def test_counts() -> None:
    graph = Graph.from_edges(TRIANGLE, X, labels=[0, 1, 2, -1])
    assert (graph.num_nodes, graph.num_edges) == (4, 3)
    assert (graph.num_features, graph.num_classes) == (4, 3)
    assert repr(graph) == "<Graph unnamed: 4 nodes, 3 edges, 4 dense features, 3 classes>"


def test_is_immutable() -> None:
    graph = Graph.from_edges(TRIANGLE, X, labels=[0, 1, 2, 0], splits={"train": [0]})
    with pytest.raises(AttributeError):
        graph.features = X
    for array in (graph.features, graph.adjacency.data, graph.labels, graph.splits["train"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        graph.splits["val"] = np.array([1])


def test_does_not_touch_or_follow_the_arrays_it_was_given() -> None:
    features, labels = X.astype(np.float32), np.array([0, 1, 2, 0])
    sparse = sp.csr_array(features)
    graph = Graph.from_edges(TRIANGLE, features, labels=labels)
    other = Graph.from_edges(TRIANGLE, sparse)
    features[0, 0] = labels[0] = sparse.data[0] = 7
    assert graph.features[0, 0] == other.features[0, 0] == 1
    assert graph.labels is not None
    assert graph.labels[0] == 0


def test_sparse_features_stay_sparse() -> None:
    graph = Graph.from_edges(TRIANGLE, sp.coo_matrix(X))
    assert sp.issparse(graph.features)
    assert graph.features.dtype == np.float32


def test_weights() -> None:
    assert not Graph.from_edges(TRIANGLE, X).weighted
    graph = Graph.from_edges(TRIANGLE, X, weights=[1, 2, 3])
    assert graph.weighted
    assert graph.adjacency[1, 2] == graph.adjacency[2, 1] == 2
    assert Graph(sp.csr_array(2 * (1 - X)), X).weighted
    assert not Graph(sp.csr_array(1 - X), X).weighted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [[0, 4]]}, "have an endpoint that does not exist"),
        ({"edges": [0, 1, 2]}, "must be an E x 2 array"),
        ({"features": X[0]}, "must be a table"),
        ({"features": np.empty((0, 3)), "edges": []}, "at least one row"),
        ({"features": [["a", "b"]], "edges": []}, "must be a table of numbers"),
        ({"features": np.where(X, np.nan, 0)}, "4 feature value.*node 0, column 0"),
        ({"features": sp.csr_array(np.diag([1, np.inf, 1, 1]))}, "1 feature.*node 1, column 1"),
        ({"labels": [0, 1]}, r"4 nodes but the labels have the shape \(2,\)"),
        ({"labels": [0.5, 1, 2, 3]}, "integers from 0, not float64"),
        ({"labels": [0, -2, 1, 1]}, "one of them is -2"),
        ({"splits": {"train": [0, 1], "test": [1, 2]}}, "share 1 node.*being 1"),
        ({"splits": {"train": [0, 9]}}, "contains node 9"),
        ({"splits": {"train": [True, False]}}, "mask of split part 'train'"),
        ({"splits": {"train": [0, 1, 1, 0]}}, "contains a node twice"),
        ({"splits": {"train": [0.5]}}, "must hold node indices or a boolean mask"),
        ({"splits": {"train": ["a"]}}, "must hold node indices or a boolean mask"),
        ({"edges": [[0, 1], [2]]}, "must be an E x 2 array"),
        ({"features": None}, "must be a table"),
        ({"features": np.full((4, 2), 1e39)}, "8 feature value.* are NaN or infinite"),
        ({"splits": {"dev": [1]}}, "no split part 'dev'"),
        ({"splits": {"val": [3]}, "labels": [0, 0, 1, -1]}, "without a label"),
        ({"ids": ["a", "b"]}, "4 nodes but 2 ids"),
        ({"ids": ["a", "b", "a", "c"]}, "2 nodes have the id 'a'"),
        ({"weights": [1, 2]}, "3 edges but 2 weights"),
    ],
)
def test_refuses(change: dict, message: str) -> None:
    arguments = {"edges": TRIANGLE, "features": X} | change
    with pytest.raises(UGCLError, match=message):
        Graph.from_edges(arguments.pop("edges"), arguments.pop("features"), **arguments)


def test_refuses_matrices_whose_indices_point_nowhere() -> None:
    broken = sp.csr_array((4, 4))
    broken.indptr, broken.indices = np.array([0, 1, 1, 1, 1]), np.array([50_000_000])
    broken.data = np.ones(1)
    with pytest.raises(UGCLError, match="sparse features are not well formed"):
        Graph.from_edges(TRIANGLE, broken)
    with pytest.raises(UGCLError):
        Graph(broken, X)
    with pytest.raises(UGCLError, match="must be a SciPy matrix"):
        Graph("adjacency", X)


def test_copies_and_pickles() -> None:
    graph = make_graph(ids=[f"n{i}" for i in range(40)])
    assert_same(graph, copy.deepcopy(graph))
    assert_same(graph, pickle.loads(pickle.dumps(graph)))


def test_ids_of_any_kind() -> None:
    for names, kept in (
        ([1, "a", (1, 2), None], ["1", "a", "(1, 2)", "None"]),
        ([2**53 + 1, 2**53, 5, 6], [2**53 + 1, 2**53, 5, 6]),
        ([(0, 0), (0, 1), (1, 0), (1, 1)], ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]),
    ):
        ids = Graph.from_edges(TRIANGLE, X, ids=names).ids
        assert ids is not None
        assert ids.tolist() == kept


def test_refuses_an_adjacency_of_another_size() -> None:
    with pytest.raises(UGCLError, match="but there are features of 4"):
        Graph(sp.eye_array(3), X)


def assert_same(one: Graph, other: Graph) -> None:
    assert one.fingerprint == other.fingerprint
    assert one.weighted == other.weighted
    assert sp.issparse(one.features) == sp.issparse(other.features)
    for mine, theirs in ((one.labels, other.labels), (one.ids, other.ids)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            np.testing.assert_array_equal(mine, theirs)
    assert set(one.splits) == set(other.splits)
    for part, nodes in one.splits.items():
        np.testing.assert_array_equal(nodes, other.splits[part])


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


def test_fingerprint_sees_edges_weights_and_features() -> None:
    base = Graph.from_edges(TRIANGLE, X)
    assert base.fingerprint == Graph.from_edges(TRIANGLE[::-1], X, labels=[0, 1, 1, 1]).fingerprint
    others = [
        Graph.from_edges(TRIANGLE[:2], X),
        Graph.from_edges(TRIANGLE, X, weights=[1, 2, 1]),
        Graph.from_edges(TRIANGLE, X * 2),
    ]
    assert len({graph.fingerprint for graph in [base, *others]}) == 4


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
def test_to_and_from_pyg(weights: list[float] | None) -> None:
    graph = Graph.from_edges(
        TRIANGLE,
        X,
        weights=weights,
        labels=[0, 1, 2, 0],
        splits={"train": [0], "val": [2], "test": [1, 3]},
    )
    data = graph.to_pyg()
    data.validate()
    assert data.num_edges == 6
    assert data.is_undirected()
    assert_same(graph, Graph.from_pyg(data))


def test_to_and_from_networkx() -> None:
    source = nx.Graph()
    source.add_nodes_from(["d", "a", "b", "c"])
    source.add_edge("a", "b", weight=2.0)
    source.add_edge("c", "a")
    graph = Graph.from_networkx(source, X)
    assert graph.ids is not None
    assert graph.ids.tolist() == ["d", "a", "b", "c"]
    assert graph.adjacency[1, 2] == 2
    assert graph.adjacency[1, 3] == 1
    back = graph.to_networkx()
    assert set(back.nodes) == set(source.nodes)
    assert {frozenset(edge) for edge in back.edges} == {frozenset("ab"), frozenset("ac")}
    assert back["a"]["b"]["weight"] == 2


def test_opposite_edges_of_a_directed_network_are_distinct() -> None:
    network = nx.DiGraph()
    network.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 2.0)])
    graph = Graph.from_networkx(network, np.eye(2))
    assert graph.adjacency[0, 1] == 4
    assert Graph.from_networkx(network, np.eye(2), weight=None).adjacency[0, 1] == 1


def test_one_node_and_no_edges_can_be_built() -> None:
    assert Graph.from_edges([], [[1.0, 2.0]]).num_edges == 0
