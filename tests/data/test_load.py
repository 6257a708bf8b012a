from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl import UGCLError, load_graph
from ugcl.data import DATASETS

PACKAGE = Path(__file__).parents[2] / "src/ugcl/data"


def test_the_embedded_file_is_the_recorded_one() -> None:
    digest = hashlib.sha256((PACKAGE / "citeseer.npz").read_bytes()).hexdigest()
    assert digest in (PACKAGE / "citeseer.md").read_text("utf-8")


def test_embedded_citeseer() -> None:
    graph = load_graph("CiteSeer")
    listed = DATASETS["citeseer"]
    counts = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert counts == (listed.nodes, listed.edges, listed.features, listed.classes)
    assert {part: len(nodes) for part, nodes in graph.splits.items()} == {
        "train": 120,
        "val": 500,
        "test": 1000,
    }
    assert graph.labels is not None
    assert np.bincount(graph.labels[graph.splits["train"]]).tolist() == [20] * 6
    unlabelled = np.flatnonzero(graph.labels == -1)
    assert unlabelled.size == 15
    assert graph.features[unlabelled].nnz == 0
    assert sp.issparse(graph.features)


@pytest.mark.parametrize("name", DATASETS)
def test_real_data_sets(name: str, raw_data: Callable[[str], Path]) -> None:
    listed = DATASETS[name]
    graph = load_graph(name, data_root=raw_data(listed.files[0]))
    counts = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert counts == (listed.nodes, listed.edges, listed.features, listed.classes)
    if listed.embedded:
        assert graph.fingerprint == load_graph(name).fingerprint


@pytest.fixture
def planetoid(tmp_path: Path) -> Path:
    """Six known nodes and three test nodes, 6, 9 and 8: node 7 is in a gap, as CiteSeer's are."""
    folder = tmp_path / "Planetoid/Cora/raw"
    folder.mkdir(parents=True)
    eye = np.eye(2, dtype=np.int32)
    parts = {
        "x": sp.csr_matrix(np.eye(6, 3)[:2]),
        "y": eye,
        "allx": sp.csr_matrix(np.arange(18.0).reshape(6, 3)),
        "ally": eye[[0, 1, 0, 1, 0, 1]],
        "tx": sp.csr_matrix(np.array([[60.0, 0, 0], [90.0, 0, 0], [80.0, 0, 0]])),
        "ty": eye[[1, 0, 1]],
        "graph": defaultdict(list, {0: [1, 1, 0], 1: [0], 6: [9], 9: [6, 8], 8: [9]}),
    }
    for part, value in parts.items():
        (folder / f"ind.cora.{part}").write_bytes(pickle.dumps(value, protocol=4))
    (folder / "ind.cora.test.index").write_text("6\n9\n8\n")
    return folder


def test_planetoid_files(planetoid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.planetoid.NUM_VALIDATION", 3)
    monkeypatch.setenv("UGCL_DATA", str(planetoid.parents[2]))
    graph = load_graph("cora")
    assert graph.num_nodes == 10
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 0, 1, 0, 1, 1, -1, 1, 0]
    assert graph.features.toarray()[6:, 0].tolist() == [60, 0, 80, 90]
    assert {part: nodes.tolist() for part, nodes in graph.splits.items()} == {
        "train": [0, 1],
        "val": [2, 3, 4],
        "test": [6, 8, 9],
    }
    assert set(zip(*map(list, graph.adjacency.nonzero()), strict=True)) == {
        (0, 1),
        (1, 0),
        (6, 9),
        (9, 6),
        (8, 9),
        (9, 8),
    }


def test_planetoid_files_that_are_missing_are_named(planetoid: Path) -> None:
    (planetoid / "ind.cora.tx").unlink()
    with pytest.raises(UGCLError, match=r"ind\.cora\.tx missing in"):
        load_graph("cora", planetoid.parents[2])


class Malicious:
    def __reduce__(self) -> tuple:
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize("value", [Malicious(), [Malicious()], Path])
def test_a_pickle_that_asks_for_code_is_refused(
    planetoid: Path, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planetoid)
    (planetoid / "ind.cora.graph").write_bytes(pickle.dumps(value))
    with pytest.raises(UGCLError, match="is not a Planetoid file"):
        load_graph("cora", planetoid.parents[2])
    assert not (planetoid / "executed").exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x02garbage", b"(lp0\n"])
def test_a_damaged_planetoid_file_is_refused(planetoid: Path, content: bytes) -> None:
    (planetoid / "ind.cora.allx").write_bytes(content)
    with pytest.raises(UGCLError, match="is not a Planetoid file"):
        load_graph("cora", planetoid.parents[2])


def test_planetoid_files_with_other_contents_are_told(planetoid: Path) -> None:
    (planetoid / "ind.cora.test.index").write_text("hello")
    with pytest.raises(UGCLError, match="are not those of cora"):
        load_graph("cora", planetoid.parents[2])
    (planetoid / "ind.cora.test.index").write_text("6\n9\n8\n")
    (planetoid / "ind.cora.allx").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(UGCLError, match="are not those of cora"):
        load_graph("cora", planetoid.parents[2])


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UGCLError, match="did you mean 'citeseer'"):
        load_graph("citeser")
    with pytest.raises(UGCLError, match="there are: cora, citeseer"):
        load_graph("zzz")


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match="there is no file"):
        load_graph(tmp_path / "missing.npz")
    with pytest.raises(UGCLError, match="is a folder"):
        load_graph(tmp_path)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04broken"])
def test_a_file_that_is_not_a_graph_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "edges.csv"
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
    with pytest.raises(UGCLError, match="in the format 'ugcl-graph-9'"):
        load_graph(tmp_path / "newer.npz")
