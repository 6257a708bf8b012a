from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conftest import make_graph
from small_runs import files_run, write_manifest
from ugcl import Graph, UGCLError
from ugcl.data import GraphFiles
from ugcl.runs.neighbors import nearest

rows_of_numbers = hnp.arrays(
    np.float32,
    st.tuples(st.integers(2, 12), st.integers(1, 4)),
    elements=st.integers(-3, 3).map(float),
)


@given(rows_of_numbers, st.integers(1, 15), st.integers(1, 200), st.booleans())
def test_the_nearest_are_the_formula(rows: np.ndarray, k: int, block: int, sparse: bool) -> None:
    node = len(rows) // 2

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        return float(a @ b / lengths) if lengths else 0.0

    expected = [cosine(rows[node], row) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.runs.neighbors.BLOCK", block)
        numbers, cosines = nearest(sp.csr_array(rows) if sparse else rows, node, k)
    assert node not in numbers
    assert len(numbers) == min(k, len(rows) - 1)
    np.testing.assert_allclose(cosines, [expected[i] for i in numbers], atol=1e-6)
    best = sorted((e for i, e in enumerate(expected) if i != node), reverse=True)[:k]
    np.testing.assert_allclose(cosines, best, atol=1e-6)


def test_neighbors_by_id_and_by_number(files: GraphFiles, tmp_path: Path) -> None:
    run = files_run(files, tmp_path / "run")
    found = run.neighbors("user-3", 5)
    numbers, cosines = nearest(run.embeddings(), 3, 5)
    assert [name for name, _ in found] == [f"user-{i}" for i in numbers]
    np.testing.assert_allclose([cosine for _, cosine in found], cosines, atol=1e-6)
    assert len(run.neighbors("user-3", 1000)) == 39
    with pytest.raises(UGCLError, match="called 'usr-3'; did you mean"):
        run.neighbors("usr-3")
    with pytest.raises(UGCLError, match="`k` must be at least 1"):
        run.neighbors("user-3", 0)
    make_graph().save(tmp_path / "g.npz")
    numbered = files_run(str(tmp_path / "g.npz"), tmp_path / "numbered")
    assert all(isinstance(name, int) for name, _ in numbered.neighbors(7, 3))
    assert numbered.neighbors("7", 3) == numbered.neighbors(7, 3)
    for strange in ("x", 40, "7.5"):
        with pytest.raises(UGCLError, match="there is no node called"):
            numbered.neighbors(strange)


def test_the_index_finds_nearly_the_same_and_is_kept(files: GraphFiles, tmp_path: Path) -> None:
    library = pytest.importorskip("usearch.index")
    run = files_run(files, tmp_path / "run")
    rows = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    np.save(run.path / "embeddings.npy", rows)
    write_manifest(run)
    exact = [run.neighbors(f"user-{i}", 5) for i in range(40)]
    found = [run.neighbors(f"user-{i}", 5, approximate=True) for i in range(40)]
    shared = [len({*a} & {*b}) for a, b in zip(exact, found, strict=True)]
    assert np.mean(shared) > 4.5
    index = run.path / "neighbors.usearch"
    written = index.stat().st_mtime_ns
    run.neighbors("user-1", approximate=True)
    assert index.stat().st_mtime_ns == written
    index.write_bytes(b"damaged")
    assert run.neighbors("user-1", 5, approximate=True)
    assert index.stat().st_size > 100
    assert index.name in json.loads((run.path / "manifest.json").read_text())["files"]
    foreign = library.Index(ndim=8, metric="cos", dtype="f16")
    foreign.add(np.arange(40), -rows)  # of the right size, but of other embeddings
    foreign.save(str(index))
    assert run.neighbors("user-1", 5, approximate=True) == found[1]


def test_sparse_embeddings_have_neighbours_and_no_index(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g.npz")
    run = files_run(str(tmp_path / "g.npz"), tmp_path / "raw", method="raw", params={})
    assert len(run.neighbors(0, 4)) == 4
    with pytest.raises(UGCLError, match="leave out `approximate`"):
        run.neighbors(0, 4, approximate=True)


def test_an_index_of_other_embeddings_is_built_again(files: GraphFiles, tmp_path: Path) -> None:
    pytest.importorskip("usearch.index")
    run = files_run(files, tmp_path / "run")
    run.neighbors("user-1", approximate=True)
    entry = json.loads((run.path / "manifest.json").read_text())["files"]
    assert entry["neighbors.usearch"]["of"] == entry["embeddings.npy"]["sha256"]
    index, written = run.path / "neighbors.usearch", (run.path / "neighbors.usearch").read_bytes()
    rows = np.random.default_rng(0).normal(size=run.embeddings().shape).astype(np.float32)
    np.save(run.path / "embeddings.npy", rows)
    write_manifest(run)
    manifest = json.loads((run.path / "manifest.json").read_text())
    manifest["files"]["neighbors.usearch"] = entry["neighbors.usearch"]
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    found = [name for name, _ in run.neighbors("user-1", 3, approximate=True)]
    assert found == [name for name, _ in run.neighbors("user-1", 3)]
    assert index.read_bytes() != written


def test_an_index_that_needs_too_much_memory_is_refused(
    files: GraphFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("usearch.index")
    run = files_run(files, tmp_path / "run")
    monkeypatch.setattr("ugcl.runs.neighbors.available_memory", lambda: 1000)
    with pytest.raises(UGCLError, match=r"an index of 40 nodes needs about .*`approximate`"):
        run.neighbors("user-1", approximate=True)
