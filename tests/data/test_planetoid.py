from __future__ import annotations

import pickle
import resource
from pathlib import Path

import numpy as np
import pytest

from raw_layouts import write_cora
from ugcl import UGCLError, load_graph
from ugcl.data.inert_pickle import load_inert


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


HUGE = [
    b"N(r\xff\xff\xff\x1f.",  # remembers an item as the 536,870,911th: 4.4 GB
    b"\x80\x05\x96" + (2**34).to_bytes(8, "little") + b".",  # a bytearray of 16 GB
    b"\x80\x04\x95" + (2**34).to_bytes(8, "little") + b"N.",  # a frame of 16 GB
    b"\x80\x04\x8e" + (2**62).to_bytes(8, "little") + b".",
    b"\x8b\xff\xff\xff\x7f.",
    b"}"
    + b"".join(b"\x8a\x0b" + (i * (2**61 - 1)).to_bytes(11, "little") + b"Ns" for i in range(9)),
]
"""Small pickles that ask for much memory, or for a dictionary whose keys all collide."""


@pytest.mark.parametrize("content", HUGE)
def test_a_pickle_that_asks_for_memory_is_refused(planetoid: Path, content: bytes) -> None:
    (planetoid / "ind.cora.graph").write_bytes(content)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UGCLError):
        load_graph("cora", planetoid.parents[2])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    "name", ["numpy\nndarray", "numpy\ndtype", "scipy.sparse.csr\ncsr_matrix", "builtins\nlist"]
)
def test_a_pickle_cannot_change_classes(planetoid: Path, name: str) -> None:
    """BUILD with a state for slots would set attributes of whatever is on the stack."""
    for state in (b"N}U\x05valueNs\x86b.", b"}U\x05valueNsb."):
        (planetoid / "ind.cora.graph").write_bytes(b"\x80\x02c" + name.encode() + b"\n" + state)
        with pytest.raises(UGCLError, match="gives a state to what has none"):
            load_graph("cora", planetoid.parents[2])
    write_cora(planetoid / "good")
    assert load_inert((planetoid / "good/Planetoid/Cora/raw/ind.cora.x").read_bytes()).shape == (
        2,
        3,
    )


def test_a_list_that_all_nodes_share_is_refused(planetoid: Path) -> None:
    shared = [1] * 1000
    (planetoid / "ind.cora.graph").write_bytes(pickle.dumps(dict.fromkeys(range(1000), shared)))
    with pytest.raises(UGCLError, match="more entries than its file has bytes"):
        load_graph("cora", planetoid.parents[2])


def test_labels_of_many_columns_without_rows_are_refused(planetoid: Path) -> None:
    (planetoid / "ind.cora.y").write_bytes(pickle.dumps(np.zeros((0, 10**9)), 4))
    with pytest.raises(UGCLError, match="y, ty and ally have different columns"):
        load_graph("cora", planetoid.parents[2])


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
