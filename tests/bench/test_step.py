from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from ugcl import Graph, UGCLError
from ugcl.bench import bench_step
from ugcl.bench.step import PARTS
from ugcl.cli import main

pytestmark = pytest.mark.usefixtures("same_process")


def test_measures_a_step(saved: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="ugcl")
    params = {"hidden": 24, "sample": 40, "negatives": "all", "scope": 3}
    result = bench_step(saved, "fast", params=params)
    assert (result["S"], result["D"], result["n"]) == (40, 24, 3)
    for key in ("mm_seconds", "step_mm", "loss_mm", "naive_mm"):
        assert result[key] > 0
    assert result["peak_bytes"] == 1000
    assert result["peak_arrays"] == pytest.approx(1000 / (4 * 40 * 24))
    assert tuple(result["parts_mm"]) == PARTS
    assert len(caplog.messages) == 3


def test_command_prints_the_measurements(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--hidden", "16", "--sample", "30", "--negatives", "5", "--no-naive", "--json"]
    assert main(["bench", "step", saved, "--method", "ugcl", *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"mm_seconds", "step_mm", "loss_mm", "naive_mm", "peak_bytes"} <= set(result)
    assert result["naive_mm"] is None
    assert result["machine"]["torch"] == torch.__version__


def test_graph_with_one_node_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    Graph.from_edges(np.zeros((0, 2), dtype=int), np.ones((1, 3))).save(path)
    with pytest.raises(UGCLError, match="one node"):
        bench_step(str(path), "fast")
