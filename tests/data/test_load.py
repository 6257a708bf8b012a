from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ugcl import UGCLError, load_graph


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UGCLError, match="did you mean 'citeseer'"):
        load_graph("citeser")
    with pytest.raises(UGCLError, match="there are: cora, citeseer"):
        load_graph("zzz")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match="there is no file"):
        load_graph(tmp_path / "missing.npz")
    with pytest.raises(UGCLError, match="is not that of a graph, and has no tables"):
        load_graph(tmp_path)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04broken"])
def test_a_file_that_is_not_a_graph_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graph.npz"
    path.write_bytes(content)
    with pytest.raises(UGCLError, match="is not a graph that ugcl can read"):
        load_graph(path)


def test_damaged_graph_files_are_told(graph_file: Path) -> None:
    """Whatever bytes are changed, the answer is a graph or a sentence."""
    whole = graph_file.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=3):
            damaged[place] = rng.integers(256)
        graph_file.write_bytes(bytes(damaged))
        try:
            load_graph(graph_file)
        except UGCLError:
            refused += 1
    assert refused > 100


def test_indices_that_point_nowhere_are_refused(graph_file: Path) -> None:
    with np.load(graph_file) as archive:
        arrays = dict(archive)
    for name in ("adjacency_indices", "features_indices"):
        broken = arrays[name].astype(np.int64)
        broken[-1] = 50_000_000
        np.savez(graph_file, **arrays | {name: broken})
        with pytest.raises(UGCLError, match=r"is not a graph|not well formed"):
            load_graph(graph_file)


def test_other_npz_files_are_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(UGCLError, match="is not a graph"):
        load_graph(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", format=np.array({"a": 1}, dtype=object))
    with pytest.raises(UGCLError, match="is not a graph"):
        load_graph(tmp_path / "pickled.npz")
    np.savez(tmp_path / "newer.npz", format=np.array("ugcl-graph-9"))
    with pytest.raises(UGCLError, match="has format 9 of a newer version"):
        load_graph(tmp_path / "newer.npz")
