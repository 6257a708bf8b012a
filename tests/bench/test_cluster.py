from __future__ import annotations

import json
from pathlib import Path

import pytest

from ugcl._utils.errors import UGCLError
from ugcl.bench import bench_cluster
from ugcl.cli import bench_output, main


@pytest.mark.slow
def test_one_and_two_ranks_are_timed(graph_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = ["--method", "ugcl", "--sample", "20", "--hidden", "8", "--steps", "5"]
    assert main(["bench", "cluster", str(graph_file), *size, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    one, two = result["rows"]
    assert (one["ranks"], two["ranks"]) == (1, 2)
    assert one["communication"] == 0 < two["communication"] < 1
    assert all(row["steps_per_second"] > 0 for row in result["rows"])
    bench_output.print_cluster(result)
    assert "5 steps of ugcl on" in capsys.readouterr().out


@pytest.mark.slow
def test_a_method_on_the_whole_graph_is_an_error(graph_file: Path) -> None:
    with pytest.raises(UGCLError, match=r"^grace does not train on samples of nodes"):
        bench_cluster(str(graph_file), method="grace", steps=2)
