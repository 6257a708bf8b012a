from __future__ import annotations

import json
from pathlib import Path

import pytest

from ugcl import UGCLError
from ugcl.bench import bench_embed, bench_scaling, suite
from ugcl.bench.timing import exponent


def test_folder_that_cannot_be_written_is_an_error_before_any_measurement(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UGCLError, match="pass a folder"):
        suite.bench_suite(tmp_path / "file")


@pytest.mark.usefixtures("same_process")
def test_suite_writes_data_and_a_plot(
    saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "STEPS", ((saved, "fast", False), ("cora", "fast", False)))
    monkeypatch.setattr(suite, "bench_scaling", lambda: bench_scaling({"n": (1, 2)}))
    monkeypatch.setattr(suite, "bench_embed", lambda: bench_embed((5_000, 10_000)))
    monkeypatch.setattr("ugcl.bench.scaling.Problem.__init__.__defaults__", (400, 800, 100, 16, 2))
    out = tmp_path / "bench"
    result = suite.bench_suite(out, data_root=str(tmp_path))
    assert json.loads((out / "bench.json").read_text()) == result
    assert set(result["left_out"]) == {"cora"}
    assert result["scaling"]["n"]["sizes"] == [1, 2]
    embedding = result["embed"]
    assert len(embedding["seconds"]) == len(embedding["products_seconds"]) == 2
    assert all(seconds > 0 for seconds in embedding["products_seconds"])
    slope = exponent([5_000, 10_000], embedding["seconds"])
    assert embedding["beyond_cache_exponent"] == pytest.approx(slope)
    assert (out / "bench.png").read_bytes().startswith(b"\x89PNG")
