"""Edges from tables, arrays, matrices and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from friends import (
    FEATURES,
    FRAME,
    NODES,
    NUMBERED,
    WEIGHTED,
    WEIGHTS,
    entries,
    expected,
    names,
    small_network,
    write_json_lines,
)
from ugcl import UGCLError, convert_graph, load_graph
from ugcl.data import read_graph

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


def test_first_column_may_be_the_weight(tmp_path: Path) -> None:
    WEIGHTED[["weight", "source", "target"]].rename(columns={"source": "a", "target": "b"}).to_csv(
        tmp_path / "e.csv", index=False
    )
    for named in ({}, {"source": "a"}, {"target": "b"}, {"source": "b"}):
        assert entries(read_graph(tmp_path / "e.csv", **named)) == expected(weighted=True)


@pytest.mark.parametrize("kind", ["graph", "graphml", "graphml.gz", "gml", "gexf", "gexf.gz"])
def test_networkx_graphml_and_gml(tmp_path: Path, kind: str) -> None:
    network = small_network()
    source: Any = network
    if kind != "graph":
        source = tmp_path / f"g.{kind}"
        write = {"gml": nx.write_gml, "gexf": nx.write_gexf}.get(kind.removesuffix(".gz"))
        (write or nx.write_graphml)(network, source)
    graph = read_graph(source, label="colour")
    assert graph.ids is not None
    assert graph.ids.tolist() == NODES
    np.testing.assert_allclose(graph.features, FEATURES)
    assert graph.feature_names == ("x", "y")
    assert graph.class_names == ("blue", "none", "red")
    assert entries(graph) == expected(weighted=True)
    assert any("not used: 'note'" in note for note in graph.notes)


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


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_named_weight_column_must_hold_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "source,target,weight\na,b,x\n")
    graph = read_graph(path)
    assert not graph.weighted
    assert any("not used: 'weight'" in note for note in graph.notes)
    with pytest.raises(UGCLError, match=r"'weight' of e\.csv holds no numbers"):
        read_graph(path, weight="weight")
    with pytest.raises(UGCLError, match="holds no numbers"):
        read_graph(pa.table({"source": ["a"], "target": ["b"], "w": [[1.0]]}), weight="w")


def test_columns_without_a_common_id(tmp_path: Path) -> None:
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


def test_triples_have_weights_and_labels_may_be_a_dictionary() -> None:
    graph = read_graph([(0, 1, 2.5), (1, 2, 1.0)], labels={0: "a", 2: "b"})
    assert names(graph) == [0, 1, 2]
    assert graph.adjacency[0, 1] == 2.5
    assert names(read_graph([(0.5, 1, 2.0), (1, 2, 1.0)])) == ["0.5", "1", "2"]
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, -1, 1]


def test_duplicate_opposite_edges_have_a_note() -> None:
    edges = pd.DataFrame({"source": [0, 1, 1], "target": [1, 0, 2], "weight": [5.0, 5.0, 1.0]})
    assert any("counted once 1 edge listed in both" in note for note in read_graph(edges).notes)


def test_invalid_pyg_data_is_an_error() -> None:
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


PAJEK = """*Network friends
% a comment
*Vertices 4
1 "ann b" 0.1 0.2 0.5
2 bob ellipse
3 "cy"
4 dee
*Arcs
1 2 3.5
*Edgeslist
3 2 1
"""


def test_pajek_files(tmp_path: Path) -> None:
    path = tmp_path / "g.net"
    path.write_text(PAJEK)
    graph = load_graph(path)
    assert names(graph) == ["ann b", "bob", "cy", "dee"]
    assert entries(graph)["ann b", "bob"] == 3.5
    assert graph.num_edges == 3
    assert graph.notes[0] == "g.net: 3 arcs, with weights"
    network = nx.Graph(nx.karate_club_graph().edges)
    nx.write_pajek(network, path)
    graph = load_graph(path)
    assert (graph.num_nodes, graph.num_edges, graph.weighted) == (34, 78, False)
    path.write_text("*Vertices 3\n1\n*edges\n1 2\n2 3\n")
    assert names(load_graph(path)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", r"has no \*Vertices"),
        ("*Vertices 2\n*Edges\n1 3\n", "from 1 to 2"),
        ("*Vertices 2\n*Edges\n1\n", "line 3 of .*one vertex only"),
        ("*Vertices 2\n*Matrix\n0 1\n1 0\n", r"\*Arcs or \*Edges"),
        ("*Vertices 2\n*Edges\na b\n", "line 3"),
    ],
)
def test_other_pajek_files_are_errors(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "g.net").write_text(text)
    with pytest.raises(UGCLError, match=message):
        read_graph(tmp_path / "g.net")


class Sequence(dict[str, list[Any]]):
    """Vertices or edges as igraph has them."""

    def attributes(self) -> list[str]:
        return list(self)


class IGraph:
    """The part of igraph's interface that is read."""

    def __init__(self) -> None:
        ends = [(NODES.index(a), NODES.index(b)) for a, b in FRAME.to_numpy().tolist()]
        self.ends = ends
        self.vs = Sequence(name=NODES, x=FEATURES[:, 0].tolist(), y=FEATURES[:, 1].tolist())
        self.es = Sequence(weight=WEIGHTS)

    def vcount(self) -> int:
        return len(NODES)

    def get_edgelist(self) -> list[tuple[int, int]]:
        return self.ends

    def is_directed(self) -> bool:
        return False


def test_graphs_of_other_libraries_stand_for_files(tmp_path: Path) -> None:
    graph = load_graph(IGraph())
    assert names(graph) == NODES
    assert entries(graph) == expected(weighted=True)
    np.testing.assert_array_equal(graph.features, FEATURES)
    for source in (small_network(), IGraph(), graph.to_pyg(), graph):
        loaded = load_graph(source)
        assert loaded.num_edges == 4
    converted = convert_graph(IGraph(), tmp_path / "graph")
    assert converted.fingerprint == graph.fingerprint
