from __future__ import annotations

import json
from pathlib import Path

import pytest

from ugcl.cli import main


def test_first_and_second_order_walks_are_timed(
    graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", "walks", str(graph_file), "--walks", "2", "--length", "5"]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [(row["p"], row["q"]) for row in result["rows"]] == [(1, 1), (0.25, 4), (4, 0.25)]
    assert all(row["seconds"] > 0 for row in result["rows"])
    steps = {round(row["seconds"] * row["steps_per_second"]) for row in result["rows"]}
    assert len(steps) == 1
    assert main(arguments) == 0
    assert "2 walks of 5 nodes from every node of" in capsys.readouterr().out
