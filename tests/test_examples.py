"""The examples run as they are."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from ugcl.methods import METHODS

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ugcl.methods.registry.METHODS", {**METHODS})
    monkeypatch.setattr(sys, "argv", [path.name, "--epochs", "2"])
    runpy.run_path(str(path), run_name="__main__")
    last = capsys.readouterr().out.splitlines()[-1]
    accuracy = float(last.partition("accuracy ")[2].partition(" %")[0])
    assert accuracy > 50


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} == {"grace", "own_graph", "own_method"}
