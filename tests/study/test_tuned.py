from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ugcl import UGCLError, load_graph
from ugcl.cli import main
from ugcl.evaluation import linear_probe
from ugcl.evaluation.classification import random_splits
from ugcl.runs import Run
from ugcl.study import Plan, Variant, tuned_study

TINY = Variant("fast", {"hidden": 6, "epochs": 3})


def plan(graph_file: Path, tmp_path: Path, **fields: Any) -> Plan:
    small: dict[str, Any] = {"method": "dgi", "variants": [TINY], "seeds": 2, "splits": 2}
    return Plan(str(graph_file), tmp_path / "tuned.json", tmp_path / "runs", **small | fields)


def test_scopes_are_chosen_on_validation_nodes_split_by_split(
    graph_file: Path, tmp_path: Path
) -> None:
    result = tuned_study(plan(graph_file, tmp_path), ["component"], [1, 3])
    assert json.loads((tmp_path / "tuned.json").read_text()) == json.loads(json.dumps(result))
    assert result["own"] == {"scope": "graph", "readout_scope": 0}
    assert [row["scope"] for row in result["training"]["scopes"]] == ["graph", "component"]
    assert [row["scope"] for row in result["readout"]["scopes"]] == [0, 1, 3]
    graph = load_graph(graph_file)
    assert graph.labels is not None
    splits = random_splits(graph, 2)
    table = np.empty((2, 3, 2, 2))  # validation and test, scope, seed, split
    for seed in range(2):
        run = Run.open(tmp_path / "runs" / f"dgi-{TINY}-{seed}".replace(":", "+"))
        for i, scope in enumerate((0, 1, 3)):
            embeddings = run.embed(graph, readout_scope=scope)
            for j, split in enumerate(splits):
                score = linear_probe(embeddings, graph.labels, split)
                table[:, i, seed, j] = score.validation, score.accuracy
    best = table[0].mean(axis=1).argmax(axis=0)
    expected = [table[1, best, seed, np.arange(2)].mean() for seed in range(2)]
    readout = result["readout"]
    assert readout["accuracy"][0] == pytest.approx(np.mean(expected), abs=0.01)
    gain = np.mean(expected) - table[1, 0].mean()
    assert readout["gain"]["mean"] == pytest.approx(gain, abs=0.01)
    assert sum(readout["chosen"].values()) == 2
    assert readout["chosen"] == {
        str((0, 1, 3)[i]): int((best == i).sum()) for i in dict.fromkeys(best)
    }


def test_it_goes_on_where_it_was_stopped(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False] * 3 + [True] * 10)
    part = tuned_study(
        plan(graph_file, tmp_path, seeds=1, should_stop=lambda: next(answers)), [1], []
    )
    assert part["seeds"] == 0
    whole = tuned_study(plan(graph_file, tmp_path, seeds=1), [1], [])
    assert whole["seeds"] == 1
    monkeypatch.setattr("ugcl.study.outcomes.honest_outcomes", lambda *a: pytest.fail("scored"))
    assert tuned_study(plan(graph_file, tmp_path, seeds=1), [1], []) == whole


def test_what_does_not_belong_together_is_refused(graph_file: Path, tmp_path: Path) -> None:
    tuned_study(plan(graph_file, tmp_path, seeds=1), [], [])
    for fields in ({"splits": 3}, {"variants": [Variant("fast", {"hidden": 5})]}):
        with pytest.raises(UGCLError, match="choose another `out`"):
            tuned_study(plan(graph_file, tmp_path, seeds=1, **fields), [], [])
    with pytest.raises(UGCLError, match="one variant, not 2"):
        tuned_study(plan(graph_file, tmp_path, variants=[TINY, Variant("fast", {})]), [], [])


def test_the_command_prints_the_scopes(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "study run GRAPH --method grace --preset fast:hidden=4,epochs=2 --seeds 1 --splits 2"
    words += " --tune-scopes 0,2,component,graph --out OUT --runs RUNS"
    places = {
        "GRAPH": str(graph_file),
        "OUT": str(tmp_path / "t.json"),
        "RUNS": str(tmp_path / "runs"),
    }
    assert main([places.get(word, word) for word in words.split()]) == 0
    printed = capsys.readouterr().out
    assert "own: 0, readout 0" in printed
    assert "training component" in printed
    assert "readout 2" in printed
    assert "readout component" not in printed
    assert printed.count("chosen on validation nodes") == 2
