"""Studies of a method from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from own_methods import PARAMS, forget_methods, write_method
from ugcl import UGCLError
from ugcl.study import Plan, Variant, accuracy_study, paired_study
from ugcl.study.scopes import scope_study


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_methods(monkeypatch)
    monkeypatch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_method(tmp_path / "mix.py")


def plan(graph_file: Path, path: Path, name: str, seeds: int = 1) -> Plan:
    folder = graph_file.parent
    text = "fast:" + ",".join(f"{setting}={value}" for setting, value in PARAMS.items())
    variants = [Variant.parse(text, str(path))]
    out = folder / f"{name}.json"
    return Plan(str(graph_file), out, folder / "runs", str(path), variants, seeds, splits=2)


def test_a_study_names_the_method_and_its_contents(graph_file: Path, path: Path) -> None:
    result = accuracy_study(plan(graph_file, path, "accuracy"))
    assert result["method"] == "mix"
    assert len(result["method_sha256"]) == 64
    assert result["published"] is None
    assert [row["protocol"] for row in result["rows"]] == ["honest", "paper"]
    assert [folder.name for folder in (graph_file.parent / "runs").iterdir()] == [
        "mix-fast+hidden=8,epochs=3-0"
    ]


def test_a_study_of_a_changed_file_is_not_continued(
    graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accuracy_study(plan(graph_file, path, "accuracy"))
    forget_methods(monkeypatch)
    assert len(accuracy_study(plan(graph_file, path, "accuracy", 2))["rows"]) == 4
    write_method(path, more="# changed\n")
    forget_methods(monkeypatch)
    with pytest.raises(UGCLError, match=r"accuracy\.json holds a result with method_sha256 '"):
        accuracy_study(plan(graph_file, path, "accuracy", 3))
    with pytest.raises(UGCLError, match="another version of the method 'mix'"):
        accuracy_study(plan(graph_file, path, "other"))


def test_variants_and_scopes_of_it_are_compared(graph_file: Path, path: Path) -> None:
    with pytest.raises(UGCLError, match="there is no setting called 'temprature'; did you mean 't"):
        Variant.parse("fast:temprature=0.1", str(path))
    against = Variant.parse("fast:hidden=8,epochs=0", str(path))
    result = paired_study(plan(graph_file, path, "paired"), against)
    assert (result["method"], len(result["rows"])) == ("mix", 1)
    scopes = scope_study(plan(graph_file, path, "scopes"), 1)
    assert [row["n"] for row in scopes["scopes"]] == [0, 1]
