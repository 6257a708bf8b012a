from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from raw_layouts import write_arxiv, write_cora, write_photo
from ugcl import Graph, UGCLError, load_graph


@pytest.fixture
def kept() -> Path:
    """Where parsed graphs are kept."""
    return Path(os.environ["XDG_CACHE_HOME"]) / "ugcl/parsed"


def parts(graph: Graph) -> dict[str, object]:
    """All that a graph holds, in a form that can be compared."""

    def plain(matrix: object) -> object:
        return matrix.toarray().tolist() if sp.issparse(matrix) else np.asarray(matrix).tolist()

    return {
        "adjacency": plain(graph.adjacency),
        "features": (sp.issparse(graph.features), plain(graph.features)),
        "types": (graph.adjacency.dtype, graph.features.dtype),
        "labels": plain(graph.labels),
        "splits": {part: plain(nodes) for part, nodes in graph.splits.items()},
        "rest": (graph.ids, graph.name, graph.weighted, graph.notes, graph.fingerprint),
    }


@pytest.mark.parametrize(
    ("name", "write"),
    [("cora", write_cora), ("amazon-photo", write_photo), ("ogbn-arxiv", write_arxiv)],
)
def test_a_kept_graph_is_the_one_that_was_read(
    name: str,
    write: Callable[[Path], Path],
    tmp_path: Path,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ugcl.data.planetoid.NUM_VALIDATION", 3)
    write(tmp_path)
    first = load_graph(name, tmp_path)
    assert first.notes
    assert [file.name.rpartition("-")[0] for file in kept.iterdir()] == [name]
    for reader in ("planetoid._graph", "gnn_benchmark._csr", "ogb._table"):
        monkeypatch.delattr(f"ugcl.data.{reader}")
    assert parts(load_graph(name, tmp_path)) == parts(first)


def test_other_raw_files_are_read(tmp_path: Path, kept: Path) -> None:
    write_photo(tmp_path)
    (kept / "amazon-photo-albums.npz").parent.mkdir(parents=True)
    (kept / "amazon-photo-albums.npz").touch()
    load_graph("amazon-photo", tmp_path)
    stamp = (tmp_path / "Amazon/Photo/raw/amazon_electronics_photo.npz").stat()
    file = write_photo(tmp_path, labels=np.array([0, 1, 1, 1]))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert file.stat().st_size == stamp.st_size
    assert load_graph("amazon-photo", tmp_path).num_classes == 2
    names = sorted(file.name for file in kept.iterdir())
    assert len(names) == 2, "the graph of the old file is removed"
    assert "amazon-photo-albums.npz" in names, "and nothing else"


def test_another_version_reads_again(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_photo(tmp_path)
    seen = set()
    for change in (
        lambda: None,
        lambda: monkeypatch.setattr("ugcl.data.cache.__version__", "99"),
        lambda: monkeypatch.setattr("ugcl.data.cache.READER_VERSION", "99"),
    ):
        change()
        load_graph("amazon-photo", tmp_path)
        (file,) = kept.iterdir()
        seen.add(file.name)
    assert len(seen) == 3


@pytest.mark.parametrize("content", [b"", b"garbage", None])
def test_a_damaged_graph_is_read_again(tmp_path: Path, kept: Path, content: bytes | None) -> None:
    write_photo(tmp_path)
    first = load_graph("amazon-photo", tmp_path)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert parts(load_graph("amazon-photo", tmp_path)) == parts(first)
    assert file.read_bytes() == whole, "and mended"


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_photo(tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_graph("amazon-photo", tmp_path).num_nodes == 4


def test_files_that_cannot_be_read_are_not_kept(tmp_path: Path, kept: Path) -> None:
    write_photo(tmp_path, labels=np.array([0]))
    with pytest.raises(UGCLError):
        load_graph("amazon-photo", tmp_path)
    assert not kept.exists()
