"""Features from tables, arrays and JSON."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from friends import ABOUT, FEATURES, FRAME, NODES, NUMBERED, entries, expected, write_json_lines
from ugcl import UGCLError
from ugcl.data import read_graph
from ugcl.data.readers.nodes import ExpectedFeatures

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
def test_json_of_another_kind_is_an_error(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(UGCLError, match=why):
        read_graph(FRAME, tmp_path / "f.json")


def test_column_of_lists_is_several_features(tmp_path: Path) -> None:
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


def test_booleans_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,member\nann,true\nbob,false\ncy,true\ndee,false\n")
    graph = read_graph(FRAME, tmp_path / "f.csv")
    assert graph.features[:, 0].tolist() == [1, 0, 1, 0]


def test_nodes_without_features_are_counted_and_three_are_shown() -> None:
    edges = pd.DataFrame({"source": ["a", "c", "e", "g"], "target": ["b", "d", "f", "a"]})
    with pytest.raises(UGCLError, match=r"6 node\(s\) .* \(b, c, d, \.\.\.\): add their rows"):
        read_graph(edges, pd.DataFrame({"id": ["a"], "x": [1.0]}))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(UGCLError, match=r"f\.npy cannot be read"):
        read_graph(FRAME, tmp_path / "f.npy")


def test_the_names_of_features_are_shown() -> None:
    assert any("2 features ('x', 'y')" in note for note in read_graph(FRAME, ABOUT).notes)
