from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import make_graph
from ugcl import UGCLError
from ugcl.cli import main
from ugcl.engine import Callback, TrainingState
from ugcl.evaluation import CONTROLS
from ugcl.study import Plan, Variant, accuracy_study
from ugcl.study.summary import mean_and_deviation
from ugcl.typing import Protocol

TINY = Variant("fast", {"hidden": 8, "epochs": 3, "lr": 0.01})


def plan(graph_file: Path, tmp_path: Path, **fields: Any) -> Plan:
    small: dict[str, Any] = {"method": "ugcl", "variants": [TINY], "seeds": 2, "splits": 3}
    return Plan(str(graph_file), tmp_path / "result.json", tmp_path / "runs", **small | fields)


def study(graph_file: Path, tmp_path: Path, **fields: Any) -> dict[str, Any]:
    return accuracy_study(plan(graph_file, tmp_path, **fields))


def test_rows_have_controls_and_seeds(graph_file: Path, tmp_path: Path) -> None:
    result = study(graph_file, tmp_path)
    assert [(row["seed"], row["protocol"]) for row in result["rows"]] == [
        (0, "honest"),
        (0, "paper"),
        (1, "honest"),
        (1, "paper"),
    ]
    honest = next(row for row in result["summary"] if row["protocol"] == "honest")
    scores = [row["accuracy"] for row in result["rows"] if row["protocol"] == "honest"]
    assert honest["accuracy"] == mean_and_deviation(scores)
    assert set(honest["controls"]) == set(CONTROLS)
    row = result["rows"][0]
    assert len(row["accuracy_by_split"]) == row["splits"] == 3
    assert set(honest["differences"]) == set(honest["controls"])
    assert row["variant"] == honest["variant"] == "fast:hidden=8,epochs=3,lr=0.01"


def test_one_protocol_may_be_scored_first(graph_file: Path, tmp_path: Path) -> None:
    honest = study(graph_file, tmp_path, seeds=1, protocol="honest")
    assert [row["protocol"] for row in honest["rows"]] == ["honest"]
    both = study(graph_file, tmp_path, seeds=1)
    assert [row["protocol"] for row in both["rows"]] == ["honest", "paper"]
    assert both["rows"][0] == honest["rows"][0]
    with pytest.raises(UGCLError, match=r"^mlp is scored by its own predictions: leave out "):
        study(graph_file, tmp_path, method="mlp", protocol="honest")


@pytest.mark.usefixtures("short_probes")
@pytest.mark.parametrize("protocol", ["bgrl", "pygcl", "gca"])
def test_protocols_of_other_harnesses_are_scored_where_they_are_named(
    graph_file: Path, tmp_path: Path, protocol: Protocol
) -> None:
    make_graph(120).save(graph_file)
    result = study(graph_file, tmp_path, seeds=1, splits=2, protocol=protocol)
    (row,), (summary,) = result["rows"], result["summary"]
    assert row["protocol"] == summary["protocol"] == protocol
    assert row["splits_kind"].startswith("random ")
    assert set(summary["differences"]) == set(CONTROLS)


def test_a_study_resumes_without_training_again(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = study(graph_file, tmp_path, seeds=1)
    second = study(graph_file, tmp_path)
    assert second["rows"][:2] == first["rows"]
    monkeypatch.setattr("ugcl.study.plan.train_run", lambda *a, **k: pytest.fail("trained"))
    assert json.loads(json.dumps(study(graph_file, tmp_path))) == json.loads(
        (tmp_path / "result.json").read_text()
    )


def test_should_stop_ends_the_study(graph_file: Path, tmp_path: Path) -> None:
    result = study(graph_file, tmp_path, should_stop=lambda: True)
    assert result["rows"] == []


class StopAfterOneEpoch(Callback):
    def on_epoch_end(self, state: TrainingState) -> None:
        state.stop("stopped")


def test_a_callback_stops_a_run_and_the_study_resumes_it(graph_file: Path, tmp_path: Path) -> None:
    titles = []

    def callbacks(title: str) -> list[Callback]:
        titles.append(title)
        return [StopAfterOneEpoch()]

    assert study(graph_file, tmp_path, seeds=1, callbacks=callbacks)["rows"] == []
    assert titles == [f"ugcl on {graph_file}, {TINY}, seed 0"]
    (folder,) = (tmp_path / "runs").iterdir()
    assert len((folder / "log.jsonl").read_text().splitlines()) == 1
    assert [row["epochs"] for row in study(graph_file, tmp_path, seeds=1)["rows"]] == [3, 3]


def test_other_settings_and_other_files_are_errors(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(graph_file, tmp_path, seeds=1)
    monkeypatch.setattr(Variant, "__str__", lambda self: "fast:hidden=8,epochs=3,lr=0.01")
    wider = Variant("fast", {"hidden": 9, "epochs": 3, "lr": 0.01})
    with pytest.raises(UGCLError, match="hidden 8 instead of 9"):
        study(graph_file, tmp_path, variants=[wider])
    with pytest.raises(UGCLError, match="splits 3 instead of 4"):
        study(graph_file, tmp_path, splits=4)
    make_graph(40, seed=3).save(graph_file)
    with pytest.raises(UGCLError, match=r"fingerprint .* instead of"):
        study(graph_file, tmp_path)
    with pytest.raises(UGCLError, match=r"graph '.*small\.npz' instead of 'citeseer'"):
        accuracy_study(Plan("citeseer", tmp_path / "result.json", tmp_path / "runs", "ugcl"))
    for text in ("[]", "{}", '{"rows": [{}]}'):
        (tmp_path / "result.json").write_text(text)
        with pytest.raises(UGCLError, match="is not a result of this command"):
            study(graph_file, tmp_path)
    with pytest.raises(UGCLError, match="is a folder"):
        accuracy_study(Plan("citeseer", tmp_path, tmp_path / "runs"))


def test_command_prints_a_table(
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--preset", "fast:hidden=8,epochs=2", "--seeds", "1", "--splits", "2"]
    assert main(["study", "run", str(graph_file), "--out", "result.json", *options]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"raw +smooth +pca +sign +structure +untrained +gain over control", printed)
    assert json.loads(Path("result.json").read_text())["rows"][0]["settings"]["hidden"] == 8
    assert main(["study", "run", "citeseer", "--out", "x.json", "--preset", "fast:hidden"]) == 2
    assert "write it as NAME=VALUE" in capsys.readouterr().err


def test_graph_without_labels_is_an_error_before_training(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_graph(labels=None, splits={}).save(graph_file)
    monkeypatch.setattr("ugcl.study.plan.train_run", lambda *a, **k: pytest.fail("trained"))
    with pytest.raises(UGCLError, match="no labels"):
        study(graph_file, tmp_path)


def test_supervised_method_is_scored_by_its_predictions(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--method", "gcn", "--preset", "fast:hidden=8,epochs=3", "--seeds", "2"]
    assert (
        main(["study", "run", str(graph_file), "--out", "a.json", "--splits", "2", *options]) == 0
    )
    result = json.loads(Path("a.json").read_text())
    assert [row["protocol"] for row in result["rows"]] == ["predictions"] * 2
    assert result["summary"][0]["controls"].keys() == set(CONTROLS)


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("gcn", ["--against", "fast:hidden=8"], "probes embeddings on many splits, but gcn"),
        ("gcn", ["--scopes", "2"], "probes embeddings on many splits, but gcn learns"),
        ("deepwalk", ["--scopes", "2"], "varies the readout scope, but deepwalk has none"),
        ("raw", ["--tune-scopes", "2"], "varies the readout scope, but raw has none"),
    ],
)
def test_study_that_does_not_suit_the_method_is_an_error(
    method: str,
    option: list[str],
    message: str,
    graph_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = str(tmp_path / "a.json")
    assert main(["study", "run", str(graph_file), "--out", out, "--method", method, *option]) == 2
    assert capsys.readouterr().err.startswith(f"ugcl: this study {message}")
