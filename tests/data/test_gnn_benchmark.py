from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raw_layouts import write_photo
from ugcl import UGCLError, load_graph


class Malicious:
    def __reduce__(self) -> tuple:
        return Path.touch, (Path("executed"),)


def test_benchmark_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_photo(tmp_path, node_names=np.array([Malicious()], dtype=object))
    graph = load_graph("amazon-photo", tmp_path)
    assert graph.name == "amazon-photo"
    assert graph.features.toarray().tolist() == [[1, 0], [0, 1], [1, 1], [0, 0]]
    assert graph.adjacency.toarray()[1].tolist() == [1, 0, 1, 0]
    assert graph.notes == (
        "removed 1 self-loop",
        "symmetrised 1 edge listed in one direction only",
    )
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 1, 2]
    assert graph.splits == {}
    assert not graph.weighted
    assert not Path("executed").exists()


def test_a_pickled_member_that_is_needed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_photo(tmp_path, labels=np.array([Malicious()] * 4, dtype=object))
    with pytest.raises(UGCLError, match=r"files of amazon-photo in .* cannot be read"):
        load_graph("amazon-photo", tmp_path)
    assert not Path("executed").exists()


def test_damaged_files_are_told(tmp_path: Path) -> None:
    file = write_photo(tmp_path)
    whole = file.read_bytes()
    for content in (b"", b"garbage", whole[:-100], whole.replace(b"labels", b"Labels")):
        file.write_bytes(content)
        with pytest.raises(UGCLError, match=r"cannot be read .*: delete them"):
            load_graph("amazon-photo", tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"adj_indices": np.array([1, 0, 2, 9])},
        {"attr_indptr": np.array([0, 1, 2, 4, 400])},
        {"attr_shape": np.array([4])},
        {"labels": np.array([0, 1])},
        {"adj_shape": np.array([5, 5]), "adj_indptr": np.array([0, 1, 3, 3, 4, 4])},
    ],
)
def test_arrays_that_do_not_fit_are_told(tmp_path: Path, changed: dict[str, np.ndarray]) -> None:
    write_photo(tmp_path, **changed)
    with pytest.raises(UGCLError, match=r"files of amazon-photo in .* cannot be read"):
        load_graph("amazon-photo", tmp_path)
