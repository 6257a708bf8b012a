from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from conftest import make_graph
from ugcl.bench import child, peer_child


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "graph.npz"
    make_graph(60, sparse=True).save(path)
    return str(path)


@pytest.fixture
def same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure in this process, which saves the imports of a new one; each peak is 1000 bytes."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        stdout = io.StringIO()
        with patch.object(sys, "argv", ["-c", *command[3:]]), contextlib.redirect_stdout(stdout):
            child.main()
        return subprocess.CompletedProcess(command, 0, stdout.getvalue(), "")

    monkeypatch.setattr(child, "subprocess", SimpleNamespace(run=run))
    for module in (child, peer_child):
        monkeypatch.setattr(module, "peak_above", lambda level: 1000)
