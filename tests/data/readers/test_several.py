from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ugcl import Graph, UGCLError, load_graph, read_graph
from ugcl.cli import main
from ugcl.data import GraphFiles
from ugcl.data.readers.paths import absolute, joined, matching_files
from ugcl.data.readers.tables import open_table

EDGES = pd.DataFrame(
    {"source": [1, 2, 3, 4, 1], "target": [2, 3, 4, 1, 3], "weight": [1, 2, 3, 4, 5.0]}
)


def same(one: Graph, other: Graph) -> bool:
    ids = np.array_equal(np.asarray(one.ids), np.asarray(other.ids))
    return ids and one.fingerprint == other.fingerprint


@pytest.fixture
def days(tmp_path: Path) -> Path:
    (tmp_path / "days").mkdir()
    for i, part in enumerate((EDGES[:2], EDGES[2:3], EDGES[3:])):
        part.to_csv(tmp_path / "days" / f"{i}.csv", index=False)
        part.to_parquet(tmp_path / f"{i}.parquet")
    (tmp_path / "days" / "_SUCCESS").touch()
    (tmp_path / "days" / "readme").touch()
    return tmp_path


def test_several_files_are_one_table(days: Path) -> None:
    whole = read_graph(EDGES)
    files = [days / "days" / f"{i}.csv" for i in range(3)]
    sources: list[Any] = [
        days / "days",
        f"{days}/days/*.csv",
        files,
        joined(files),
        f"{days}/*.parquet",
    ]
    for source in sources:
        assert same(read_graph(source), whole), source
        if not isinstance(source, list):
            assert same(load_graph(source), whole)
            assert same(load_graph(GraphFiles(edges=str(source))), whole)
    graph = read_graph(days / "days")
    assert graph.name == "days"
    assert (
        graph.notes[0] == "days (3 files): 5 edges from 'source' to 'target', weights from 'weight'"
    )


def test_features_and_labels_may_be_several_files(days: Path) -> None:
    table = pd.DataFrame({"id": [1, 2, 3, 4], "x": [0.5, 1, 2, 3], "label": ["a", "b", "a", "b"]})
    for i in range(2):
        table[2 * i : 2 * i + 2].to_csv(days / f"nodes{i}.csv", index=False)
    graph = read_graph(days / "days", f"{days}/nodes*.csv")
    assert same(graph, read_graph(EDGES, table))
    assert graph.class_names == ("a", "b")


def test_types_that_differ_between_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("target,source\nx,1\n2,x\n")
    graph = read_graph(f"{tmp_path}/*.csv")
    assert np.asarray(graph.ids).tolist() == ["1", "2", "3", "x"]
    assert graph.num_edges == 4


def test_record_batches_hold_the_same_rows(days: Path) -> None:
    for source in (days / "days", f"{days}/*.parquet", days / "days" / "0.csv"):
        table = open_table(source, "edges")
        assert table.batches is not None
        for text in (True, False):
            names = ["weight", "source"]
            rows = [row for batch in table.batches(names, text) for row in batch.to_pylist()]
            assert rows == table.read(names, text=text).to_pylist()


def test_errors_are_one_sentence(days: Path) -> None:
    with pytest.raises(UGCLError, match=r"no file matches .*\*.txt: check"):
        read_graph(f"{days}/*.txt")
    (days / "days" / "3.csv").write_text("1,2\n2,3\n")
    with pytest.raises(UGCLError, match=r"3.csv has '0', '1': give files of the same columns"):
        read_graph(days / "days")
    with pytest.raises(UGCLError, match="all text or all Parquet"):
        read_graph([days / "days" / "0.csv", days / "0.parquet"])
    (days / "empty").mkdir()
    with pytest.raises(UGCLError, match="is not that of a graph, and has no tables"):
        load_graph(days / "empty")


def test_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("a/*.csv") == str(tmp_path / "a" / "*.csv")
    assert absolute("a.csv,b.csv") == f"{tmp_path}/a.csv,{tmp_path}/b.csv"
    (tmp_path / "a,b.csv").touch()
    assert absolute("a,b.csv") == str(tmp_path / "a,b.csv")
    assert matching_files("a,b.csv") == [Path("a,b.csv")]


def test_the_command_line_takes_a_glob(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = days / "graph.npz"
    assert main(["check", "--edges", f"{days}/days/*.csv", "--save", str(out)]) == 0
    assert same(load_graph(out), read_graph(EDGES))
