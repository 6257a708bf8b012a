from __future__ import annotations

from pathlib import Path

import pytest

from commands import SMALL, ugcl


@pytest.fixture
def run(graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert ugcl("train", graph_file, "--out", tmp_path / "run", *SMALL) == 0
    capsys.readouterr()
    return tmp_path / "run"
