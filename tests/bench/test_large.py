"""Tests of `ugcl bench scale`: from files to embeddings as graphs grow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import fails
from ugcl import UGCLError
from ugcl.bench import Scale, bench_scale
from ugcl.bench.large import copy_bandwidth

SMALL = Scale(degree=6, features=8, sample=100, hidden=16, steps=3, memory="1GB")


def test_the_bandwidth_is_that_of_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.bench.large.COPIED", 2**20)
    assert 1e8 < copy_bandwidth(3) < 1e13


@pytest.mark.slow
def test_stages_of_growing_graphs_are_measured(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    out = tmp_path / "scale"
    result = bench_scale(out, (300, 600), scale=SMALL, folder=tmp_path)
    assert [row["nodes"] for row in result["rows"]] == [300, 600]
    assert [row["edges"] for row in result["rows"]] == [900, 1800]
    for row in result["rows"]:
        entries = 2 * row["edges"] + row["nodes"]
        assert row["embed"]["moved_bytes"] == 4 * 16 * (2 * entries + row["nodes"])
        for stage in ("convert", "train", "embed"):
            measured = row[stage]
            assert measured["seconds"] > 0
            assert 2**20 < measured["anonymous_bytes"] <= measured["resident_bytes"]
    assert set(result["exponents"]) == {"convert", "train", "embed"}
    stored = json.loads((out / "scale.json").read_text("utf-8"))
    assert stored["rows"] == result["rows"]
    assert (out / "scale.png").stat().st_size > 10_000
    assert [path.name for path in tmp_path.iterdir()] == ["scale"]


@pytest.mark.slow
def test_a_stage_that_fails_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    tiny = Scale(degree=6, features=8, sample=100, hidden=16, steps=3, memory="1KB")
    with pytest.raises(UGCLError, match="1KB"):
        bench_scale(tmp_path / "scale", (300,), scale=tiny, folder=tmp_path)


def test_sizes_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "scale"
    assert "100" in fails(capsys, "bench", "scale", "--out", out, "--nodes", "5")
    assert not (tmp_path / "scale").exists()
