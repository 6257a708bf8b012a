from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from raw_layouts import write_cora
from ugcl import UGCLError, load_graph


@pytest.fixture
def planetoid(tmp_path: Path) -> Path:
    return write_cora(tmp_path)


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


class Malicious:
    def __reduce__(self) -> tuple:
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize(
    "value", [Malicious(), [Malicious()], Path, np.array([Malicious()], dtype=object)]
)
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
    with pytest.raises(UGCLError, match=r"files of cora in .* cannot be read"):
        load_graph("cora", planetoid.parents[2])
    (planetoid / "ind.cora.test.index").write_text("6\n9\n8\n")
    (planetoid / "ind.cora.allx").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(UGCLError, match=r"files of cora in .* cannot be read"):
        load_graph("cora", planetoid.parents[2])


def test_arrays_of_objects_are_refused(planetoid: Path) -> None:
    """Their bytes would be addresses."""
    (planetoid / "ind.cora.ally").write_bytes(pickle.dumps(np.array([[1, 2]], dtype=object), 4))
    with pytest.raises(UGCLError, match=r"ind\.cora\.ally is not a Planetoid file"):
        load_graph("cora", planetoid.parents[2])


class Python2Array:
    """Pickled so that its bytes are a string, as they are in the real files."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __reduce__(self) -> tuple:
        rebuild, arguments, (*state, content) = self.array.__reduce__()
        return rebuild, arguments, (*state, content.decode("latin1"))


def test_pickles_of_python_2(planetoid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.planetoid.NUM_VALIDATION", 3)
    labels = np.array([[0, 255], [255, 0], [0, 255]], dtype=">u2")
    (planetoid / "ind.cora.ty").write_bytes(pickle.dumps(Python2Array(labels), protocol=4))
    graph = load_graph("cora", planetoid.parents[2])
    assert graph.labels is not None
    assert graph.labels[6:].tolist() == [1, -1, 1, 0]


def test_a_node_far_beyond_the_others_is_a_damaged_file(tmp_path: Path) -> None:
    folder = write_cora(tmp_path)
    (folder / "ind.cora.test.index").write_text("6\n9\n99999\n")
    with pytest.raises(UGCLError, match=r"test\.index contains node 99,999, but there are 9 nodes"):
        load_graph("cora", data_root=tmp_path)
