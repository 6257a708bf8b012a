from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import make_graph
from ugcl import UGCLError, load_graph
from ugcl.cli import main
from ugcl.engine import Callback, TrainingState
from ugcl.evaluation import evaluate_run
from ugcl.evaluation.classification import control_accuracies, random_splits
from ugcl.runs import Run
from ugcl.study import Plan, Variant, accuracy_study, paired_study, published_accuracy
from ugcl.study.summary import combined_difference, mean_and_deviation

TINY = Variant("fast", {"hidden": 8, "epochs": 3, "lr": 0.01})


def plan(graph_file: Path, tmp_path: Path, **fields: Any) -> Plan:
    small: dict[str, Any] = {"variants": [TINY], "seeds": 2, "splits": 3}
    return Plan(str(graph_file), tmp_path / "result.json", tmp_path / "runs", **small | fields)


def study(graph_file: Path, tmp_path: Path, **fields: Any) -> dict[str, Any]:
    return accuracy_study(plan(graph_file, tmp_path, **fields))


def test_a_study_is_data_with_controls_and_seeds(graph_file: Path, tmp_path: Path) -> None:
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
    assert set(honest["controls"]) == {"raw", "smooth", "pca", "untrained"}
    row = result["rows"][0]
    assert len(row["accuracy_by_split"]) == row["splits"] == 3
    assert set(honest["differences"]) == set(honest["controls"])
    assert row["variant"] == honest["variant"] == "fast:hidden=8,epochs=3,lr=0.01"


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


def test_a_study_stops_and_keeps_what_it_has(graph_file: Path, tmp_path: Path) -> None:
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


def test_other_settings_and_other_files_are_refused(
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
        accuracy_study(Plan("citeseer", tmp_path / "result.json", tmp_path / "runs"))
    for text in ("[]", "{}", '{"rows": [{}]}'):
        (tmp_path / "result.json").write_text(text)
        with pytest.raises(UGCLError, match="is not a result of this command"):
            study(graph_file, tmp_path)
    with pytest.raises(UGCLError, match="is a folder"):
        accuracy_study(Plan("citeseer", tmp_path, tmp_path / "runs"))


def test_the_command_prints_a_table(
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--preset", "fast:hidden=8,epochs=2", "--seeds", "1", "--splits", "2"]
    assert main(["study", str(graph_file), "--out", "result.json", *options]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"raw +smooth +pca +untrained +gain over control", printed)
    assert json.loads(Path("result.json").read_text())["rows"][0]["settings"]["hidden"] == 8
    assert main(["study", "citeseer", "--out", "x.json", "--preset", "fast:hidden"]) == 2
    assert "write it as NAME=VALUE" in capsys.readouterr().err


def test_a_graph_without_labels_is_refused_before_training(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_graph(labels=None, splits={}).save(graph_file)
    monkeypatch.setattr("ugcl.study.plan.train_run", lambda *a, **k: pytest.fail("trained"))
    with pytest.raises(UGCLError, match="no labels"):
        study(graph_file, tmp_path)


def test_variants() -> None:
    assert str(Variant.parse("fast")) == "fast"
    parsed = Variant.parse("authors:hidden=64, self-loops=1,negatives=all")
    assert parsed == Variant("authors", {"hidden": 64, "self_loops": 1.0, "negatives": "all"})
    assert Variant.parse(str(parsed)) == parsed
    several = Variant.parse_list("fast, authors:hidden=64,epochs=9,paper:scope=2,fast:lr=1")
    listed = ["fast", "authors:hidden=64,epochs=9", "paper:scope=2", "fast:lr=1.0"]
    assert [str(variant) for variant in several] == listed
    for text, complaint in (
        ("quick", "no preset called 'quick'"),
        ("fast:hiden=3", "did you mean 'hidden'"),
        ("fast:hidden=0", "hidden"),
        ("fast:ball", "NAME=VALUE"),
    ):
        with pytest.raises(UGCLError, match=complaint):
            Variant.parse(text)


def test_seeds_share_splits_and_nodes() -> None:
    """The same result from two seeds is no surer than from one; their spread comes on top."""
    one = {"mean": 1.0, "error_splits": 0.3, "error_nodes": 0.4, "by_split": [0.0] * 20}
    alone, twice = combined_difference([one]), combined_difference([one, one])
    assert alone == twice
    assert alone["mean"] == 1.0
    assert alone["ci95"][1] - 1.0 == pytest.approx(0.5 * 1.97, abs=0.02)
    wide = combined_difference([one, one | {"mean": 3.0}])
    assert wide["mean"] == 2.0
    assert wide["ci95"][0] < 0


def test_published_figures() -> None:
    assert published_accuracy("ugcl", "citeseer") == (74.1, 0.2)
    assert published_accuracy("gcn", "cora") == (81.5, None)
    assert published_accuracy("gmi", "coauthor-cs") is None
    assert published_accuracy("subg-con", "cora") == (83.5, 0.5)
    assert published_accuracy("ugcl", "mine") is None


def test_deviation_is_that_of_a_sample() -> None:
    assert mean_and_deviation([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert mean_and_deviation([1.0]) == (1.0, None)


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
    make_graph(50, seed=9).save(graph_file)
    with pytest.raises(UGCLError, match=r"fingerprint .* instead of"):
        paired(graph_file, tmp_path)


def test_a_variant_that_is_named_twice_counts_once(graph_file: Path, tmp_path: Path) -> None:
    result = paired(graph_file, tmp_path, variants=[TINY, TINY], seeds=1)
    assert len(result["rows"]) == 1


def test_nothing_is_compared_on_a_graph_without_labels(tmp_path: Path) -> None:
    path = tmp_path / "unlabelled.npz"
    make_graph(30, labels=None, splits={}).save(path)
    with pytest.raises(UGCLError, match="no labels"):
        paired(path, tmp_path)
    assert not (tmp_path / "runs").exists()


def test_the_command_compares(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--seeds", "1", "--splits", "2", "--runs", str(tmp_path / "runs")]
    out = ["--out", str(tmp_path / "paired.json")]
    settings = ["--preset", "fast:hidden=8,epochs=2", "--against", "fast:hidden=8,epochs=1"]
    assert main(["study", str(graph_file), *out, *settings, *arguments]) == 0
    assert "against fast:hidden=8,epochs=1" in capsys.readouterr().out


def test_a_method_that_learns_from_labels_is_scored_by_its_predictions(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--method", "gcn", "--preset", "fast:hidden=8,epochs=3", "--seeds", "2"]
    assert main(["study", str(graph_file), "--out", "a.json", "--splits", "2", *options]) == 0
    result = json.loads(Path("a.json").read_text())
    assert [row["protocol"] for row in result["rows"]] == ["predictions"] * 2
    assert result["summary"][0]["controls"].keys() == {"raw", "smooth", "pca", "untrained"}


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("gcn", ["--against", "fast:hidden=8"], "probes embeddings on many splits, but gcn"),
        ("gcn", ["--scopes", "2"], "probes embeddings on many splits, but gcn learns"),
        ("deepwalk", ["--scopes", "2"], "varies the readout scope, but deepwalk has none"),
        ("raw", ["--tune-scopes", "2"], "varies the readout scope, but raw has none"),
    ],
)
def test_a_study_that_does_not_suit_the_method_is_refused(
    method: str,
    option: list[str],
    message: str,
    graph_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = str(tmp_path / "a.json")
    assert main(["study", str(graph_file), "--out", out, "--method", method, *option]) == 2
    assert capsys.readouterr().err.startswith(f"ugcl: this study {message}")


def test_a_comparison_has_the_controls(
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--preset", "fast:hidden=8,epochs=2", "--against", "fast:hidden=8,epochs=1"]
    options += ["--seeds", "1", "--splits", "2"]
    assert main(["study", str(graph_file), "--out", "b.json", *options]) == 0
    controls = json.loads(Path("b.json").read_text())["controls"]
    assert controls.keys() == {"raw", "smooth", "pca"}
    graph = load_graph(graph_file)
    assert controls == control_accuracies(graph, random_splits(graph, 2))
    assert f"controls on these splits: raw {controls['raw']:.1f}, " in capsys.readouterr().out
