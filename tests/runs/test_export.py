from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from gensim.models import KeyedVectors

import ugcl
from ugcl import UGCLError
from ugcl.runs.export import check_ending, write_embeddings

ROWS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)

NAMES = np.array(["a", 'b "quoted", with comma', "ü", "d\te", "e"])


@pytest.mark.parametrize("ids", [NAMES, np.arange(5) * 7])
def test_each_ending_can_be_read_back(tmp_path: Path, ids: np.ndarray) -> None:
    write_embeddings(tmp_path / "e.npy", ROWS, ids)
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), ROWS)
    write_embeddings(tmp_path / "e.parquet", ROWS, ids)
    table = pq.read_table(tmp_path / "e.parquet")
    assert table["id"].to_pylist() == ids.tolist()
    np.testing.assert_array_equal(np.stack(table["embedding"].to_pylist()), ROWS)
    write_embeddings(tmp_path / "e.csv", ROWS, ids)
    frame = pd.read_csv(tmp_path / "e.csv", dtype={f"e{i}": np.float32 for i in range(3)})
    assert frame["id"].tolist() == ids.tolist()
    np.testing.assert_array_equal(frame[["e0", "e1", "e2"]].to_numpy(), ROWS)
    edges = pd.DataFrame({"source": [ids[0]], "target": [ids[4]]})
    np.testing.assert_array_equal(ugcl.read_graph(edges, tmp_path / "e.parquet").features, ROWS)
    np.testing.assert_array_equal(ugcl.read_graph(edges, tmp_path / "e.csv").features, ROWS)


def test_word2vec_text_is_gensim_s(tmp_path: Path) -> None:
    for ids in (np.array(["a", "ü,x", '"q"', "d", "e"]), np.arange(5)):
        for ending in (".txt", ".vec"):
            write_embeddings(tmp_path / f"e{ending}", ROWS, ids)
            found = KeyedVectors.load_word2vec_format(str(tmp_path / f"e{ending}"))
            assert found.index_to_key == [str(name) for name in ids]
            np.testing.assert_array_equal(found.vectors, ROWS)
    with pytest.raises(UGCLError, match=r"2 id\(s\) contain spaces"):
        write_embeddings(tmp_path / "e.txt", ROWS, NAMES)


def test_the_files_of_the_projector(tmp_path: Path) -> None:
    labels = np.array(["x", "y", "", "y", "x"])
    written = write_embeddings(tmp_path / "e.tsv", ROWS, NAMES, labels)
    assert [path.name for path in written] == [
        "e.tsv",
        "e.metadata.tsv",
        "projector_config.pbtxt",
    ]
    np.testing.assert_array_equal(np.loadtxt(written[0], dtype=np.float32, delimiter="\t"), ROWS)
    lines = written[1].read_text().splitlines()
    assert lines[0] == "id\tlabel"
    assert lines[4] == "d e\ty"
    assert all(line.count("\t") == 1 for line in lines)
    write_embeddings(tmp_path / "e.tsv", ROWS, NAMES)
    assert written[1].read_text().splitlines()[0] == "a"
    with pytest.raises(UGCLError, match="names other files"):
        write_embeddings(tmp_path / "other.tsv", ROWS, NAMES)


def test_sparse_and_dense_have_their_endings(tmp_path: Path) -> None:
    sparse = sp.csr_array(ROWS)
    write_embeddings(tmp_path / "e.npz", sparse, NAMES)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "e.npz").toarray(), ROWS)
    with pytest.raises(UGCLError, match=r"sparse: use the extension \.npz for `out`"):
        write_embeddings(tmp_path / "e.csv", sparse, NAMES)
    with pytest.raises(UGCLError, match="are dense"):
        write_embeddings(tmp_path / "e.npz", ROWS, NAMES)


def test_many_rows_are_written_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.runs.export.ROWS", 2)
    test_each_ending_can_be_read_back(tmp_path, NAMES)


def test_safetensors_in_one_file_and_in_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.numpy import load_file

    rows = np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)
    ids = np.arange(10)
    (whole,) = write_embeddings(tmp_path / "e.safetensors", rows, ids)
    np.testing.assert_array_equal(load_file(whole)["embeddings"], rows)
    monkeypatch.setattr("ugcl.runs.export.SHARD", 4 * 8)
    *shards, index = write_embeddings(tmp_path / "s.safetensors", rows, ids, dtype="float16")
    names = [f"s-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    assert [shard.name for shard in shards] == names
    parts = [load_file(shard)["embeddings"] for shard in shards]
    np.testing.assert_array_equal(np.concatenate(parts), rows.astype(np.float16))
    about = json.loads(index.read_text())
    assert [shard["first_row"] for shard in about["shards"]] == [0, 4, 8]


def test_float16_has_binary_formats_only_and_must_hold_the_numbers(tmp_path: Path) -> None:
    rows = np.array([[1.5, 2.0], [1e5, 0.0]], dtype=np.float32)
    for ending in (".npy", ".parquet", ".safetensors"):
        check_ending(tmp_path / f"e{ending}", "float16")
        with pytest.raises(UGCLError, match="do not fit into float16"):
            write_embeddings(tmp_path / f"e{ending}", rows, np.arange(2), dtype="float16")
        write_embeddings(tmp_path / f"e{ending}", rows[:1], np.arange(1), dtype="float16")
    assert np.load(tmp_path / "e.npy").dtype == np.float16
    with pytest.raises(UGCLError, match=r"`dtype` float16 needs an `out` of .npy"):
        check_ending(tmp_path / "e.csv", "float16")
