from __future__ import annotations

import json
from pathlib import Path

import pytest

from ugcl.cli import main


@pytest.mark.usefixtures("same_process")
def test_each_method_is_measured_once(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "memory.json"
    command = ["bench", "memory", saved, "--out", str(out), "--preset", "fast", "--methods"]
    assert main([*command, "ggd", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["method"], row["preset"], row["graph"]) == ("ggd", "fast", saved)
    assert row["peak_bytes"] == 1000
    before = row["step_seconds"]
    assert main([*command, "ggd,dgi"]) == 0
    assert "dgi" in capsys.readouterr().out
    first, second = json.loads(out.read_text())["rows"]
    assert (first["step_seconds"], second["method"]) == (before, "dgi")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--methods", "gdi"], "no method called 'gdi'"),
        (["--preset", "authors"], "no preset called 'authors'"),
        (["no-such-graph"], "no-such-graph"),
    ],
)
def test_arguments_are_validated_before_any_measurement(
    saved: str, tmp_path: Path, wrong: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "memory.json"
    assert main(["bench", "memory", saved, *wrong, "--out", str(out)]) != 0
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("text", ["[1]", "{}", '{"machine": {}, "rows": [{"method": "ggd"}]}'])
def test_output_file_of_another_kind_is_not_overwritten(
    saved: str, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "other.json"
    out.write_text(text)
    assert main(["bench", "memory", saved, "--methods", "ggd", "--out", str(out)]) != 0
    assert "is not a result of this command: choose another --out" in capsys.readouterr().err
    assert out.read_text() == text
