"""Training that cannot fit into memory is refused before it starts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ugcl import GRACE, Embedder, Graph, UGCLError, fit, load_graph
from ugcl.data import sbm_graph
from ugcl.engine import requirements
from ugcl.engine.requirements import FORCE, TOLERANCE, memory_limits, num_bytes, required_bytes
from ugcl.methods import METHODS, TrainingSettings

UNDER_6_GB = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
from ugcl.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
@pytest.mark.parametrize("method", ["multiscope", "dgi", "deepwalk"])
def test_a_process_with_6_gb_refuses_what_needs_more(method: str, tmp_path: Path) -> None:
    sbm_graph(nodes=100_000, degree=4, features=16).save(tmp_path / "g.npz", compressed=False)
    words = ["train", "g.npz", "--method", method, "--hidden", "100000", "--out", "run"]
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", UNDER_6_GB, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert time.monotonic() - started < 30  # mostly imports
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"ugcl: {method} with --hidden 100000 needs about " in done.stderr
    assert " are available (address space, ulimit -v): use a smaller --hidden" in done.stderr
    assert not (tmp_path / "run").exists()


def limit(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    monkeypatch.setattr(requirements, "held_bytes", lambda _: 0)
    monkeypatch.setattr(requirements, "memory_limits", lambda: {"cgroup": int(size)})


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].trained])
def test_every_trained_method_is_refused_where_it_cannot_fit(
    name: str, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = METHODS[name]
    settings = method.resolve("fast", graph, {})
    assert isinstance(settings, TrainingSettings)
    needed = required_bytes(graph, method, settings)
    assert needed > num_bytes(graph)
    limit(monkeypatch, needed / TOLERANCE - 100)
    with pytest.raises(UGCLError, match=rf"^{name} .*needs about .* available \(cgroup\): use"):
        Embedder(name).fit(graph)


def test_what_may_fit_is_tried_and_so_is_everything_on_request(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, params = METHODS["grace"], {"epochs": 1, "hidden": 2000}
    settings = method.resolve("fast", graph, params)
    assert isinstance(settings, TrainingSettings)
    limit(monkeypatch, required_bytes(graph, method, settings) / TOLERANCE)
    GRACE(**params).fit(graph)
    limit(monkeypatch, 1000)
    with pytest.raises(UGCLError, match=f"use a smaller `hidden`, or set {FORCE}=1 to try it"):
        fit("grace", graph, **params)
    monkeypatch.setenv(FORCE, "1")
    fit("grace", graph, **params)


def test_controls_are_not_refused(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 1)
    fit("raw", graph)


def test_limits_are_those_of_the_machine() -> None:
    limits = memory_limits()
    if sys.platform == "linux":
        assert limits["free memory and swap"] > 2**20
    assert min(limits.values(), default=None) == requirements.available_memory()


@pytest.mark.parametrize("version", [1, 2])
def test_the_smallest_of_nested_cgroups_counts(version: int, tmp_path: Path) -> None:
    limits, used, cached, folder = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "memory"),
        2: ("memory.max", "memory.current", "inactive_file", ""),
    }[version]
    own = tmp_path / "own"
    own.write_text("4:memory:/outer/inner\n1:cpu:/\n" if version == 1 else "0::/outer/inner\n")
    for path, values in (("outer", (1000, 700, 200)), ("outer/inner", ("max", 600, 0))):
        group = tmp_path / folder / path
        group.mkdir(parents=True)
        for name, value in zip((limits, used), values, strict=False):
            (group / name).write_text(f"{value}\n")
        (group / "memory.stat").write_text(f"anon 5\n{cached} {values[2]}\n")
    assert list(requirements._cgroups(own, tmp_path)) == [500]


def recorded() -> list[dict[str, Any]]:
    """Announced memory and measured peaks, of fresh processes on an earlier day."""
    lines = Path(__file__).parents[2].joinpath("results/memory_estimates.jsonl").read_text("utf-8")
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize("row", recorded(), ids=lambda row: f"{row['method']}-{row['graph']}")
def test_the_announced_memory_is_near_the_peak(
    row: dict[str, Any], real_graph: Callable[[str], Graph]
) -> None:
    graph = load_graph("citeseer") if row["graph"] == "citeseer" else real_graph(row["graph"])
    method = METHODS[row["method"]]
    scaling = {"feature_scaling": "l2"}  # which is not the announced one, but as large
    settings = method.resolve("fast", graph, {"epochs": 3, **scaling})
    assert isinstance(settings, TrainingSettings)
    assert required_bytes(graph, method, settings) / 2**20 == pytest.approx(row["peak_mb"], rel=0.2)


def test_mapped_pages_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = sbm_graph(nodes=5000, degree=8, features=200)
    small.save_folder(tmp_path / "folder")
    mapped, method = Graph.open(tmp_path / "folder"), METHODS["ugcl"]
    settings = method.resolve("fast", small, {"hidden": 8, "sample": 10, "negatives": 5})
    assert isinstance(settings, TrainingSettings)
    whole = required_bytes(mapped, method, settings)
    assert whole == required_bytes(small, method, settings)
    monkeypatch.setattr(requirements, "LARGE_GRAPH", 1000)
    assert required_bytes(small, method, settings) == whole
    assert required_bytes(mapped, method, settings) < whole - num_bytes(small)
    every = settings.replace(sample="all")
    assert required_bytes(mapped, method, every) == required_bytes(small, method, every)


def test_other_memory_of_the_process_does_not_count(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "_resident_bytes", lambda: 2**40)
    monkeypatch.setattr(requirements, "memory_limits", lambda: {"cgroup": 1000})
    with pytest.raises(UGCLError, match="are available"):
        fit("grace", graph, epochs=1, hidden=2000)
