"""Graphs from files, frames and other libraries: the same graph in every format."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from ugcl import Graph, UGCLError, load_graph
from ugcl.data import GraphFiles, hold_out_edges, read_graph, with_labels
from ugcl.data.readers.nodes import ExpectedFeatures
from ugcl.data.readers.structural import steps_of, structural_features

EDGES = [("ann", "bob"), ("bob", "cy"), ("cy", "ann"), ("cy", "dee")]
WEIGHTS = [1.0, 2.0, 3.0, 4.0]
NODES = ["dee", "cy", "bob", "ann", "eve"]
FEATURES = np.arange(10, dtype=np.float32).reshape(5, 2) / 4
LABELS = ["red", "red", "blue", "", "blue"]
SPLIT = ["train", "val", "test", "", "test"]

FRAME = pd.DataFrame(EDGES, columns=["source", "target"])
WEIGHTED = FRAME.assign(weight=WEIGHTS)
ABOUT = pd.DataFrame(
    {
        "id": NODES,
        "x": FEATURES[:, 0],
        "y": FEATURES[:, 1],
        "label": [label or None for label in LABELS],
        "split": [part or None for part in SPLIT],
    }
)


def expected(weighted: bool = False) -> dict[tuple[str, str], float]:
    weights = WEIGHTS if weighted else [1.0] * len(EDGES)
    one_way = dict(zip(EDGES, weights, strict=True))
    return one_way | {(b, a): w for (a, b), w in one_way.items()}


def entries(graph: Graph) -> dict[tuple[str, str], float]:
    """The edges of a graph by ids."""
    assert graph.ids is not None
    found = graph.adjacency.tocoo()
    names = graph.ids.tolist()
    return {
        (names[i], names[j]): float(value)
        for i, j, value in zip(*found.coords, found.data, strict=True)
    }


def write_json_lines(path: Path, frame: pd.DataFrame) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))


EDGE_FILES: dict[str, Callable[[Path, pd.DataFrame], None]] = {
    "edges.csv": lambda path, frame: frame.to_csv(path, index=False),
    "edges.csv.gz": lambda path, frame: frame.to_csv(path, index=False),
    "edges.tsv": lambda path, frame: frame.to_csv(path, index=False, sep="\t"),
    "semicolons.csv": lambda path, frame: frame.to_csv(path, index=False, sep=";"),
    "edges.parquet": lambda path, frame: frame.to_parquet(path, index=False),
    "edges.jsonl": write_json_lines,
}


@pytest.mark.parametrize("name", EDGE_FILES)
@pytest.mark.parametrize("weighted", [False, True])
def test_edges_are_the_same_in_every_format(tmp_path: Path, name: str, weighted: bool) -> None:
    EDGE_FILES[name](tmp_path / name, WEIGHTED if weighted else FRAME)
    graph = read_graph(tmp_path / name)
    assert graph.weighted is weighted
    assert entries(graph) == expected(weighted)
    assert graph.name == name
    assert load_graph(tmp_path / name).fingerprint == graph.fingerprint


def test_edges_without_a_header(tmp_path: Path) -> None:
    WEIGHTED.to_csv(tmp_path / "bare.csv", index=False, header=False)
    graph = read_graph(tmp_path / "bare.csv")
    assert entries(graph) == expected()
    assert any("has no header" in note for note in graph.notes)
    assert any("not used: '2'" in note for note in graph.notes)
    assert entries(read_graph(tmp_path / "bare.csv", weight="2")) == expected(weighted=True)


def test_a_text_file_with_comments_as_snap_has_them(tmp_path: Path) -> None:
    (tmp_path / "snap.txt.gz").write_bytes(
        gzip.compress(b"# Directed graph\n# FromNodeId\tToNodeId\n0\t11\n11\t12\n0\t12\n")
    )
    graph = read_graph(tmp_path / "snap.txt.gz")
    assert graph.ids is not None
    assert graph.ids.tolist() == [0, 11, 12]
    assert graph.num_edges == 3


def test_columns_by_other_names_and_in_another_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "when": ["x"] * 4,
            "to_person": FRAME["target"],
            "strength": WEIGHTS,
            "who": FRAME["source"],
        }
    )
    frame.to_csv(tmp_path / "e.csv", index=False)
    graph = read_graph(tmp_path / "e.csv", source="who", target="to_person", weight="strength")
    assert entries(graph) == expected(weighted=True)
    assert any("not used: 'when'" in note for note in graph.notes)


def test_a_weight_that_comes_first_and_an_end_that_is_named(tmp_path: Path) -> None:
    WEIGHTED[["weight", "source", "target"]].rename(columns={"source": "a", "target": "b"}).to_csv(
        tmp_path / "e.csv", index=False
    )
    for named in ({}, {"source": "a"}, {"target": "b"}, {"source": "b"}):
        assert entries(read_graph(tmp_path / "e.csv", **named)) == expected(weighted=True)


def test_the_index_that_pandas_wrote_is_no_feature(tmp_path: Path) -> None:
    ABOUT.to_csv(tmp_path / "f.csv")
    FRAME.to_csv(tmp_path / "e.csv")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv")
    assert graph.feature_names == ("x", "y")
    assert entries(graph) == expected()
    assert any("without the index that pandas wrote" in note for note in graph.notes)


def test_a_named_column_makes_the_first_line_a_header(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("person,friend\nann,bob\n")
    assert read_graph(tmp_path / "e.csv").num_nodes == 4
    assert read_graph(tmp_path / "e.csv", source="person", target="friend").num_nodes == 2


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_text_is_an_id_and_comes_back(pairs: list[tuple[str, str]]) -> None:
    graph = read_graph(
        pl.DataFrame({"source": [a for a, _ in pairs], "target": [b for _, b in pairs]})
    )
    assert graph.ids is not None
    assert set(graph.ids.tolist()) == {name for pair in pairs for name in pair}
    wanted = {pair for a, b in pairs if a != b for pair in ((a, b), (b, a))}
    assert set(entries(graph)) == wanted


def test_ids_of_a_csv_stay_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "zeros.csv").write_text("source,target\n007,7\n7,8\n")
    graph = read_graph(tmp_path / "zeros.csv")
    assert graph.ids is not None
    assert graph.ids.tolist() == ["007", "7", "8"]
    (tmp_path / "plain.csv").write_text("source,target\n10,9\n9,-8\n")
    assert read_graph(tmp_path / "plain.csv").ids.tolist() == [-8, 9, 10]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (np.int32, [3, 1, 2]),
        (np.uint64, [3, 1, 2**40]),
        (np.float64, [3.0, 1.0, 2.0]),
        (str, ["c", "a", "b"]),
        ("datetime64[D]", ["2020-01-02", "2020-01-01", "2021-01-01"]),
    ],
)
def test_ids_of_any_type(kind: Any, names: list[Any]) -> None:
    values = np.array(names, dtype=kind)
    table = pa.table({"source": values[[0, 1]], "target": values[[1, 2]]})
    graph = read_graph(table)
    assert graph.ids is not None
    assert graph.ids.tolist() == sorted(int(n) if isinstance(n, float) else n for n in names)


def test_integers_in_one_file_and_text_in_another_are_the_same_ids(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n1,2\n2,3\n")
    pq.write_table(pa.table({"id": ["1", "2", "3"], "x": [1.0, 2.0, 3.0]}), tmp_path / "f.parquet")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.parquet")
    assert graph.ids is not None
    assert graph.ids.tolist() == ["1", "2", "3"]
    assert graph.num_edges == 2


def test_far_apart_and_missing_numbers_are_found() -> None:
    edges = pd.DataFrame({"source": [10**12, -5], "target": [-5, 3]})
    assert read_graph(edges).ids.tolist() == [-5, 3, 10**12]
    features = pd.DataFrame({"id": [10**12, -5], "x": [0.0, 1.0]})
    with pytest.raises(UGCLError, match=r"1 node\(s\) of the edges have no features \(3\)"):
        read_graph(edges, features)


FEATURE_FILES: dict[str, Callable[[Path], None]] = {
    "f.csv": lambda path: ABOUT.to_csv(path, index=False),
    "f.csv.gz": lambda path: ABOUT.to_csv(path, index=False),
    "f.tsv": lambda path: ABOUT.to_csv(path, index=False, sep="\t"),
    "f.parquet": lambda path: ABOUT.to_parquet(path, index=False),
    "f.jsonl": lambda path: write_json_lines(path, ABOUT.astype(object).where(ABOUT.notna(), None)),
}


@pytest.mark.parametrize("name", FEATURE_FILES)
def test_features_labels_and_split_are_the_same_in_every_format(tmp_path: Path, name: str) -> None:
    FEATURE_FILES[name](tmp_path / name)
    graph = read_graph(FRAME, tmp_path / name)
    assert graph.ids is not None
    assert graph.ids.tolist() == NODES
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert graph.feature_names == ("x", "y")
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 1, 0, -1, 0]
    assert graph.class_names == ("blue", "red")
    assert {part: nodes.tolist() for part, nodes in graph.splits.items()} == {
        "train": [0],
        "val": [1],
        "test": [2, 4],
    }
    assert entries(graph) == expected()
    assert "kept 1 node(s) that have features but no edges" in graph.notes


def test_frames_of_pandas_and_polars_are_the_same() -> None:
    one = read_graph(FRAME, ABOUT)
    other = read_graph(pl.from_pandas(FRAME), pl.from_pandas(ABOUT))
    indexed = read_graph(FRAME, ABOUT.set_index("id"))
    unnamed = read_graph(FRAME, ABOUT.set_index("id").rename_axis(None))
    assert {graph.fingerprint for graph in (one, other, indexed, unnamed)} == {one.fingerprint}
    for graph in (other, indexed, unnamed):
        np.testing.assert_array_equal(graph.labels, one.labels)
        np.testing.assert_array_equal(graph.ids, one.ids)


NUMBERED = [(0, 1), (1, 2), (3, 2)]


@pytest.mark.parametrize(("name", "sparse"), [("f.npy", False), ("f.npz", False), ("f.npz", True)])
def test_rows_of_arrays_are_nodes_in_order(tmp_path: Path, sparse: bool, name: str) -> None:
    if name == "f.npy":
        np.save(tmp_path / name, FEATURES)
    elif sparse:
        sp.save_npz(tmp_path / name, sp.csr_array(FEATURES))
    else:
        np.savez(tmp_path / name, anything=FEATURES)
    graph = read_graph(np.array(NUMBERED), tmp_path / name)
    assert sp.issparse(graph.features) is sparse
    dense = graph.features.toarray() if sparse else graph.features
    np.testing.assert_array_equal(dense, FEATURES)
    assert graph.ids is not None
    assert graph.ids.tolist() == [0, 1, 2, 3, 4]
    assert graph.num_edges == 3


def test_ids_for_the_rows_of_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", FEATURES)
    np.savez(tmp_path / "f.npz", features=FEATURES, ids=np.array(NODES))
    (tmp_path / "ids.csv").write_text("id\n" + "\n".join(NODES) + "\n")
    np.save(tmp_path / "ids.npy", np.array(NODES))
    graphs = [
        read_graph(FRAME, tmp_path / "f.npz"),
        *(
            read_graph(FRAME, tmp_path / "f.npy", ids=ids)
            for ids in (NODES, tmp_path / "ids.csv", tmp_path / "ids.npy")
        ),
    ]
    for graph in graphs:
        assert graph.ids is not None
        assert graph.ids.tolist() == NODES
        assert entries(graph) == expected()
    with pytest.raises(UGCLError, match="rows are nodes 0 to 4; name the column of ids"):
        read_graph(FRAME, tmp_path / "f.npy")
    with pytest.raises(UGCLError, match="2 ids for 5 rows"):
        read_graph(FRAME, tmp_path / "f.npy", ids=["a", "b"])
    with pytest.raises(UGCLError, match="already has ids"):
        read_graph(FRAME, tmp_path / "f.npz", ids=NODES)
    with pytest.raises(UGCLError, match="leave it out"):
        read_graph(FRAME, ids=NODES)


def test_json_of_feature_indices(tmp_path: Path) -> None:
    lists = {"0": [1, 5], "1": [], "2": [0, 0], "7": [3]}
    (tmp_path / "f.json").write_text(json.dumps(lists))
    (tmp_path / "f.json.gz").write_bytes(gzip.compress(json.dumps(lists).encode()))
    for name in ("f.json", "f.json.gz"):
        graph = read_graph(np.array([(0, 1), (1, 7)]), tmp_path / name)
        assert graph.ids is not None
        assert graph.ids.tolist() == [0, 1, 2, 7]
        wanted = np.zeros((4, 6))
        wanted[0, [1, 5]] = wanted[2, 0] = wanted[3, 3] = 1
        np.testing.assert_array_equal(graph.features.toarray(), wanted)
    wider = read_graph(np.array([(0, 1)]), tmp_path / "f.json", expected=ExpectedFeatures(9))
    assert wider.num_features == 9


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "must be an object of id"),
        ("{}", "must be an object of id"),
        ('{"a": [0.5]}', "must be integers"),
        ('{"a": [-1]}', "at least 0"),
        ('{"a": [1', "cannot be read"),
    ],
)
def test_other_json_is_told(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(UGCLError, match=why):
        read_graph(FRAME, tmp_path / "f.json")


def test_a_column_of_lists_is_spread(tmp_path: Path) -> None:
    table = pa.table({"id": NODES, "vector": pa.array(FEATURES.tolist(), pa.list_(pa.float32()))})
    pq.write_table(table, tmp_path / "f.parquet")
    graph = read_graph(FRAME, tmp_path / "f.parquet")
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert graph.feature_names == ("vector_0", "vector_1")
    uneven = pa.table({"id": NODES, "vector": [[1.0]] * 4 + [[1.0, 2.0]]})
    with pytest.raises(UGCLError, match="between 1 and 2 entries"):
        read_graph(FRAME, uneven)


def test_the_content_file_of_cora_needs_only_the_label_s_column(tmp_path: Path) -> None:
    rows = [(31336, 0, 1, 0, "Neural"), (1061127, 1, 0, 0, "Rules"), (7, 0, 0, 1, "Neural")]
    pd.DataFrame(rows).to_csv(tmp_path / "c.tsv", sep="\t", header=False, index=False)
    (tmp_path / "cites.tsv").write_text("31336\t7\n1061127\t7\n")
    graph = read_graph(tmp_path / "cites.tsv", tmp_path / "c.tsv", label="4")
    assert graph.ids is not None
    assert graph.ids.tolist() == [31336, 1061127, 7]
    assert graph.num_features == 3
    assert graph.class_names == ("Neural", "Rules")


def test_a_table_without_ids_is_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    pd.DataFrame(FEATURES).to_csv(tmp_path / "f.csv", header=False, index=False)
    graph = read_graph(np.array(NUMBERED), tmp_path / "f.csv")
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert any("in the order of the nodes" in note for note in graph.notes)


def test_truth_values_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,member\nann,true\nbob,false\ncy,true\ndee,false\n")
    graph = read_graph(FRAME, tmp_path / "f.csv")
    assert graph.features[:, 0].tolist() == [1, 0, 1, 0]


def labels_of(graph: Graph) -> dict[str, str]:
    assert graph.labels is not None
    assert graph.ids is not None
    names = graph.class_names or [str(c) for c in range(graph.num_classes)]
    return {
        i: names[c]
        for i, c in zip(graph.ids.tolist(), graph.labels.tolist(), strict=True)
        if c >= 0
    }


@pytest.mark.parametrize(
    "text",
    [
        "id,label\nann,red\ncy,blue\n",
        "node,what\nann,red\ncy,blue\n",
        "id,colour,split\nann,red,train\ncy,blue,test\n",
        "cy\tblue\nann\tred\n",
    ],
)
def test_labels_of_some_nodes(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("l.tsv" if "\t" in text else "l.csv")
    path.write_text(text)
    graph = read_graph(FRAME, labels=path)
    assert labels_of(graph) == {"ann": "red", "cy": "blue"}
    assert set(graph.splits) == ({"train", "test"} if "split" in text else set())
    bare = read_graph(FRAME)
    later = with_labels(bare, GraphFiles(edges="-", labels=str(path)))
    assert labels_of(later) == labels_of(graph)
    assert later.fingerprint == bare.fingerprint


@pytest.mark.parametrize(
    ("given", "numbers", "names"),
    [
        ([0, 1, 2, -1], [0, 1, 2, -1], None),
        ([10, 20, 10, 30], [0, 1, 0, 2], ("10", "20", "30")),
        ([1.0, 2.0, None, 1.0], [0, 1, -1, 0], ("1", "2")),
        (["b", None, "a", "b"], [1, -1, 0, 1], ("a", "b")),
        ([True, False, True, None], [1, 0, 1, -1], ("false", "true")),
        ([1.5, 2.5, 1.5, 1.5], [0, 1, 0, 0], ("1.5", "2.5")),
    ],
)
def test_labels_of_any_type(given: list[Any], numbers: list[int], names: tuple[str, ...]) -> None:
    labels = pa.table({"id": ["ann", "bob", "cy", "dee"], "label": given})
    graph = read_graph(FRAME, labels=labels)
    assert graph.labels is not None
    assert graph.labels.tolist() == numbers
    assert graph.class_names == names


def test_labels_as_an_array_follow_the_nodes(tmp_path: Path) -> None:
    np.save(tmp_path / "l.npy", np.array([0, 1, 1, 0, 1]))
    graph = read_graph(np.array(NUMBERED), FEATURES, tmp_path / "l.npy")
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 1, 0, 1]
    with pytest.raises(UGCLError, match="without features the nodes have no order"):
        read_graph(FRAME, labels=[0, 1, 1, 0])
    with pytest.raises(UGCLError, match="5 nodes but 2 labels"):
        read_graph(np.array(NUMBERED), FEATURES, [0, 1])


def small_network(directed: bool = False) -> Any:
    network = nx.DiGraph() if directed else nx.Graph()
    for node, (x, y), label in zip(NODES, FEATURES, LABELS, strict=True):
        network.add_node(node, x=float(x), y=float(y), colour=label or "none", note="text")
    network.add_weighted_edges_from([(a, b, w) for (a, b), w in zip(EDGES, WEIGHTS, strict=True)])
    return network


@pytest.mark.parametrize("kind", ["graph", "graphml", "graphml.gz", "gml"])
def test_networkx_graphml_and_gml(tmp_path: Path, kind: str) -> None:
    network = small_network()
    source: Any = network
    if kind != "graph":
        source = tmp_path / f"g.{kind}"
        (nx.write_gml if kind == "gml" else nx.write_graphml)(network, source)
    graph = read_graph(source, label="colour")
    assert graph.ids is not None
    assert graph.ids.tolist() == NODES
    np.testing.assert_allclose(graph.features, FEATURES)
    assert graph.feature_names == ("x", "y")
    assert graph.class_names == ("blue", "none", "red")
    assert entries(graph) == expected(weighted=True)
    assert any("not used: 'note'" in note for note in graph.notes)


def test_labels_of_a_network_may_be_in_a_file(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": NODES, "kind": ["a", "b", "a", "b", "a"]})
    graph = read_graph(small_network(), labels=table, label="kind")
    assert graph.class_names == ("a", "b")
    with pytest.raises(UGCLError, match="'kind' is in no table of nodes"):
        read_graph(small_network(), label="kind")
    with pytest.raises(UGCLError, match="'part' is in no table of nodes"):
        read_graph(small_network(), label="colour", split="part")


def test_opposite_edges_of_a_directed_graph_are_two() -> None:
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "a"], "weight": [2.0, 2.0]})
    assert entries(read_graph(edges)) == {("a", "b"): 2.0, ("b", "a"): 2.0}
    directed = read_graph(edges, directed=True)
    assert entries(directed) == {("a", "b"): 4.0, ("b", "a"): 4.0}
    assert "added the two directions of 1 edge" in directed.notes
    network = nx.DiGraph()
    network.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 2.0)])
    assert entries(read_graph(network)) == entries(directed)
    assert read_graph(edges[["source", "target"]], directed=True).num_edges == 1


def test_pyg_data_with_and_without_features() -> None:
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(x=torch.tensor(FEATURES), edge_index=index, y=torch.tensor([0, 1, 0, 1, 0]))
    data.train_mask = torch.tensor([True, True, False, False, False])
    graph = read_graph(data)
    np.testing.assert_array_equal(graph.features, FEATURES)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 0, 1, 0]
    assert graph.splits["train"].tolist() == [0, 1]
    assert graph.num_nodes == 5
    bare = read_graph(Data(edge_index=index, num_nodes=4))
    assert (bare.num_nodes, bare.num_features) == (4, 129)


def test_scipy_matrices_and_their_files(tmp_path: Path) -> None:
    matrix = sp.csr_array(([1.0, 5.0], ([0, 1], [1, 3])), shape=(5, 5))
    sp.save_npz(tmp_path / "a.npz", matrix)
    np.save(tmp_path / "pairs.npy", np.array(NUMBERED))
    for source in (matrix, tmp_path / "a.npz"):
        graph = read_graph(source)
        assert graph.num_nodes == 5
        assert graph.adjacency[3, 1] == 5
    assert read_graph(tmp_path / "pairs.npy").num_edges == 3
    with pytest.raises(UGCLError, match="is square"):
        read_graph(sp.csr_array((2, 3)))
    with pytest.raises(UGCLError, match="5 nodes but 3 rows in the features"):
        read_graph(matrix, FEATURES[:3])


def test_structural_features_are_the_formula() -> None:
    graph = read_graph(WEIGHTED)
    assert any(note.startswith("no features: computed 129") for note in graph.notes)
    assert graph.ids is not None
    walk = graph.adjacency.toarray()
    walk /= walk.sum(axis=1, keepdims=True)
    alone = sp.csr_array(np.eye(4, dtype=np.float32))  # one step from a node ends there
    signs = np.sign(structural_features(alone, graph.ids.tolist(), 1)[0][:, 1:])
    expected = 0
    for k in range(1, 9):
        ended = np.linalg.matrix_power(walk, k) @ signs
        expected = expected + ended / np.linalg.norm(ended, axis=1, keepdims=True) / 8
    np.testing.assert_allclose(graph.features[:, 1:], expected, atol=1e-5)
    assert graph.features[0, 0] == pytest.approx(np.log(3) / np.log(256))
    assert steps_of(graph.feature_names) == 8
    assert steps_of(("x", "y")) is None


def test_structural_features_follow_a_node_into_a_grown_graph() -> None:
    graph = read_graph(WEIGHTED)
    more = pd.DataFrame({"source": ["zoe", "eve"], "target": ["yan", "zoe"], "weight": [1.0, 2.0]})
    grown = read_graph(pd.concat([WEIGHTED, more]))
    assert grown.ids is not None
    where = [grown.ids.tolist().index(name) for name in graph.ids]
    np.testing.assert_array_equal(grown.features[where], graph.features)
    few = structural_features(graph.adjacency, graph.ids, 3)
    again = read_graph(WEIGHTED, expected=ExpectedFeatures(129, few[1]))
    np.testing.assert_array_equal(again.features, few[0])


def test_a_large_graph_gets_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.readers.structural.MAX_ENTRIES", 24)
    assert steps_of(read_graph(FRAME).feature_names) == 3
    monkeypatch.setattr("ugcl.data.readers.structural.MAX_ENTRIES", 1)
    assert steps_of(read_graph(FRAME).feature_names) == 1


@pytest.mark.parametrize("nodes", [50, 400])
def test_structural_features_keep_common_neighbours(nodes: int) -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array((rng.random((nodes, nodes)) < 0.2).astype(np.float32))
    features = structural_features(matrix, range(nodes), 1)[0][:, 1:]
    rows = matrix.toarray()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    error = features @ features.T - rows @ rows.T
    assert np.abs(error).mean() < 1.5 / np.sqrt(128)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("edges", "features", "labels", "message"),
    [
        ("", None, None, "edges.csv is empty: give a file with at least one row"),
        ("source,target\n", None, None, "the edges are empty"),
        ("source\nann\n", None, None, "not clear which two columns of edges.csv .* '0'"),
        ("weight,x\n1,a\n", None, None, "not clear which two columns"),
        ("source,target\nann,\n", None, None, r"1 row\(s\) of the column 'target'.*row 1"),
        ("source,target,weight\na,b,\nb,c,1\n", None, None, r"1 weight\(s\) are missing"),
        ("source,target,target\na,b,c\n", None, None, "two columns called 'target'"),
        ("source,target\na,b,c\n", None, None, "edges.csv cannot be read"),
        ("source,target\na,b\n", "id,x\na,1\n", None, r"1 node\(s\) of the edges have no features"),
        ("source,target\na,b\n", "id,x\na,1\nb,2\na,3\n", None, r"1 id\(s\) have several rows"),
        ("source,target\na,b\n", "id,x\na,1\nb,\n", None, r"missing in the column 'x'.*node b"),
        ("source,target\na,b\n", "id,x\na,1\nb,nan\n", None, r"missing in the column 'x'.*row 2"),
        ("source,target\na,b\n", "id,x\na,1\nb,red\n", None, r"hold no numbers \('x'\)"),
        ("source,target\na,b\n", "id\na\nb\n", None, "has no column of features besides 'id'"),
        ("source,target\na,b\n", None, "id,label\nz,1\n", r"1 label\(s\) in labels.csv .* \(z\)"),
        ("source,target\na,b\n", None, "id,label\na,1\na,2\n", "several rows in labels.csv"),
        ("source,target\na,b\n", None, "id,label\na,\n", "has no label at all"),
        ("source,target\na,b\n", None, "id,p,q\na,1,2\n", "which column of labels.csv holds"),
        ("source,target\na,b\n", None, "id,label,split\na,1,some\n", "a part called 'some'"),
    ],
)
def test_bad_files_are_told_in_a_sentence(
    tmp_path: Path, edges: str, features: str | None, labels: str | None, message: str
) -> None:
    with pytest.raises(UGCLError, match=message) as caught:
        read_graph(
            write(tmp_path / "edges.csv", edges),
            None if features is None else write(tmp_path / "features.csv", features),
            None if labels is None else write(tmp_path / "labels.csv", labels),
        )
    assert "\n" not in str(caught.value)


def test_a_weight_that_is_no_number_is_refused_if_it_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "source,target,weight\na,b,x\n")
    graph = read_graph(path)
    assert not graph.weighted
    assert any("not used: 'weight'" in note for note in graph.notes)
    with pytest.raises(UGCLError, match=r"'weight' of e\.csv holds no numbers"):
        read_graph(path, weight="weight")
    with pytest.raises(UGCLError, match="holds no numbers"):
        read_graph(pa.table({"source": ["a"], "target": ["b"], "w": [[1.0]]}), weight="w")


def test_nodes_without_features_are_counted_and_three_are_shown() -> None:
    edges = pd.DataFrame({"source": ["a", "c", "e", "g"], "target": ["b", "d", "f", "a"]})
    with pytest.raises(UGCLError, match=r"6 node\(s\) .* \(b, c, d, \.\.\.\): add their rows"):
        read_graph(edges, pd.DataFrame({"id": ["a"], "x": [1.0]}))


def test_missing_files_and_unknown_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match=r"nowhere\.csv does not exist"):
        read_graph(tmp_path / "nowhere.csv")
    with pytest.raises(UGCLError, match="is a folder"):
        read_graph(tmp_path)
    (tmp_path / "e.dat").write_text("a b\n")
    with pytest.raises(UGCLError, match="has no known extension"):
        read_graph(tmp_path / "e.dat")
    for name in ("e.parquet", "e.csv.gz", "e.npz", "e.npy", "e.graphml", "e.gml", "e.jsonl"):
        (tmp_path / name).write_bytes(b"neither this nor that")
        with pytest.raises(UGCLError, match=f"{name} cannot be read"):
            read_graph(tmp_path / name)
    with pytest.raises(UGCLError, match="there is no column in the edges called 'sorce'"):
        read_graph(FRAME, source="sorce")
    for named in ({"label": "lable"}, {"split": "splt"}, {"id": "di"}, {"ignore": ["z"]}):
        with pytest.raises(UGCLError, match="there is no column in the features called"):
            read_graph(FRAME, ABOUT, **named)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(UGCLError, match=r"f\.npy cannot be read"):
        read_graph(FRAME, tmp_path / "f.npy")


def test_names_are_kept_in_a_graph_file(tmp_path: Path) -> None:
    graph = read_graph(FRAME, ABOUT)
    graph.save(tmp_path / "g.npz")
    back = load_graph(tmp_path / "g.npz")
    assert (back.class_names, back.feature_names) == (graph.class_names, graph.feature_names)
    assert back.notes == graph.notes


# What a first look at real files got wrong

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def names(graph: Graph) -> list[Any]:
    assert graph.ids is not None
    return graph.ids.tolist()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("source, target\n0, 1\n1, 2\n2, 0\n", [0, 1, 2]),
        ("\n\nsource,target\n0,1\n1,2\n", [0, 1, 2]),
        ("# c\n\n% d\nsource,target\r\n0,1\r\n1,2\r\n", [0, 1, 2]),
        (",citing,cited\n0,10,11\n1,11,12\n", [10, 11, 12]),
        ("id,citing,cited\n0,10,11\n1,11,12\n", [10, 11, 12]),
        ("class,struct\nstruct,object\nobject,class\n", ["class", "object", "struct"]),
        ("alice,bob\n12,carol\nbob,carol\n", ["12", "alice", "bob", "carol"]),
        ("0,1\n1,2\n", [0, 1, 2]),
        ("\ufeffsource,target\n0,1\n", [0, 1]),
        ('source;target\n"a, b";c\n', ["a, b", "c"]),
        ('source,target\n"a\nb",c\n', ["a\nb", "c"]),
    ],
)
def test_edges_as_people_write_them(tmp_path: Path, text: str, ids: list[Any]) -> None:
    (tmp_path / "e.csv").write_bytes(text.encode())
    assert names(read_graph(tmp_path / "e.csv")) == ids


def test_columns_by_number_are_no_header(tmp_path: Path) -> None:
    (tmp_path / "konect.txt").write_text("% sym\n1 2 4 1082008561\n2 3 5 1082008562\n")
    graph = read_graph(tmp_path / "konect.txt", source="0", target="1", weight="2")
    assert names(graph) == [1, 2, 3]
    assert entries(graph)[2, 3] == 5
    assert entries(read_graph(tmp_path / "konect.txt", weight="2")) == entries(graph)


def test_a_header_that_looks_like_an_edge_is_mentioned(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("person,friend\nann,bob\nbob,cem\ncem,ann\n")
    graph = read_graph(tmp_path / "e.csv")
    assert any("pass source person and target friend" in note for note in graph.notes)
    (tmp_path / "e.csv").write_text("ann,bob\nbob,cem\ncem,ann\n")
    graph = read_graph(tmp_path / "e.csv")
    assert not any("if it is a header" in note for note in graph.notes)


def test_ends_that_have_no_node_in_common(tmp_path: Path) -> None:
    table = pa.table({"tx": [1, 2, 3], "day": [0, 0, 0], "payer": [7, 8, 9], "payee": [8, 9, 7]})
    with pytest.raises(UGCLError, match="'tx' and 'day' have no id in common"):
        read_graph(table)
    assert names(read_graph(table, source="payer", target="payee")) == [7, 8, 9]
    bipartite = pd.DataFrame({"user": ["u1", "u2"], "item": ["i1", "i1"]})
    graph = read_graph(bipartite)
    assert graph.num_edges == 2
    assert "no id is in both 'user' and 'item' of the edges" in graph.notes
    times = pd.DataFrame({"when": pd.to_datetime(["2020", "2021"]), "a": [1, 2], "b": [2, 3]})
    assert names(read_graph(times)) == [1, 2, 3]


def test_ids_with_a_point_and_a_zero_are_whole(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n0.0,1.0\n1.0,2.0\n")
    assert names(read_graph(tmp_path / "e.csv")) == [0, 1, 2]
    (tmp_path / "v.csv").write_text("source,target\n1.0,1.1\n1.1,2.0\n")
    assert names(read_graph(tmp_path / "v.csv")) == ["1.0", "1.1", "2.0"]


def test_edges_in_threes_have_weights_and_labels_may_be_a_dictionary() -> None:
    graph = read_graph([(0, 1, 2.5), (1, 2, 1.0)], labels={0: "a", 2: "b"})
    assert names(graph) == [0, 1, 2]
    assert graph.adjacency[0, 1] == 2.5
    assert names(read_graph([(0.5, 1, 2.0), (1, 2, 1.0)])) == ["0.5", "1", "2"]
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, -1, 1]


def test_ids_from_an_attribute_of_a_network() -> None:
    network = nx.relabel_nodes(small_network(), {name: f"n{i}" for i, name in enumerate(NODES)})
    nx.set_node_attributes(network, dict(zip(network, NODES, strict=True)), "name")
    graph = read_graph(network, id="name")
    assert names(graph) == NODES
    assert entries(graph) == expected(weighted=True)


def test_opposite_edges_that_count_once_are_mentioned() -> None:
    edges = pd.DataFrame({"source": [0, 1, 1], "target": [1, 0, 2], "weight": [5.0, 5.0, 1.0]})
    assert any("counted once 1 edge listed in both" in note for note in read_graph(edges).notes)


def test_the_names_of_features_are_shown() -> None:
    assert any("2 features ('x', 'y')" in note for note in read_graph(FRAME, ABOUT).notes)


def test_other_encodings_and_objects_are_told(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes("source,target\nJürgen,Bäcker\n".encode("latin-1"))
    with pytest.raises(UGCLError, match="save it as UTF-8"):
        read_graph(tmp_path / "e.csv")
    np.save(tmp_path / "ids.npy", np.array(["a", "b"], dtype=object), allow_pickle=True)
    with pytest.raises(UGCLError, match="save it as text or numbers"):
        read_graph(TRIANGLE, np.eye(3), ids=tmp_path / "ids.npy")


def test_the_edge_list_of_networkx(tmp_path: Path) -> None:
    network = nx.Graph()
    network.add_edge(0, 1, weight=1, kind=2)
    network.add_edge(1, 2, weight=1, kind=3)
    nx.write_edgelist(network, tmp_path / "g.edgelist")
    assert names(read_graph(tmp_path / "g.edgelist")) == [0, 1, 2]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("width", [2, 5])
def test_columns_that_pandas_numbers_are_a_header(tmp_path: Path, index: bool, width: int) -> None:
    features = np.random.default_rng(0).normal(size=(3, width)).astype(np.float32)
    pd.DataFrame(features).to_csv(tmp_path / "f.csv", index=index)
    graph = read_graph(TRIANGLE, tmp_path / "f.csv")
    np.testing.assert_allclose(graph.features, features, rtol=1e-5)


def test_the_index_of_a_frame_is_the_id_where_nothing_else_is() -> None:
    frame = pd.DataFrame({"f": [0.0, 0.1, 0.2]})
    wanted = frame["f"].to_numpy(dtype=np.float32)[:, None]
    for moved in (frame, frame[::-1], frame.sample(frac=1, random_state=1)):
        graph = read_graph(TRIANGLE, moved)
        order = np.argsort(names(graph))
        np.testing.assert_array_equal(graph.features[order], wanted)
    named = frame.rename_axis("paper")[::-1]
    graph = read_graph(TRIANGLE, named)
    assert names(graph) == [2, 1, 0]
    assert graph.feature_names == ("f",)
    leftover = pd.DataFrame({"paper": [2, 1, 0], "f": [0.2, 0.1, 0.0]}).sample(
        frac=1, random_state=1
    )
    graph = read_graph(TRIANGLE, leftover)
    assert names(graph) == leftover["paper"].tolist()
    assert graph.feature_names == ("f",)


def test_the_index_of_a_frame_in_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"f": [0.0, 0.1, 0.2]}, index=pd.Index([2, 0, 1], name="paper"))
    frame.to_parquet(tmp_path / "named.parquet")
    frame.rename_axis(None).to_parquet(tmp_path / "unnamed.parquet")
    for name in ("named", "unnamed"):
        graph = read_graph(TRIANGLE, tmp_path / f"{name}.parquet")
        assert names(graph) == [2, 0, 1]
        assert graph.num_features == 1


def test_labels_by_a_leftover_index_go_to_the_right_nodes() -> None:
    labels = pd.DataFrame({"paper": [2, 0, 1], "label": ["c", "a", "b"]}).sample(
        frac=1, random_state=1
    )
    graph = read_graph(TRIANGLE, labels=labels)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 2]
    series = pd.Series(["c", "a", "b"], index=[2, 0, 1])
    np.testing.assert_array_equal(read_graph(TRIANGLE, labels=series).labels, [0, 1, 2])


def test_columns_called_like_ids() -> None:
    for name in ("user_id", "userId", "User ID"):
        features = pd.DataFrame({"age": [1.0, 2.0, 3.0], name: [2, 0, 1]})
        assert names(read_graph(TRIANGLE, features)) == [2, 0, 1]
    twice = pd.DataFrame({"user_id": [2, 0, 1, 1], "f": [0.0] * 4})
    with pytest.raises(UGCLError, match="several rows"):
        read_graph(TRIANGLE, twice)


def test_ids_beside_labels_in_an_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "l.npz", x=np.array([7, 8, 9]), ids=np.array([2, 1, 0]))
    graph = read_graph(TRIANGLE, labels=tmp_path / "l.npz")
    assert graph.labels is not None
    assert graph.labels.tolist() == [2, 1, 0]


def test_a_split_may_be_with_the_features_and_labels_elsewhere() -> None:
    features = pd.DataFrame(
        {"id": [2, 1, 0], "f": [0.0, 1.0, 2.0], "part": ["test", "val", "train"]}
    )
    labels = pd.DataFrame({"id": [0, 1, 2], "label": ["a", "b", "a"]})
    graph = read_graph(TRIANGLE, features, labels, split="part")
    assert {part: nodes.tolist() for part, nodes in graph.splits.items()} == {
        "train": [2],
        "val": [1],
        "test": [0],
    }
    with pytest.raises(UGCLError, match="'nowhere' is in no table of nodes"):
        read_graph(TRIANGLE, features.drop(columns="part"), labels, split="nowhere")
    with pytest.raises(UGCLError, match="cannot be both id and label"):
        read_graph(TRIANGLE, features, label="id")


def test_labels_in_text_that_are_missing_or_numbers(tmp_path: Path) -> None:
    for text, labels, classes in (
        ("0.0\n1.0\nnan", [0, 1, -1], None),
        ("0.0\n-1\n1", [0, -1, 1], None),
        ("a\nNA\nb", [0, -1, 1], ("a", "b")),
        (" a\na \nb", [0, 0, 1], ("a", "b")),
    ):
        rows = "".join(f"{i},{label}\n" for i, label in enumerate(text.split("\n")))
        (tmp_path / "l.csv").write_text("id,label\n" + rows)
        graph = read_graph(TRIANGLE, labels=tmp_path / "l.csv")
        assert graph.labels is not None
        assert graph.labels.tolist() == labels
        assert graph.class_names == classes


def test_integers_as_labels_of_a_network_stay() -> None:
    network = nx.path_graph(12)
    for node in network:
        network.nodes[node].update(kind=np.int64(node), size=np.float32(node))
    graph = read_graph(network, label="kind")
    assert graph.labels is not None
    assert graph.labels.tolist() == list(range(12))
    assert graph.class_names is None
    assert graph.feature_names == ("size",)
    kept = read_graph(network, np.eye(12), label="kind")
    np.testing.assert_array_equal(kept.labels, graph.labels)
    wide = nx.Graph([(2**70, np.int64(3))])
    assert names(read_graph(wide)) == sorted([str(2**70), "3"])


def test_strange_pyg_data_is_told() -> None:
    index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    data = Data(edge_index=index, x=torch.eye(3, requires_grad=True), y=torch.tensor([1]))
    with pytest.raises(UGCLError, match="3 nodes but 1 labels in y"):
        read_graph(data)
    data.y = torch.tensor([[0], [1], [0]])
    assert read_graph(data).labels.tolist() == [0, 1, 0]
    data.train_mask = torch.tensor([True, True, False])
    data.test_mask = torch.tensor([False, True, True])
    with pytest.raises(UGCLError, match=r"test_mask .* masks must not overlap"):
        read_graph(data)
    del data.test_mask
    other = read_graph(data, np.ones((3, 2)))
    assert other.labels.tolist() == [0, 1, 0]
    assert other.splits["train"].tolist() == [0, 1]
    weighted = Data(
        edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.tensor([2.0, 2.0]), num_nodes=2
    )
    assert read_graph(weighted, directed=True).adjacency[0, 1] == 4


@pytest.mark.parametrize(
    "edges",
    [
        pd.DataFrame({"source": pd.Categorical([1, 2]), "target": pd.Categorical([2, 3])}),
        pl.DataFrame({"source": ["1", "2"], "target": ["2", "3"]}).cast(pl.Categorical),
        pl.DataFrame({"source": [1, 2], "target": [2, 3]}).lazy(),
        pa.table({"source": np.array([1, 2], np.float16), "target": np.array([2, 3], np.uint8)}),
    ],
)
def test_categories_and_lazy_frames(edges: Any) -> None:
    assert [str(name) for name in names(read_graph(edges))] == ["1", "2", "3"]


THREE = pa.array([0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "arguments",
    [
        {"edges": pd.DataFrame({"source": [np.inf, 1.0], "target": [1.0, 2.0]})},
        {"edges": pa.table({"source": pa.array([b"\xff"]), "target": pa.array([b"\xfe"])})},
        {"edges": np.array([[1j, 2], [2, 3]])},
        {"edges": [[0, 1], [1]]},
        {"edges": np.zeros((2, 5), dtype=int)},
        {"features": [[0.0, 1.0], [1.0], [2.0]]},
        {"features": pa.table({"id": THREE[:0], "v": pa.array([], pa.list_(pa.int8()))})},
        {"features": pa.table([THREE, THREE, THREE], ["id", "x", "x"])},
        {"labels": np.zeros((3, 2))},
        {"labels": {"a": 1}},
        {"labels": 7},
        {"features": "no"},
    ],
)
def test_strange_input_is_told_in_a_sentence(arguments: dict[str, Any]) -> None:
    with pytest.raises(UGCLError) as caught:
        read_graph(**{"edges": TRIANGLE, **arguments})
    assert "\n" not in str(caught.value)


def test_mixed_labels_are_text() -> None:
    graph = read_graph(TRIANGLE, np.eye(3), np.array([1, "a", None], dtype=object))
    assert graph.class_names == ("1", "a")


def test_a_header_longer_than_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.readers.text.SAMPLE", 2**12)
    width = 2_000
    header = ",".join(["id", *(f"x{i}" for i in range(width))])
    rows = [",".join([str(i), *("1" for _ in range(width))]) for i in range(3)]
    (tmp_path / "f.csv").write_text("\n".join([header, *rows]) + "\n")
    assert len(header) > 2**12
    assert read_graph(TRIANGLE, tmp_path / "f.csv").num_features == width


def test_text_in_a_boolean_column_after_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.data.readers.text.SAMPLE", 2**12)
    late = "id,flag\n" + "".join(f"{i},true\n" for i in range(1_000)) + "1000,maybe\n"
    (tmp_path / "late.csv").write_text(late)
    with pytest.raises(UGCLError, match=r"late\.csv cannot be read"):
        read_graph(TRIANGLE, tmp_path / "late.csv")


def test_held_out_edges_are_not_in_the_features() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 200, (400, 2))
    graph = read_graph(pairs[pairs[:, 0] != pairs[:, 1]])
    seen, held = hold_out_edges(graph, 0.2)
    bare = Graph(seen.adjacency, np.ones((graph.num_nodes, 1)))
    features, columns = structural_features(bare.adjacency, graph.ids.tolist(), 8)
    np.testing.assert_array_equal(seen.features, features)
    assert seen.feature_names == columns
    assert len(held)
