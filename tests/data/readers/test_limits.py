"""Files that would fill the memory, hang or crash are refused by a sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import resource
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from ugcl import UGCLError
from ugcl.data import read_graph
from ugcl.data.readers import limits

CHILD = """
import json, pathlib, resource, signal, sys
from ugcl import UGCLError
from ugcl.data import read_graph

read_graph([(0, 1)])  # what is imported is no memory of the file
for line in sys.stdin:
    signal.setitimer(signal.ITIMER_PROF, 30)  # seconds of CPU time
    edges, features = json.loads(line)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read_graph(edges or [(0, 1), (1, 2)], features)
        said = "it was read"
    except UGCLError as error:
        said = str(error)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([said, peak - before]), flush=True)
    signal.setitimer(signal.ITIMER_PROF, 0)
"""

LIMIT = 4 * 2**30
"""Bytes that the child may map."""

Refused = Callable[..., None]


@pytest.fixture(scope="module")
def child() -> Iterator[subprocess.Popen[str]]:
    """A process that reads files and may not use much memory or time."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def refused(tmp_path: Path, child: subprocess.Popen[str]) -> Refused:
    """Check the sentence about a file, and the memory until it was said."""

    def check(name: str, content: bytes, said: str, *, features: bool = False) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        assert child.stdin is not None
        assert child.stdout is not None
        print(json.dumps([None, str(path)] if features else [str(path), None]), file=child.stdin)
        child.stdin.flush()
        answer = child.stdout.readline()
        assert answer, f"the process ended with {child.wait(1)}"
        sentence, kilobytes = json.loads(answer)
        assert "\n" not in sentence
        assert said in sentence
        assert name in sentence
        assert kilobytes < 500_000

    return check


def jsonl(value: str) -> bytes:
    return f'{{"source": 1, "target": 2, "x": {value}}}\n'.encode()


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_json_lines_nested_deeply(refused: Refused) -> None:
    refused("e.jsonl", jsonl(nested(20_000)), "nests lists or objects more than 100 deep")
    refused("e.jsonl.gz", gzip.compress(jsonl(nested(20_000))), "more than 100 deep")


def test_brackets_in_text_do_not_hide_depth(refused: Refused) -> None:
    hidden = '[ "]\\"]", '.replace(" ", "") * 20_000
    refused("e.jsonl", jsonl(hidden), "more than 100 deep")


@pytest.mark.parametrize("content", [b"null", b"\rnull\n", jsonl('"n"') + b"null\n"])
def test_json_lines_of_null(content: bytes, refused: Refused) -> None:
    refused("e.jsonl", content, "has null or other text between objects")


def test_json_nested_deeply(refused: Refused) -> None:
    content = f'{{"a": {nested(20_000)}}}'.encode()
    refused("f.json", content, "nests lists or objects more than 100 deep", features=True)


def test_brackets_in_text_are_no_depth(tmp_path: Path) -> None:
    texts = ["[" * 300, "\\" * 7 + '"' + "{" * 300, '"', "plain"]
    rows = [{"source": i, "target": (i + 1) % 4, "x": text} for i, text in enumerate(texts)]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_graph(tmp_path / "e.jsonl").num_edges == 4


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 7])
def test_json_is_scanned_alike_in_pieces(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE", piece)
    path = tmp_path / "e.jsonl"
    path.write_text('{"a\\\\": "[[[[\\"[[[", "b": [[1]]}\n')
    for depth, deep in ((3, False), (2, True)):
        monkeypatch.setattr(limits, "MAX_DEPTH", depth)
        if deep:
            with pytest.raises(UGCLError, match="more than 2 deep"):
                limits.check_json(path, lines=True)
        else:
            limits.check_json(path, lines=True)


def test_json_lines_with_a_key_each(refused: Refused) -> None:
    lines = (f'{{"source": 1, "target": 2, "k{i}": 1}}\n' for i in range(100_000))
    refused("e.jsonl", "".join(lines).encode(), "give all lines the same keys")


def wide(columns: int, rows: int) -> bytes:
    header = ",".join(["id", *(f"f{i}" for i in range(columns))])
    return "\n".join([header, *(f"{i}" + ",0.5" * columns for i in range(rows))]).encode()


def test_csv_of_too_many_columns(refused: Refused) -> None:
    said = "columns, and a table may have 32,768: save the features as .npy"
    refused("f.csv", wide(100_000, 50), f"100,001 {said}", features=True)
    refused("f.csv", wide(1_000_000, 2), f"1,000,001 {said}", features=True)
    refused("f.csv", b"1," * 2**22, "columns, and a table may have 32,768", features=True)


def test_parquet_of_too_many_columns(refused: Refused) -> None:
    stream = io.BytesIO()
    pq.write_table(pa.table({str(i): [1] for i in range(40_000)}), stream)
    refused("f.parquet", stream.getvalue(), "40,000 columns", features=True)


def test_lines_that_never_end(refused: Refused) -> None:
    refused("e.csv", b"a" * 40_000_000, "has lines of more than 8,388,608 bytes")
    late = b"source,target\n" + b"1,2\n" * 1000 + b"3" * 40_000_000
    refused("e.csv", late, "check that its lines and cells end")


def test_long_cells(refused: Refused) -> None:
    content = b"source,target\n1,2\n2," + b"a" * 131_073 + b"\n"
    refused("e.csv", content, "field larger than field limit (131072)")


def test_compressed_text_that_expands(refused: Refused) -> None:
    zeros = bytes(2**20)
    lines = b"1,2\n" * 2**18
    for name, compress, content in (
        ("e.csv.gz", gzip.compress, zeros),
        ("e.csv.bz2", bz2.compress, zeros),
        ("e.csv.gz", gzip.compress, lines),
        ("e.jsonl.gz", gzip.compress, jsonl("1") * 2**15),
        ("e.graphml.gz", gzip.compress, zeros),
    ):
        refused(name, compress(content) * 260, "and expands to at least")
    refused("f.json.gz", gzip.compress(zeros) * 260, "and expands to at least", features=True)


def npz(**members: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **members)
    return stream.getvalue()


def test_arrays_that_expand(refused: Refused) -> None:
    bomb = np.zeros(2**28 + 2**20, dtype=np.uint8)
    refused("e.npz", npz(a=bomb), "and expands to at least")
    refused("f.npz", npz(a=np.eye(3), ids=bomb), "and expands to at least", features=True)
    parts = {"format": np.array(b"csr"), "shape": np.array([3, 3]), "data": bomb}
    refused("e.npz", npz(**parts, indices=np.zeros(1), indptr=np.zeros(1)), "expands to at least")


def test_a_member_that_is_not_used_is_not_read(tmp_path: Path) -> None:
    matrix = sp.eye_array(3, k=1, format="csr")
    parts = {name: getattr(matrix, name) for name in ("indices", "indptr", "data", "shape")}
    bomb = np.zeros(2**28 + 2**20, dtype=np.uint8)
    (tmp_path / "e.npz").write_bytes(npz(**parts, format=np.array(b"csr"), unused=bomb))
    assert read_graph(tmp_path / "e.npz").num_edges == 2


def test_other_compression_than_numpys(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive,
        archive.open("a.npy", "w") as stream,
    ):
        np.lib.format.write_array(stream, np.eye(3))
    with pytest.raises(UGCLError, match=r"e\.npz cannot be read \(it is compressed in another way"):
        read_graph(path)


def test_parquet_that_expands(refused: Refused) -> None:
    stream = io.BytesIO()
    column = pa.array(np.zeros(50_000_000, dtype=np.int64))
    pq.write_table(pa.table({"source": column, "target": column}), stream)
    refused("e.parquet", stream.getvalue(), "and expands to at least 800,000,000")


def test_matrices_of_empty_rows(refused: Refused) -> None:
    stream = io.BytesIO()
    sp.save_npz(stream, sp.coo_array(([1.0], ([0], [1])), shape=(10**12, 10**12)))
    refused("e.npz", stream.getvalue(), "but it has 1 entries")
    refused("f.npz", stream.getvalue(), "but it has 1 entries", features=True)


def test_elements_without_bytes(refused: Refused) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<U0", "fortran_order": False, "shape": (10**15, 2)}
    )
    refused("e.npy", stream.getvalue(), "cannot be read")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", stream.getvalue())
    refused("e.npz", packed.getvalue(), "cannot be read")


def test_damaged_headers_of_arrays(tmp_path: Path) -> None:
    path = tmp_path / "e.npy"
    np.save(path, np.zeros((3, 2), dtype=np.int64))
    path.write_bytes(path.read_bytes().replace(b"(3, 2)", b"(3, 2("))
    with pytest.raises(tokenize.TokenError):
        np.load(path)
    with pytest.raises(UGCLError, match=r"e\.npy cannot be read"):
        read_graph(path)


@pytest.mark.parametrize("index", [2**31 - 1, 2**63 - 2, 2**63 - 1, 2**64])
def test_large_feature_indices(index: int, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps({"0": [1], "1": [index]}))
    with pytest.raises(UGCLError, match=r"f\.json cannot be read \(feature indices must be"):
        read_graph([(0, 1)], tmp_path / "f.json")


def test_ids_that_occur_twice_in_json(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"0": [1], "1": [2], "0": [3]}')
    with pytest.raises(UGCLError, match="an id occurs twice"):
        read_graph([(0, 1)], tmp_path / "f.json")


def test_ids_with_nul_characters(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(b"source,target\na\0,b\nb,a\n")
    with pytest.raises(UGCLError, match="contains a NUL character"):
        read_graph(tmp_path / "e.csv")
    with pytest.raises(UGCLError, match="contains a NUL character"):
        read_graph(pa.table({"source": ["a\0", "b"], "target": ["b", "c"]}))
