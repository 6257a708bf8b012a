from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "torture.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the tool needs Linux")
def test_disturbed_trainings_end_with_the_same_bits() -> None:
    """The short version of `make torture`: kills, a full disk, two processes at once."""
    command = [sys.executable, str(TOOL), "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [line.rsplit(None, 1) for line in done.stdout.splitlines() if "same bits" in line]
    assert sum(int(count) for _, count in counts) >= 15
    for kind in ("killed at a file event", "killed at random", "disk full", "two at once"):
        assert any(line.startswith(kind) for line, _ in counts)
