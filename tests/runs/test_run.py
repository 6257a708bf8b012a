from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, UGCLError
from ugcl.runs import Run

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}

trained = partial(trained_run, params=SMALL)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("embeddings.npy", b"damaged"),
        ("embeddings.npy", None),
        ("model.safetensors", b"damaged"),
        ("metrics.json", b""),
        ("metrics.json", b"{}"),
        ("metrics.json", b"[]"),
    ],
)
def test_damaged_files_are_errors(
    graph_file: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    run = trained(graph_file, tmp_path / "run")
    if content is None:
        np.save(run.path / name, np.full((40, 8), np.nan, dtype=np.float32))
    else:
        (run.path / name).write_bytes(content)
    with pytest.raises(UGCLError, match=f"{name} cannot be read .* train again with `config`"):
        (run.embeddings if name == "embeddings.npy" else run.model)()


def test_folders_that_are_not_runs_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match="is not a run folder"):
        Run.open(tmp_path)
    (tmp_path / "config.toml").write_text("method = 1")
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run"):
        Run.open(tmp_path)
    (tmp_path / "config.toml").write_text("= nonsense")
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run"):
        Run.open(tmp_path)


def test_embedding_the_runs_own_graph_gives_its_embeddings(
    graph: Graph, graph_file: Path, tmp_path: Path
) -> None:
    run = trained(graph_file, tmp_path / "run")
    np.testing.assert_array_equal(run.embed(graph), run.embeddings())
    with pytest.raises(UGCLError, match=r"5 features but .* was trained on 12"):
        run.embed(make_graph(10, num_features=5))
