from __future__ import annotations

import json
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph, UGCLError, fit, load_graph
from ugcl._utils.linalg import dense_rows
from ugcl.graph import folder as folder_module
from ugcl.graph.folder import FolderWriter, index_dtype, is_graph_folder


def parts_of(graph: Graph) -> dict[str, Any]:
    """Everything that a graph holds, as plain arrays and values."""
    features = graph.features
    sparse = sp.issparse(features)
    arrays = {
        "indptr": graph.adjacency.indptr,
        "indices": graph.adjacency.indices,
        "weights": graph.adjacency.data,
        "features": dense_rows(features),
        **({"entries": features.data} if sparse else {}),
        **({} if graph.labels is None else {"labels": graph.labels}),
        **({} if graph.ids is None else {"ids": graph.ids}),
        **{f"split {part}": nodes for part, nodes in graph.splits.items()},
    }
    plain = (graph.name, graph.weighted, graph.notes, graph.class_names, graph.feature_names)
    return {name: np.asarray(array).tolist() for name, array in arrays.items()} | {"plain": plain}


def random_graph(seed: int, *, sparse: bool, weighted: bool, ids: str) -> Graph:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 30))
    features: npt.NDArray[Any] | sp.csr_array = rng.normal(size=(count, 3)).astype(np.float32)
    if sparse:
        features = sp.csr_array(np.where(features > 0, features, 0))
    edges = rng.integers(0, count, (int(rng.integers(0, 60)), 2))
    weights = rng.random(len(edges)) + 0.1 if weighted else None
    names = {
        "": None,
        "numbers": rng.permutation(count) * 7,
        "text": [f"é{i}" for i in range(count)],
    }
    labels = rng.integers(-1, 3, count)
    train = np.flatnonzero(labels >= 0)[:2]
    return Graph.from_edges(
        edges,
        features,
        weights=weights,
        labels=labels,
        splits={"train": train},
        ids=names[ids],
        name="random",
        feature_names=("a", "b", "c"),
    )


@given(
    seed=st.integers(0, 10**6),
    sparse=st.booleans(),
    weighted=st.booleans(),
    ids=st.sampled_from(["", "numbers", "text"]),
)
def test_a_folder_holds_the_same_graph(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sparse: bool, weighted: bool, ids: str
) -> None:
    graph = random_graph(seed, sparse=sparse, weighted=weighted, ids=ids)
    path = tmp_path_factory.mktemp("graphs") / "graph"
    graph.save_folder(path)
    opened = Graph.open(path, verify=True)
    assert parts_of(opened) == parts_of(graph)
    assert opened.fingerprint == graph.fingerprint
    assert opened.features.dtype == np.float32
    assert sp.issparse(opened.features) == sparse


def test_a_folder_of_the_first_format_is_read() -> None:
    """Never change the files of this test: they are what users have."""
    expected = random_graph(7, sparse=True, weighted=True, ids="text")
    opened = Graph.open(Path(__file__).parent / "folder_1", verify=True)
    assert parts_of(opened) == parts_of(expected)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_graph().save_folder(tmp_path / "graph")
    return tmp_path / "graph"


def mapped(array: npt.NDArray[Any]) -> bool:
    base: Any = array
    while base is not None:
        if isinstance(base, mmap):
            return True
        base = getattr(base, "base", None)
    return False


def test_the_arrays_are_mapped_not_read(folder: Path) -> None:
    graph = Graph.open(folder)
    adjacency, features = graph.adjacency, graph.features
    arrays = (adjacency.indptr, adjacency.indices, features.data, features.indices, graph.labels)
    assert all(array is not None and mapped(array) for array in arrays)
    assert adjacency.data.strides == (0,)  # ones take no memory
    with pytest.raises(ValueError, match="read-only"):
        adjacency.indices[0] = 1


@pytest.mark.parametrize("method", ["ugcl", "multiscope", "dgi", "sign"])
def test_training_has_the_same_bits(folder: Path, method: str) -> None:
    params: dict[str, Any] = {} if method == "sign" else {"epochs": 3, "hidden": 16}
    graphs = make_graph(), Graph.open(folder)
    one, other = (fit(method, graph, **params).embed(graph) for graph in graphs)
    assert (np.asarray(one) == np.asarray(other)).all()


def test_a_folder_is_a_graph_wherever_a_name_is(folder: Path) -> None:
    assert is_graph_folder(folder)
    assert load_graph(folder).fingerprint == make_graph().fingerprint
    assert Graph.load(folder).fingerprint == make_graph().fingerprint


def test_an_existing_folder_is_kept(folder: Path) -> None:
    before = sorted(file.name for file in folder.iterdir())
    with pytest.raises(UGCLError, match="exists already"):
        make_graph().save_folder(folder)
    assert sorted(file.name for file in folder.iterdir()) == before


def test_after_an_error_nothing_is_left(tmp_path: Path) -> None:
    def fail() -> None:
        with FolderWriter(tmp_path / "graph") as writer:
            writer.array("indptr", np.int32, (5,))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    def fail() -> None:
        with FolderWriter(tmp_path / "graph"):
            raise OSError(28, "No space left on device")

    with pytest.raises(UGCLError, match=r"No space left on device\): make room"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / "graph.partial"
    left.mkdir()
    (left / "labels.npy").write_bytes(b"half")
    make_graph().save_folder(tmp_path / "graph")
    assert parts_of(Graph.open(tmp_path / "graph")) == parts_of(make_graph())
    assert not left.exists()


def change(folder: Path, name: str) -> None:
    file = folder / name
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))


def files_of(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.name != "manifest.json"]


def test_altered_and_missing_files_are_refused(folder: Path) -> None:
    for name in files_of(folder):
        whole = (folder / name).read_bytes()
        change(folder, name)
        with pytest.raises(UGCLError, match=f"{name} has been altered"):
            Graph.open(folder)
        (folder / name).write_bytes(whole[:-3])
        with pytest.raises(UGCLError, match="bytes instead of"):
            Graph.open(folder)
        (folder / name).unlink()
        with pytest.raises(UGCLError, match="is damaged"):
            Graph.open(folder)
        (folder / name).write_bytes(whole)
    assert Graph.open(folder).num_nodes == make_graph().num_nodes


def test_large_files_are_verified_on_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "CHECKED", 0)
    change(folder, "labels.npy")
    Graph.open(folder)
    with pytest.raises(UGCLError, match=r"labels\.npy has been altered"):
        Graph.open(folder, verify=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 3}, "newer version of ugcl"),
        ({"format": "other"}, "is not the folder of a graph"),
        ({"version": "x"}, "its format must be a number"),
        ({"files": 3}, "is not the folder of a graph"),
        ({"files": {}}, "is damaged"),
        ({"class_names": ["red", "green", "grey"]}, r"manifest\.json has been altered"),
    ],
)
def test_another_manifest_is_refused(folder: Path, changes: dict[str, Any], message: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | changes), "utf-8")
    with pytest.raises(UGCLError, match=message):
        Graph.open(folder)


def test_manifests_of_version_1_have_no_checksum(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8")) | {"version": 1}
    del manifest["sha256"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert Graph.open(folder).num_nodes == make_graph().num_nodes
    (folder / "manifest.json").write_text(json.dumps(manifest | {"version": 2}), "utf-8")
    with pytest.raises(UGCLError, match=r"manifest\.json has been altered"):
        Graph.open(folder)


def test_row_pointers_are_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "CHECKED", 0)
    indptr = np.load(folder / "indptr.npy")
    indptr[1] = indptr[2] + 1
    np.save(folder / "indptr.npy", indptr)
    with pytest.raises(UGCLError, match="row pointers"):
        Graph.open(folder)


def test_indices_are_narrow_where_they_fit() -> None:
    assert index_dtype(10, 2**31 - 1) == np.int32
    assert index_dtype(10, 2**31) == np.int64
