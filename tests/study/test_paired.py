from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import make_graph
from ugcl import UGCLError, load_graph
from ugcl.cli import main
from ugcl.evaluation import evaluate_run
from ugcl.evaluation.classification import control_accuracies, random_splits
from ugcl.runs import Run
from ugcl.study import Plan, Variant, paired_study
from ugcl.study.summary import combined_difference

TINY = Variant("fast", {"hidden": 8, "epochs": 3, "lr": 0.01})


def plan(graph_file: Path, tmp_path: Path, **fields: Any) -> Plan:
    small: dict[str, Any] = {"method": "ugcl", "variants": [TINY], "seeds": 2, "splits": 3}
    return Plan(str(graph_file), tmp_path / "result.json", tmp_path / "runs", **small | fields)


def paired(graph_file: Path, tmp_path: Path, **fields: Any) -> dict[str, Any]:
    longer = Variant("fast", {"hidden": 8, "epochs": 6, "lr": 0.01})
    return paired_study(plan(graph_file, tmp_path, **{"variants": [longer]} | fields), TINY)


def test_variants_are_compared_node_by_node(graph_file: Path, tmp_path: Path) -> None:
    result = paired(graph_file, tmp_path)
    assert [row["seed"] for row in result["rows"]] == [0, 1]
    for row in result["rows"]:
        gained = row["accuracy"] - row["against_accuracy"]
        assert row["difference"]["mean"] == pytest.approx(gained, abs=1e-3)
    (line,) = result["summary"]
    assert line["seeds"] == 2
    assert line["difference"] == combined_difference([r["difference"] for r in result["rows"]])
    run = Run.open(tmp_path / "runs" / "ugcl-fast+hidden=8,epochs=6,lr=0.01-1")
    other = Run.open(tmp_path / "runs" / "ugcl-fast+hidden=8,epochs=3,lr=0.01-1")
    many = evaluate_run(run, splits=3, against=other).many
    assert many is not None
    assert many.other is not None
    assert result["rows"][1]["difference"] == many.other[1].to_json()


def test_a_variant_does_not_differ_from_itself(graph_file: Path, tmp_path: Path) -> None:
    result = paired(graph_file, tmp_path, variants=[TINY])
    assert result["summary"][0]["difference"] == {"mean": 0.0, "ci95": [0.0, 0.0]}


def test_a_comparison_resumes(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paired(graph_file, tmp_path, should_stop=lambda: True)["rows"] == []
    paired(graph_file, tmp_path, seeds=1)
    result = paired(graph_file, tmp_path)
    monkeypatch.setattr("ugcl.study.plan.train_run", lambda *a, **k: pytest.fail("trained"))
    again = paired(graph_file, tmp_path)
    assert json.loads(json.dumps(again)) == json.loads(json.dumps(result))
    with pytest.raises(UGCLError, match="choose another `out`"):
        paired(graph_file, tmp_path, splits=4)
    make_graph(45, seed=9).save(graph_file)  # with fewer than 50 nodes, the scope is the same
    with pytest.raises(UGCLError, match=r"fingerprint .* instead of"):
        paired(graph_file, tmp_path)


def test_duplicate_variants_count_once(graph_file: Path, tmp_path: Path) -> None:
    result = paired(graph_file, tmp_path, variants=[TINY, TINY], seeds=1)
    assert len(result["rows"]) == 1


def test_graph_without_labels_is_an_error_before_training(tmp_path: Path) -> None:
    path = tmp_path / "unlabelled.npz"
    make_graph(30, labels=None, splits={}).save(path)
    with pytest.raises(UGCLError, match="no labels"):
        paired(path, tmp_path)
    assert not (tmp_path / "runs").exists()


def test_command_prints_a_comparison(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--seeds", "1", "--splits", "2", "--runs", str(tmp_path / "runs")]
    out = ["--out", str(tmp_path / "paired.json")]
    settings = ["--preset", "fast:hidden=8,epochs=2", "--against", "fast:hidden=8,epochs=1"]
    assert main(["study", "run", str(graph_file), *out, *settings, *arguments]) == 0
    assert "against fast:hidden=8,epochs=1" in capsys.readouterr().out


def test_a_comparison_has_the_controls(
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--preset", "fast:hidden=8,epochs=2", "--against", "fast:hidden=8,epochs=1"]
    options += ["--seeds", "1", "--splits", "2"]
    assert main(["study", "run", str(graph_file), "--out", "b.json", *options]) == 0
    controls = json.loads(Path("b.json").read_text())["controls"]
    assert controls.keys() == {"raw", "smooth", "pca", "sign", "structure"}
    graph = load_graph(graph_file)
    assert controls == control_accuracies(graph, random_splits(graph, 2))
    assert f"controls on these splits: raw {controls['raw']:.1f}, " in capsys.readouterr().out
