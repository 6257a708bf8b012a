"""Node ids of any type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from friends import NODES, TRIANGLE, entries, expected, names, small_network
from ugcl import UGCLError
from ugcl.data import read_graph


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


def test_ids_that_end_in_point_zero_are_integers(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\n0.0,1.0\n1.0,2.0\n")
    assert names(read_graph(tmp_path / "e.csv")) == [0, 1, 2]
    (tmp_path / "v.csv").write_text("source,target\n1.0,1.1\n1.1,2.0\n")
    assert names(read_graph(tmp_path / "v.csv")) == ["1.0", "1.1", "2.0"]


def test_ids_from_an_attribute_of_a_network() -> None:
    network = nx.relabel_nodes(small_network(), {name: f"n{i}" for i, name in enumerate(NODES)})
    nx.set_node_attributes(network, dict(zip(network, NODES, strict=True)), "name")
    graph = read_graph(network, id="name")
    assert names(graph) == NODES
    assert entries(graph) == expected(weighted=True)


def test_columns_called_like_ids() -> None:
    for name in ("user_id", "userId", "User ID"):
        features = pd.DataFrame({"age": [1.0, 2.0, 3.0], name: [2, 0, 1]})
        assert names(read_graph(TRIANGLE, features)) == [2, 0, 1]
    twice = pd.DataFrame({"user_id": [2, 0, 1, 1], "f": [0.0] * 4})
    with pytest.raises(UGCLError, match="several rows"):
        read_graph(TRIANGLE, twice)
