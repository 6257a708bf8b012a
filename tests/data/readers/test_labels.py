"""Labels and splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from friends import FEATURES, FRAME, NODES, NUMBERED, TRIANGLE, names, small_network
from ugcl import Graph, UGCLError, convert_graph, load_graph
from ugcl.data import GraphFiles, read_graph, with_labels


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


def test_labels_of_a_network_may_be_in_a_file(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": NODES, "kind": ["a", "b", "a", "b", "a"]})
    graph = read_graph(small_network(), labels=table, label="kind")
    assert graph.class_names == ("a", "b")
    with pytest.raises(UGCLError, match="'kind' is in no table of nodes"):
        read_graph(small_network(), label="kind")
    with pytest.raises(UGCLError, match="'part' is in no table of nodes"):
        read_graph(small_network(), label="colour", split="part")


def test_labels_by_a_leftover_index_go_to_the_right_nodes() -> None:
    labels = pd.DataFrame({"paper": [2, 0, 1], "label": ["c", "a", "b"]}).sample(
        frac=1, random_state=1
    )
    graph = read_graph(TRIANGLE, labels=labels)
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 2]
    series = pd.Series(["c", "a", "b"], index=[2, 0, 1])
    np.testing.assert_array_equal(read_graph(TRIANGLE, labels=series).labels, [0, 1, 2])


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


def test_mixed_labels_are_text() -> None:
    graph = read_graph(TRIANGLE, np.eye(3), np.array([1, "a", None], dtype=object))
    assert graph.class_names == ("1", "a")


def test_a_header_of_text_columns_is_recognised_by_the_name_of_the_ids(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na-1,b-2\nb-2,c-3\n")
    lines = ["customer_id,segment", "a-1,gold", "b-2,silver", "c-3,gold"]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    graph = read_graph(tmp_path / "edges.csv", labels=tmp_path / "labels.csv")
    assert graph.class_names == ("gold", "silver")
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 0]


def test_labels_of_nodes_that_are_not_in_the_graph_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(
        "id,label,split\nzoe,aqua,train\nann,red,train\ncy,blue,test\nyan,teal,val\n"
    )
    graph = read_graph(FRAME, labels=tmp_path / "l.csv")
    assert labels_of(graph) == {"ann": "red", "cy": "blue"}
    assert graph.class_names == ("blue", "red")
    assert set(graph.splits) == {"train", "test"}
    note = "l.csv: ignored 2 of 4 labels, of nodes that are not in the graph (zoe, yan)"
    assert note in graph.notes
    later = with_labels(
        read_graph(FRAME), GraphFiles(edges="-", labels=str(tmp_path / "l.csv"), split="split")
    )
    assert labels_of(later) == labels_of(graph)
    assert note in later.notes
    FRAME.to_csv(tmp_path / "e.csv", index=False)
    files = GraphFiles(edges=str(tmp_path / "e.csv"), labels=str(tmp_path / "l.csv"))
    converted, expected = convert_graph(files, tmp_path / "graph"), load_graph(files)
    assert labels_of(converted) == labels_of(graph)
    assert converted.class_names == graph.class_names
    assert converted.notes == expected.notes
    np.testing.assert_array_equal(converted.splits["test"], graph.splits["test"])
