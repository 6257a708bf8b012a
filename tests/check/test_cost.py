from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ugcl import Graph, load_graph
from ugcl.bench.child import in_fresh_process
from ugcl.check import diagnose, estimate_cost
from ugcl.data import sbm_graph
from ugcl.engine import resolve_settings
from ugcl.engine.requirements import LIBRARIES, TOLERANCE, required_bytes
from ugcl.methods import TrainingSettings, get_method


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "nodes"),
    [("ugcl", None), ("ugcl", 100_000), ("multiscope", None), ("multiscope", 10_000)],
)
def test_estimated_memory_is_near_the_measured(
    method: str, nodes: int | None, tmp_path: Path
) -> None:
    """A graph whose parameters are large, and one whose embeddings are."""
    name = "citeseer"
    if nodes is not None:
        name = str(tmp_path / "g.npz")
        sbm_graph(nodes=nodes, degree=8, features=32).save(name, compressed=False)
    graph, params = load_graph(name), {"hidden": 256, "scope": 2}
    settings, _ = resolve_settings(method, graph, "fast", params)
    assert isinstance(settings, TrainingSettings)
    measured = in_fresh_process(
        "train", graph=name, method=method, params=params, threads=1, steps=2, then_embed=True
    )["peak_bytes"]
    if measured is None:
        pytest.skip("this system does not tell how much memory a process held")
    estimate = estimate_cost(graph, method, settings).memory_bytes
    assert 0.5 < (estimate - LIBRARIES) / measured < 2


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ggd", "gae", "gcn"])
def test_no_training_that_fits_is_refused(method: str, tmp_path: Path) -> None:
    """A graph whose hidden layers are large: most estimates are lower than what is needed."""
    graph = sbm_graph(nodes=5000, degree=8, features=32)
    nodes = np.arange(graph.num_nodes)
    parts = {"train": nodes[:500], "val": nodes[500:600], "test": nodes[600:]}
    replace(graph, splits=parts).save(tmp_path / "g.npz", compressed=False)
    graph, params = load_graph(str(tmp_path / "g.npz")), {"hidden": 512}
    settings, _ = resolve_settings(method, graph, "fast", params)
    measured = in_fresh_process(
        "train",
        graph=str(tmp_path / "g.npz"),
        method=method,
        params=params,
        threads=1,
        steps=2,
        then_embed=True,
    )["peak_bytes"]
    if measured is None:
        pytest.skip("this system does not tell how much memory a process held")
    assert isinstance(settings, TrainingSettings)
    estimate = required_bytes(graph, get_method(method), settings)
    assert estimate - LIBRARIES < TOLERANCE * measured


def test_too_little_memory_skips_the_timing(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.check.cost.available_memory", lambda: 1000)
    monkeypatch.setattr("ugcl.check.cost._step_seconds", lambda *_: pytest.fail("tried"))
    cost = diagnose(graph).cost
    assert cost is not None
    assert not cost.fits
    assert cost.seconds is None
