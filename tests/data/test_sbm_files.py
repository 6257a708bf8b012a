from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ugcl import Graph, UGCLError, convert_graph
from ugcl.cli import main
from ugcl.data import GraphFiles, sbm, sbm_edges, sbm_files, sbm_graph
from ugcl.scope import edge_homophily

CASES: list[dict[str, Any]] = [
    {"nodes": 1, "degree": 0, "classes": 1},
    {"nodes": 300, "degree": 6.0, "components": 3},
    {"nodes": 250, "degree": 12.0, "ring": 4.0, "homophily": 0.3, "seed": 2},
    {"nodes": 200, "degree": 5.0, "noise_features": 0.5, "features": 9, "degree_spread": 1.5},
]


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbm, "BLOCK", 70)
    monkeypatch.setattr(sbm_edges, "PIECE", 53)
    monkeypatch.setattr(sbm_files, "PIECE", 59)
    monkeypatch.setattr(sbm_files, "ENTRIES", 101)


@pytest.mark.parametrize("params", CASES)
def test_pieces_of_any_size_give_the_same_graph(
    params: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    graph = sbm_graph(**params)
    request.getfixturevalue("_small_pieces")
    assert sbm_graph(**params).fingerprint == graph.fingerprint


@pytest.mark.parametrize("params", CASES)
def test_the_folder_is_that_of_the_graph(
    params: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    graph = sbm_graph(**params)
    graph.save_folder(tmp_path / "expected")
    request.getfixturevalue("_small_pieces")
    about = sbm_files.write_sbm(tmp_path / "graph", **params)
    for file in (tmp_path / "expected").iterdir():
        assert file.read_bytes() == (tmp_path / "graph" / file.name).read_bytes(), file.name
    assert about["edges"] == graph.num_edges
    assert about["homophily"] == pytest.approx(edge_homophily(graph.adjacency, graph.labels))
    assert Graph.open(tmp_path / "graph", verify=True).num_nodes == params["nodes"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_convert_to_the_same_graph(kind: str, tmp_path: Path) -> None:
    graph = sbm_graph(nodes=150, degree=5.0, features=6)
    sbm_files.write_sbm(tmp_path / "files", nodes=150, degree=5.0, features=6, kind=kind)
    names = [f"{tmp_path}/files/{name}.{kind}" for name in ("edges", "nodes")]
    converted = convert_graph(GraphFiles(edges=names[0], features=names[1]), tmp_path / "graph")
    assert converted.fingerprint == graph.fingerprint
    assert converted.labels is not None
    assert graph.labels is not None
    assert converted.labels.tolist() == graph.labels.tolist()


def test_the_command_writes_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--nodes", "100", "--degree", "4", "--features", "3"]
    out = str(tmp_path / "graph")
    assert main(["generate", "heterophilous", *options, "--out", out, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["nodes"], value["edges"], value["components"]) == (100, 200, 1)
    assert Graph.open(out).name == "heterophilous"
    assert main(["generate", "sbm", *options, "--out", out]) == 2
    assert "exists already" in capsys.readouterr().err
    file = f"{out}.npz"
    assert main(["generate", "sbm", *options, "--out", file, "--format", "csv"]) == 2
    assert "the format is csv" in capsys.readouterr().err


def test_after_an_error_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match="average"):
        sbm_files.write_sbm(tmp_path / "graph", nodes=10, degree=0.5)
    assert list(tmp_path.iterdir()) == []
