"""Memory of a method from a file, which a fresh process loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from own_methods import forget_methods, write_method
from ugcl import UGCLError
from ugcl.bench import bench_memory
from ugcl.methods import METHODS, get_method


def test_memory_of_a_method_from_a_file(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_methods(monkeypatch)
    path, out = write_method(tmp_path / "mix.py"), tmp_path / "memory.json"
    result = bench_memory([str(graph_file)], out, methods=[str(path)], preset="fast")
    (row,) = result["rows"]
    assert row["method"] == "mix"
    assert len(row["method_sha256"]) == 64
    assert row["step_seconds"] > 0
    monkeypatch.setattr("ugcl.bench.memory.in_fresh_process", lambda *a, **k: pytest.fail("again"))
    assert bench_memory([str(graph_file)], out, methods=[str(path)], preset="fast") == result
    monkeypatch.setitem(METHODS, "mine", replace(get_method(path), name="mine"))
    with pytest.raises(UGCLError, match="the method 'mine' exists in this process only"):
        bench_memory([str(graph_file)], out, methods=["mine"], preset="fast")
