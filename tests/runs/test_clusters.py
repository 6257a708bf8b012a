"""Clusters of embeddings without labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from commands import fails, ugcl
from small_runs import files_run
from ugcl import UGCLError
from ugcl.data import GraphFiles
from ugcl.runs.clusters import find_clusters


def blobs(count: int = 4, size: int = 40, width: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    sizes = [size + 10 * i for i in range(count)]
    members = np.repeat(np.arange(count), sizes)
    rows = np.eye(width)[members] + rng.normal(0, 0.1, (members.size, width))
    return (rows * rng.uniform(1, 5, (members.size, 1))).astype(np.float32), members


@pytest.mark.parametrize("algorithm", ["kmeans", "hdbscan", "leiden"])
@pytest.mark.parametrize("sparse", [False, True])
def test_separate_clusters_are_found(algorithm: str, sparse: bool) -> None:
    if algorithm == "leiden":
        pytest.importorskip("sknetwork")
    rows, members = blobs()
    found = find_clusters(sp.csr_array(rows) if sparse else rows, algorithm=algorithm)
    assert adjusted_rand_score(found.members, members) > 0.98
    assert found.sizes == sorted(found.sizes, reverse=True)
    assert len(found.sizes) == 4
    assert found.silhouette is not None
    assert found.silhouette > 0.8
    again = find_clusters(sp.csr_array(rows) if sparse else rows, algorithm=algorithm)
    np.testing.assert_array_equal(found.members, again.members)


def test_auto_takes_the_largest_silhouette_and_k_is_taken() -> None:
    rows, _ = blobs()
    found = find_clusters(rows)
    assert max(found.tried, key=lambda k: found.tried[k]) == len(found.sizes) == 4
    assert len(find_clusters(rows, 7).sizes) == 7
    for k in (0, len(rows) + 1):
        with pytest.raises(UGCLError, match="`k` must be from 1"):
            find_clusters(rows, k)
    assert find_clusters(rows, 1).silhouette is None
    assert find_clusters(np.zeros((5, 3), dtype=np.float32)).sizes == [5]
    assert find_clusters(np.ones((1, 3), dtype=np.float32)).sizes == [1]


def test_the_command_writes_a_table(
    files: GraphFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = files_run(files, tmp_path / "run")
    out = tmp_path / "clusters.parquet"
    assert ugcl("cluster", run.path, "--k", "3", "--out", out, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    table = pd.read_parquet(out)
    assert table["id"].tolist() == run.ids().tolist()
    assert table["cluster"].value_counts().sort_index().tolist() == printed["sizes"]
    assert printed["clusters"] == 3
    assert ugcl("cluster", run.path, "--out", tmp_path / "c.csv") == 0
    assert "silhouette: " in capsys.readouterr().out
    assert list(pd.read_csv(tmp_path / "c.csv").columns) == ["id", "cluster"]
    assert "must end in .parquet or .csv" in fails(
        capsys, "cluster", run.path, "--out", tmp_path / "c.npy"
    )
    for k in ("many", "0", "41"):
        assert "--k must be" in fails(capsys, "cluster", run.path, "--k", k, "--out", out)
    assert "leave out --k" in fails(
        capsys, "cluster", run.path, "--k", "3", "--algorithm", "hdbscan", "--out", out
    )
