"""The controls `raw` and `smooth` as methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import make_graph
from small_runs import small_run
from ugcl import UGCLError
from ugcl.engine import fit
from ugcl.runs import prepare


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing"])
def test_damaged_sparse_embeddings_are_reported(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "graph.npz"
    make_graph(30).save(path)
    run = small_run(path, tmp_path / "run", "raw")
    (run.path / "embeddings.npz").write_bytes(damage)
    with pytest.raises(UGCLError, match=r"embeddings\.npz cannot be read .*: train again with"):
        run.embeddings()


def test_smooth_is_the_power_of_the_adjacency(large_file: Path, tmp_path: Path) -> None:
    params = {"scope": 3, "self_loops": 1.0}
    run = small_run(large_file, tmp_path / "run", "smooth", params=params)
    graph = run.config.load_graph()
    loops = graph.adjacency.toarray() + np.eye(90)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    normalised = root @ loops @ root
    expected = np.linalg.matrix_power(normalised, 3) @ graph.features.toarray()
    np.testing.assert_allclose(run.embeddings(), expected, rtol=1e-5)
    assert run.metrics()["scope"] == 3


@pytest.mark.parametrize("name", ["raw", "smooth"])
def test_features_have_nothing_to_train(name: str) -> None:
    graph = make_graph()
    model = fit(name, graph).model
    with pytest.raises(UGCLError, match=r"^SmoothedFeatures is not trained: use its embeddings"):
        model.loss_fn(graph, "cpu")
    with pytest.raises(UGCLError, match=f"^{name} is a control and .*: leave out `epochs`$"):
        fit(name, graph, epochs=3)


def test_smooth_can_choose_its_power_without_labels(large_file: Path, tmp_path: Path) -> None:
    config = prepare(str(large_file), method="smooth", params={"scope": "auto"}).config
    assert isinstance(config.settings.values()["scope"], int)
    assert config.scope_choice["settings"] == ["scope"]
