"""A tiny version of each study, on a small graph with labels."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ugcl import UGCLError
from ugcl._utils.locks import locked
from ugcl.cli import main
from ugcl.study import (
    Options,
    Results,
    RunnerOptions,
    classification,
    comparisons,
    entries,
    graph_studies,
    run_study,
    scope_studies,
)
from ugcl.study.catalogue import BY_NAME, cells_of, names_of
from ugcl.study.cell import Cell
from ugcl.study.entries import accuracy_cells, available
from ugcl.study.names import STUDIES

FIGURES = {
    "scope": ["scope"],
    "hidden": ["hidden"],
    "joint": ["joint"],
    "convergence": ["convergence"],
    "subsampling": ["subsampling"],
    "diagrams": ["architecture", "components", "framework", "methods", "scope-balls"],
    "does-training-pay": ["does-training-pay"],
}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small grids and short trainings."""
    monkeypatch.setattr(scope_studies, "MAX_N", 2)
    monkeypatch.setattr(graph_studies, "DECAY_N", 100)
    monkeypatch.setattr(scope_studies, "_hidden_sizes", lambda options: [4, 8])
    monkeypatch.setattr(scope_studies, "_joint_sizes", lambda source, options: [20, 40])
    monkeypatch.setattr(comparisons, "SCOPES", (0, 2))
    short = {"hidden": 4, "epochs": 2}

    def cells(
        options: Options,
        source: str,
        method: str,
        settings: dict[str, Any] | None = None,
        **rest: Any,
    ) -> list[Cell]:
        merged = {} if method in ("mlp", "sign") else short
        return accuracy_cells(options, source, method, {**merged, **(settings or {})}, **rest)

    for module in (classification, comparisons, entries, scope_studies):
        monkeypatch.setattr(module, "accuracy_cells", cells)


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "all"])
def test_a_tiny_version_of_each_study(
    name: str, large_file: Path, tmp_path: Path, tiny: None
) -> None:
    options = Options(data=(str(large_file),), methods=_methods(name), seeds=1, splits=2)
    made = run_study(name, tmp_path, options)
    assert made.left == 0
    records = Results.open(tmp_path / "cells.jsonl").records if made.tables else {}
    assert [record["error"] for record in records.values() if "error" in record] == []
    for table in made.tables:
        assert table.has_figures
        assert {f"{table.name}.{end}" for end in ("csv", "json", "md", "tex")} <= {
            path.name for path in made.files
        }
        assert (
            (tmp_path / f"{table.name}.tex")
            .read_text("utf-8")
            .partition("\\bottomrule")[0]
            .isascii()
        )
        texts = [cell for row in table.texts() for cell in row]
        assert "not run" not in " ".join(texts)
    for figure in FIGURES.get(name, []):
        assert (tmp_path / f"{figure}.png").stat().st_size > 2000
        ElementTree.parse(tmp_path / f"{figure}.svg")
    before = (tmp_path / "cells.jsonl").read_bytes() if made.tables else b""
    assert run_study(name, tmp_path, options).to_json() == made.to_json()
    assert before == ((tmp_path / "cells.jsonl").read_bytes() if made.tables else b"")


def _methods(name: str) -> tuple[str, ...]:
    return {
        "classification": ("ugcl", "mlp", "sign"),
        "arxiv": ("ugcl", "mlp"),
        "ablation": ("ugcl", "ugcl-mean"),
        "unify": ("dgi",),
        "does-training-pay": ("ugcl", "sign"),
        "protocols": ("ugcl",),
        "compare": ("sign", "ugcl"),
    }.get(name, ())


def test_figures_that_were_not_computed_read_not_run(tmp_path: Path) -> None:
    options = Options(data=("citeseer",), methods=("ugcl", "dgi"), seeds=2, splits=2)
    made = run_study("classification", tmp_path, options, RunnerOptions(budget=0.0))
    assert made.left == 4
    rows = dict(made.tables[0].rows)
    assert rows["ugcl"][0].text() == "not run (74.1)"  # type: ignore[union-attr]


def test_all_takes_turns(tmp_path: Path) -> None:
    options = Options(data=("citeseer",), seeds=1, splits=2)
    cells = cells_of("all", options)
    queues = [BY_NAME[name].cells(options) for name in names_of("all")]
    firsts = [queue[0] for queue in queues if queue]
    assert cells[: len(firsts)] == firsts
    assert len(cells) == sum(map(len, queues))


def test_equal_settings_are_one_cell() -> None:
    options = Options(seeds=1, splits=2)
    (plain,) = accuracy_cells(options, "citeseer", "ugcl")
    values = plain.identity()["preset_values"]
    for settings in (
        {"hidden": values["hidden"]},
        {"scope": values["scope"], "readout_scope": values["scope"]},
    ):
        (cell,) = accuracy_cells(options, "citeseer", "ugcl", settings)
        assert cell == plain
    (other,) = accuracy_cells(options, "citeseer", "ugcl", {"scope": 9, "readout_scope": 9})
    assert other.params["settings"] == {"scope": 9}
    kept = {"scope": 9, "readout_scope": values["scope"]}
    (apart,) = accuracy_cells(options, "citeseer", "ugcl", kept)
    assert apart.params["settings"] == kept


def test_own_files_and_options_on_the_command_line(
    large_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    arguments = ["datasets", "--edges", str(large_file), "--out", str(out)]
    assert main(["study", *arguments]) == 0
    printed = capsys.readouterr()
    assert "1/1 statistics, " in printed.err
    assert "4 files in" in printed.out
    assert main(["study", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cells_left"] == 0
    assert found["tables"][0]["entries"][0]["mean"] == 90
    assert main(["study", *arguments, "--data", "cora"]) == 2
    assert "--data and --edges both name graphs" in capsys.readouterr().err


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def message(*arguments: str) -> str:
        assert main(["study", *arguments, "--out", str(tmp_path / "x")]) == 2
        return capsys.readouterr().err

    assert "there is no method called 'ugc'" in message("ablation", "--methods", "ugc")
    assert "name at least two" in message("compare", "--methods", "ugcl", "--data", "citeseer")
    with pytest.raises(UGCLError, match="there is no study called"):
        run_study("nothing", tmp_path)


def test_studies_of_one_folder_share_their_cells(
    large_file: Path, tmp_path: Path, tiny: None
) -> None:
    options = Options(data=(str(large_file),), methods=("ugcl",), seeds=1, splits=2)
    for name in ("classification", "protocols", "does-training-pay"):
        assert run_study(name, tmp_path, options).left == 0
    before = (tmp_path / "cells.jsonl").read_bytes()
    for name in ("classification", "protocols", "does-training-pay"):
        made = run_study(name, tmp_path, options)
        assert (made.left, made.failed) == (0, 0)
        assert all(table.has_figures for table in made.tables)
    assert (tmp_path / "cells.jsonl").read_bytes() == before


def test_a_preset_must_be_known() -> None:
    with pytest.raises(UGCLError, match="there is no preset called 'autors'"):
        accuracy_cells(Options(preset="autors"), "citeseer", "ugcl")
    (only,) = accuracy_cells(Options(preset="paper", seeds=1), "citeseer", "multiscope")
    assert only.params["preset"] == "fast"


def test_graphs_of_one_name_and_a_folder_in_use_are_refused(
    large_file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / large_file.name
    other.parent.mkdir()
    other.write_bytes(large_file.read_bytes())
    options = Options(data=(str(large_file), str(other)))
    with pytest.raises(UGCLError, match=r"two graphs are called large\.npz"):
        run_study("datasets", tmp_path, options)
    expected = rf"another study computes into {tmp_path} \(process {os.getpid()}\): wait until it"
    with locked(tmp_path, "x"), pytest.raises(UGCLError, match=expected):
        run_study("datasets", tmp_path, Options(data=("citeseer",)))


def test_missing_data_sets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UGCL_DATA", str(tmp_path))
    available.cache_clear()
    options = Options(seeds=1, splits=2)
    assert {cell.graph for cell in cells_of("classification", options)} == {"citeseer"}
    available.cache_clear()
