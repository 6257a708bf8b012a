"""Display names of nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from commands import fails, ugcl
from small_runs import files_run
from ugcl import UGCLError
from ugcl.data import GraphFiles
from ugcl.runs.names import display_names


def test_neighbors_show_names_and_labels(
    files: GraphFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = pd.read_csv(tmp_path / "labels.csv")
    titled = "Person " + labels["id"].str.removeprefix("user-")
    labels.assign(title=titled)[::-1].to_csv(tmp_path / "labels.csv", index=False)
    source = GraphFiles(
        **{**files.values(), "edges": files.edges, "labels": f"{tmp_path}/labels.csv"}
    )
    run = files_run(source, tmp_path / "run")
    assert ugcl("neighbors", run.path, "user-3", "--name", "title", "-k", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["id", "name", "label", "neighbors"]
    assert found["name"] == "Person 3"
    for each in found["neighbors"]:
        assert list(each) == ["id", "similarity", "name", "label"]
        assert each["name"] == each["id"].replace("user-", "Person ")
        assert each["label"] in ("red", "green", "blue")
    assert ugcl("neighbors", run.path, "user-3", "--name", "title", "-k", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "name", "similarity", "label"]
    assert found["neighbors"][0]["name"] in lines[1]
    assert "has a column 'nam' of names: pass the table that has it as --names" in fails(
        capsys, "neighbors", run.path, "user-3", "--name", "nam"
    )
    assert "--names needs --name" in fails(
        capsys, "neighbors", run.path, "user-3", "--names", tmp_path / "labels.csv"
    )


def test_names_of_some_nodes_in_a_table_of_their_own(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    frame = pd.DataFrame({"id": ["user-1", "x", "user-0"], "name": ["Bo", "Xi", "Al"]})
    frame.to_csv(tmp_path / "n.csv", index=False)
    for source in (frame, tmp_path / "n.csv"):
        assert display_names(run, "name", source)[:3].tolist() == ["Al", "Bo", ""]
    with pytest.raises(UGCLError, match="called 'nome'"):
        display_names(run, "nome", tmp_path / "n.csv")
    with pytest.raises(UGCLError, match="no id in the column 'id'"):
        display_names(run, "name", frame[1:2])
