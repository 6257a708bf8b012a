"""Features in the long format: one row for each node and feature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from friends import FRAME, NODES, names
from ugcl import Graph, UGCLError, convert_graph, load_graph
from ugcl.data import GraphFiles, read_graph
from ugcl.data.readers.nodes import ExpectedFeatures

LONG = pd.DataFrame(
    {
        "node_id": ["ann", "ann", "bob", "cy", "cy", "cy"],
        "feature_id": [3, 10, 3, 4, 10, 11],
        "value": [1.0, 2.0, 0.5, 1.0, 3.0, 4.0],
    }
)
WIDE = {"ann": [1, 0, 2, 0], "bob": [0.5, 0, 0, 0], "cy": [0, 1, 3, 4], "dee": [0, 0, 0, 0]}


def rows_of(graph: Graph) -> dict[str, list[float]]:
    assert sp.issparse(graph.features)
    return dict(zip(names(graph), graph.features.toarray().tolist(), strict=True))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "txt"])
def test_triplets_are_recognised(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"f.{ending}"
    if ending == "parquet":
        LONG.to_parquet(path)
    elif ending == "jsonl":
        LONG.to_json(path, orient="records", lines=True)
    else:
        LONG.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    graph = read_graph(FRAME, path)
    assert rows_of(graph) == WIDE
    assert graph.feature_names == ("3", "4", "10", "11")
    assert graph.notes[1] == (
        f"f.{ending}: 6 values of 4 sparse features of 3 nodes ('node_id', 'feature_id', 'value')"
    )
    assert "1 node(s) of the edges are not in " in graph.notes[2]


def test_pairs_without_values_are_binary() -> None:
    words = LONG.drop(columns="value").rename(columns={"node_id": "user_id", "feature_id": "word"})
    words["word"] = "w" + words["word"].astype(str)
    graph = read_graph(FRAME, pd.concat([words, words[:1]]))
    binary = {name: [float(value > 0) for value in row] for name, row in WIDE.items()}
    order = [2, 0, 1, 3]  # w10, w11, w3, w4
    assert graph.feature_names == ("w10", "w11", "w3", "w4")
    assert rows_of(graph) == {n: [row[i] for i in (2, 3, 0, 1)] for n, row in binary.items()}
    assert order


def test_triplets_without_a_header(tmp_path: Path) -> None:
    LONG.to_csv(tmp_path / "f.csv", index=False, header=False)
    assert rows_of(read_graph(FRAME, tmp_path / "f.csv")) == WIDE
    LONG.drop(columns="value").to_csv(tmp_path / "f.csv", index=False, header=False)
    assert read_graph(FRAME, tmp_path / "f.csv").features.nnz == 6


def test_named_columns_and_repeated_values() -> None:
    frame = LONG.set_axis(["who", "what", "times"], axis=1)
    with pytest.raises(
        UGCLError, match=r"several rows .* name the column of features with `feature`"
    ):
        read_graph(FRAME, frame)
    graph = read_graph(FRAME, frame, id="who", feature="what")
    assert rows_of(graph) == WIDE
    twice = read_graph(FRAME, pd.concat([frame, frame[:1]]), id="who", feature="what")
    assert rows_of(twice)["ann"] == [2, 0, 2, 0]
    assert any("summed 1 value(s)" in note for note in twice.notes)
    with pytest.raises(UGCLError, match="no column in the features called 'wat'"):
        read_graph(FRAME, frame, feature="wat")
    with pytest.raises(UGCLError, match=r"value.* are missing"):
        read_graph(FRAME, LONG.assign(value=np.nan))


def test_wide_tables_stay_wide() -> None:
    wide = pd.DataFrame({"id": NODES, "feature": np.arange(5) / 2})
    assert read_graph(FRAME, wide).num_features == 1
    assert read_graph(FRAME, wide.assign(value=1.0)).num_features == 2
    with pytest.raises(UGCLError, match="several rows"):
        read_graph(FRAME, pd.DataFrame({"id": [*NODES, "ann"], "age": range(6)}))


def test_later_nodes_have_the_columns_of_training() -> None:
    expected = ExpectedFeatures(4, ("3", "4", "10", "11"))
    graph = read_graph(FRAME, LONG[LONG["feature_id"] != 11], expected=expected)
    assert graph.feature_names == ("3", "4", "10", "11")
    later = read_graph(FRAME, LONG.replace({11: 12}), expected=expected)
    assert later.feature_names == ("3", "4", "10", "11", "12")


def test_a_conversion_reads_triplets_in_memory(tmp_path: Path) -> None:
    LONG.to_csv(tmp_path / "f.csv", index=False)
    FRAME.to_csv(tmp_path / "e.csv", index=False)
    files = GraphFiles(edges=str(tmp_path / "e.csv"), features=str(tmp_path / "f.csv"))
    expected, graph = load_graph(files), convert_graph(files, tmp_path / "graph")
    assert (graph.fingerprint, graph.notes) == (expected.fingerprint, expected.notes)
