from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ugcl import UGCLError, load_graph
from ugcl.cli import main
from ugcl.evaluation import linear_probe
from ugcl.evaluation.classification import random_splits
from ugcl.runs import Run
from ugcl.study import Plan, Variant, scope_study

TINY = Variant("fast", {"hidden": 8, "epochs": 3, "lr": 0.01})


def plan(graph_file: Path, tmp_path: Path, **fields: Any) -> Plan:
    small: dict[str, Any] = {"method": "ugcl", "variants": [TINY], "seeds": 2, "splits": 3}
    return Plan(str(graph_file), tmp_path / "scopes.json", tmp_path / "runs", **small | fields)


def test_each_scope_is_scored_from_one_training(graph_file: Path, tmp_path: Path) -> None:
    result = scope_study(plan(graph_file, tmp_path), 3)
    assert json.loads((tmp_path / "scopes.json").read_text()) == json.loads(json.dumps(result))
    assert [row["n"] for row in result["scopes"]] == [0, 1, 2, 3]
    best = max(row["accuracy"][0] for row in result["scopes"])
    assert result["scopes"][result["oracle"]]["accuracy"][0] == best
    assert result["scopes"][result["oracle"]]["regret"]["mean"] == 0
    for row in result["scopes"]:
        assert row["regret"]["mean"] == pytest.approx(best - row["accuracy"][0], abs=0.02)
    graph, run = (
        load_graph(graph_file),
        Run.open(tmp_path / "runs" / f"ugcl-{TINY}-1".replace(":", "+")),
    )
    assert graph.labels is not None
    embeddings = run.embed(graph, readout_scope=3)
    splits = random_splits(graph, 3)
    scores = [linear_probe(embeddings, graph.labels, split).accuracy for split in splits]
    assert result["scopes"][3]["by_seed"][1] == pytest.approx(np.mean(scores), abs=1e-3)


def test_scores_are_kept_and_the_study_goes_on(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False] * 4 + [True] * 10)
    part = scope_study(plan(graph_file, tmp_path, should_stop=lambda: next(answers)), 3)
    assert part["seeds"] == 0
    first = scope_study(plan(graph_file, tmp_path), 3)
    monkeypatch.setattr("ugcl.study.outcomes.honest_outcomes", lambda *a: pytest.fail("scored"))
    assert scope_study(plan(graph_file, tmp_path), 3) == first


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "splits", "nan"])
def test_damaged_scores_are_computed_again(
    damage: str, graph_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = scope_study(plan(graph_file, tmp_path, seeds=1), 1)
    path = next((tmp_path / "runs").glob("*/outcomes-1-*.npz"))
    whole = path.read_bytes()
    with np.load(path) as archive:
        arrays = dict(archive)
    if damage == "splits":
        np.savez(path, **{name: values[:1] for name, values in arrays.items()})
    elif damage == "nan":
        np.savez(path, **arrays | {"validation": arrays["validation"] * np.nan})
    else:
        cut = {"cut": whole[: len(whole) // 2], "text": b"text", "empty": b""}
        path.write_bytes(cut[damage])
    assert scope_study(plan(graph_file, tmp_path, seeds=1), 1) == first
    assert f"{path} is damaged" in caplog.text
    assert path.read_bytes() == whole


def test_scores_of_another_model_are_computed_again(graph_file: Path, tmp_path: Path) -> None:
    first = scope_study(plan(graph_file, tmp_path, seeds=2), 1)
    one, other = (
        {path.name.split("-")[1]: path for path in folder.glob("outcomes-*.npz")}
        for folder in sorted((tmp_path / "runs").iterdir())
    )
    for scope, path in one.items():
        path.with_name(other[scope].name).write_bytes(other[scope].read_bytes())
        if path.name != other[scope].name:
            path.unlink()
    assert scope_study(plan(graph_file, tmp_path, seeds=2), 1) == first


def test_what_does_not_belong_together_is_refused(graph_file: Path, tmp_path: Path) -> None:
    scope_study(plan(graph_file, tmp_path, seeds=1), 1)
    with pytest.raises(UGCLError, match="choose another `out`"):
        scope_study(plan(graph_file, tmp_path, splits=4), 1)
    scope_study(plan(graph_file, tmp_path, seeds=2), 1)
    for seeds, max_n in ((1, 1), (2, 0)):
        with pytest.raises(UGCLError, match="choose another `out`"):
            scope_study(plan(graph_file, tmp_path, seeds=seeds), max_n)
    with pytest.raises(UGCLError, match="one variant, not 2"):
        scope_study(plan(graph_file, tmp_path, variants=[TINY, TINY]), 1)


def test_other_labels_are_scored_anew(graph_file: Path, tmp_path: Path) -> None:
    first = scope_study(plan(graph_file, tmp_path, seeds=1), 1)
    graph = load_graph(graph_file)
    assert graph.labels is not None
    shuffled = np.random.default_rng(0).permutation(graph.labels)
    replace(graph, labels=shuffled, notes=()).save(graph_file)
    again = scope_study(plan(graph_file, tmp_path, seeds=1), 1)
    assert again["scopes"] != first["scopes"]


def test_the_command(graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "scopes.json"), "--runs", str(tmp_path / "runs")]
    few = ["--seeds", "1", "--splits", "2", "--preset", "fast:hidden=8,epochs=2"]
    assert main(["study", "run", str(graph_file), *out, *few, "--scopes", "2"]) == 0
    assert "regret" in capsys.readouterr().out
