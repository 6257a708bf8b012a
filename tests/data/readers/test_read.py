"""Invalid input, and what a graph keeps of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from friends import ABOUT, FRAME, TRIANGLE
from ugcl import UGCLError, load_graph
from ugcl.data import read_graph


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
def test_errors_of_invalid_files_are_one_sentence(
    tmp_path: Path, edges: str, features: str | None, labels: str | None, message: str
) -> None:
    with pytest.raises(UGCLError, match=message) as caught:
        read_graph(
            write(tmp_path / "edges.csv", edges),
            None if features is None else write(tmp_path / "features.csv", features),
            None if labels is None else write(tmp_path / "labels.csv", labels),
        )
    assert "\n" not in str(caught.value)


def test_names_are_kept_in_a_graph_file(tmp_path: Path) -> None:
    graph = read_graph(FRAME, ABOUT)
    graph.save(tmp_path / "g.npz")
    back = load_graph(tmp_path / "g.npz")
    assert (back.class_names, back.feature_names) == (graph.class_names, graph.feature_names)
    assert back.notes == graph.notes


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
def test_errors_of_invalid_arguments_are_one_sentence(arguments: dict[str, Any]) -> None:
    with pytest.raises(UGCLError) as caught:
        read_graph(**{"edges": TRIANGLE, **arguments})
    assert "\n" not in str(caught.value)
