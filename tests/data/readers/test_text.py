"""Text tables: separators, headers, comments and encodings."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.csv
import pytest

from friends import TRIANGLE, WEIGHTED, entries, expected, names
from ugcl import UGCLError
from ugcl.data import read_graph
from ugcl.data.readers import text


def test_edges_without_a_header(tmp_path: Path) -> None:
    WEIGHTED.to_csv(tmp_path / "bare.csv", index=False, header=False)
    graph = read_graph(tmp_path / "bare.csv")
    assert entries(graph) == expected()
    assert any("has no header" in note for note in graph.notes)
    assert any("not used: '2'" in note for note in graph.notes)
    assert entries(read_graph(tmp_path / "bare.csv", weight="2")) == expected(weighted=True)


def test_a_text_file_with_comments_as_snap_has_them(tmp_path: Path) -> None:
    (tmp_path / "snap.txt.gz").write_bytes(
        gzip.compress(b"# Directed graph\n# FromNodeId\tToNodeId\n0\t11\n11\t12\n0\t12\n")
    )
    graph = read_graph(tmp_path / "snap.txt.gz")
    assert graph.ids is not None
    assert graph.ids.tolist() == [0, 11, 12]
    assert graph.num_edges == 3


def test_a_named_column_makes_the_first_line_a_header(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("person,friend\nann,bob\n")
    assert read_graph(tmp_path / "e.csv").num_nodes == 4
    assert read_graph(tmp_path / "e.csv", source="person", target="friend").num_nodes == 2


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("source, target\n0, 1\n1, 2\n2, 0\n", [0, 1, 2]),
        ("\n\nsource,target\n0,1\n1,2\n", [0, 1, 2]),
        ("# c\n\n% d\nsource,target\r\n0,1\r\n1,2\r\n", [0, 1, 2]),
        (",citing,cited\n0,10,11\n1,11,12\n", [10, 11, 12]),
        ("id,citing,cited\n0,10,11\n1,11,12\n", [10, 11, 12]),
        ("class,struct\nstruct,object\nobject,class\n", ["class", "object", "struct"]),
        ("alice,bob\n12,carol\nbob,carol\n", ["12", "alice", "bob", "carol"]),
        ("0,1\n1,2\n", [0, 1, 2]),
        ("\ufeffsource,target\n0,1\n", [0, 1]),
        ('source;target\n"a, b";c\n', ["a, b", "c"]),
        ('source,target\n"a\nb",c\n', ["a\nb", "c"]),
    ],
)
def test_edges_in_unusual_notation(tmp_path: Path, text: str, ids: list[Any]) -> None:
    (tmp_path / "e.csv").write_bytes(text.encode())
    assert names(read_graph(tmp_path / "e.csv")) == ids


def test_columns_by_number_are_no_header(tmp_path: Path) -> None:
    (tmp_path / "konect.txt").write_text("% sym\n1 2 4 1082008561\n2 3 5 1082008562\n")
    graph = read_graph(tmp_path / "konect.txt", source="0", target="1", weight="2")
    assert names(graph) == [1, 2, 3]
    assert entries(graph)[2, 3] == 5
    assert entries(read_graph(tmp_path / "konect.txt", weight="2")) == entries(graph)


@pytest.mark.parametrize(
    "lines",
    ["ann,bob\nbob,cem\ncem,ann\n", "ann,chess\nbob,chess\ncem,golf\n"],
    ids=["friends", "members"],
)
@pytest.mark.parametrize("files", [1, 2])
def test_a_header_that_looks_like_an_edge_is_asked_about(
    tmp_path: Path, lines: str, files: int
) -> None:
    for i in range(files):
        (tmp_path / f"{i}.csv").write_text(f"a,b\n{lines}")
    with pytest.raises(
        UGCLError, match=r"\(a, b\) may be a header .* pass `header=True` .* `header="
    ):
        read_graph(tmp_path)
    graph = read_graph(tmp_path, header=True)
    assert graph.num_nodes == len(set(lines.replace("\n", ",").split(","))) - 1
    assert any("from 'a' to 'b'" in note for note in graph.notes)
    assert read_graph(tmp_path, header=False).num_nodes == graph.num_nodes + 2
    assert read_graph(tmp_path, source="a", target="b").num_nodes == graph.num_nodes
    assert read_graph(tmp_path, source="0", target="1").num_nodes == graph.num_nodes + 2
    for i in range(files):
        (tmp_path / f"{i}.csv").write_text("ann,bob\nbob,cem\ncem,ann\n")
    assert read_graph(tmp_path).num_nodes == 3


def test_other_encodings_and_objects_are_errors(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes("source,target\nJürgen,Bäcker\n".encode("latin-1"))
    with pytest.raises(UGCLError, match="save it as UTF-8"):
        read_graph(tmp_path / "e.csv")
    np.save(tmp_path / "ids.npy", np.array(["a", "b"], dtype=object), allow_pickle=True)
    with pytest.raises(UGCLError, match="save it as text or numbers"):
        read_graph(TRIANGLE, np.eye(3), ids=tmp_path / "ids.npy")


ALIGNED = "  source    target   weight\n  ann   bob      1.0\nbob  cem   2.5  \n\ncem ann 3.0\n"


@pytest.mark.parametrize("name", ["e.txt", "e.csv", "e.edges", "e.tsv"])
@pytest.mark.parametrize("mark", ["\n", "\r\n"])
def test_columns_aligned_by_several_spaces(tmp_path: Path, name: str, mark: str) -> None:
    (tmp_path / name).write_text(ALIGNED.replace("\n", mark), newline="")
    graph = read_graph(tmp_path / name)
    assert names(graph) == ["ann", "bob", "cem"]
    assert entries(graph)["bob", "cem"] == 2.5


def test_aligned_columns_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.readers.streams.PIECE", 7)
    lines = [f"{i}   {i + 1}  " for i in range(50)]
    (tmp_path / "e.txt").write_text("\n".join(lines))
    assert names(read_graph(tmp_path / "e.txt")) == list(range(51))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_text_of_windows_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    text = "source,target\nJürgen,Bäcker\nBäcker,Çem\n"
    mark = "\ufeff" if encoding.endswith("be") else ""
    (tmp_path / "e.csv").write_bytes((mark + text).encode(encoding))
    assert names(read_graph(tmp_path / "e.csv")) == ["Bäcker", "Jürgen", "Çem"]


def test_text_of_windows_without_a_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes("source,target\nann,bob\n".encode("utf-16-le"))
    with pytest.raises(UGCLError, match=r"NUL characters, as UTF-16 text .*save it as UTF-8"):
        read_graph(tmp_path / "e.csv")


COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_compressed_file_by_the_wrong_name(tmp_path: Path, kind: str) -> None:
    text = b"source,target\n1,2\n2,3\n"
    (tmp_path / "e.csv").write_bytes(COMPRESSORS[kind](text))
    assert names(read_graph(tmp_path / "e.csv")) == [1, 2, 3]
    (tmp_path / f"e.csv.{kind}").write_bytes(text)
    assert names(read_graph(tmp_path / f"e.csv.{kind}")) == [1, 2, 3]


def test_a_bomb_by_the_wrong_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(gzip.compress(b"1,2\n" * 2**27))
    with pytest.raises(UGCLError, match="expands"):
        read_graph(tmp_path / "e.csv")


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (b"\n<!DOCTYPE html>\n<html><body>Not found", "a web page"),
        (b"<html lang='en'>", "a web page"),
        (b"<?xml version='1.0'?>\n<graphml>", "XML"),
        (b"PK\x03\x04....", "a ZIP archive or an Excel file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file"),
        (b"PAR1....PAR1", "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
    ],
)
def test_other_formats_by_the_name_of_a_text_file(tmp_path: Path, begin: bytes, words: str) -> None:
    (tmp_path / "e.csv").write_bytes(begin)
    with pytest.raises(UGCLError, match=f"e.csv is .*{words}"):
        read_graph(tmp_path / "e.csv")


def test_the_edge_list_of_networkx(tmp_path: Path) -> None:
    network = nx.Graph()
    network.add_edge(0, 1, weight=1, kind=2)
    network.add_edge(1, 2, weight=1, kind=3)
    nx.write_edgelist(network, tmp_path / "g.edgelist")
    assert names(read_graph(tmp_path / "g.edgelist")) == [0, 1, 2]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("width", [2, 5])
def test_columns_that_pandas_numbers_are_a_header(tmp_path: Path, index: bool, width: int) -> None:
    features = np.random.default_rng(0).normal(size=(3, width)).astype(np.float32)
    pd.DataFrame(features).to_csv(tmp_path / "f.csv", index=index)
    graph = read_graph(TRIANGLE, tmp_path / "f.csv")
    np.testing.assert_allclose(graph.features, features, rtol=1e-5)


def test_a_header_longer_than_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.data.readers.text.SAMPLE", 2**12)
    width = 2_000
    header = ",".join(["id", *(f"x{i}" for i in range(width))])
    rows = [",".join([str(i), *("1" for _ in range(width))]) for i in range(3)]
    (tmp_path / "f.csv").write_text("\n".join([header, *rows]) + "\n")
    assert len(header) > 2**12
    assert read_graph(TRIANGLE, tmp_path / "f.csv").num_features == width


def test_text_in_a_boolean_column_after_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.data.readers.text.SAMPLE", 2**12)
    late = "id,flag\n" + "".join(f"{i},true\n" for i in range(1_000)) + "1000,maybe\n"
    (tmp_path / "late.csv").write_text(late)
    with pytest.raises(UGCLError, match=r"late\.csv cannot be read"):
        read_graph(TRIANGLE, tmp_path / "late.csv")


RUNS = 3


class Sample(bytes):
    """Bytes that report when they are released."""

    released: list[str]

    def __del__(self) -> None:
        self.released.append("released")


def test_sample_is_copied_into_memory_of_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n1,2\n2,3\n")
    Sample.released = []
    monkeypatch.setattr(text, "_beginning", lambda path: (Sample(path.read_bytes()), True))
    streams, read_csv = [], pyarrow.csv.read_csv

    def keep(stream: Any, *options: Any) -> Any:
        streams.append(stream)  # as a thread of Arrow that is not yet done does
        return read_csv(stream, *options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", keep)
    table = text.open_text(path, ",", (), edges=True)
    assert table.schema.names == ["source", "target"]
    assert len(streams) == 1
    assert Sample.released == ["released"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_error_after_reading_text_ends_with_exit_code_2(tmp_path: Path) -> None:
    edges, labels = tmp_path / "edges.csv", tmp_path / "labels.csv"
    edges.write_text("source,target\n" + "1,2\n2,3\n" * 1000)
    header = ",".join(f"column_{i}" for i in range(40))
    labels.write_text("\n".join([header, *[",".join(map(str, range(40)))] * 5000]))
    # on one core, the thread of Arrow often releases the sample while Python shuts down
    code = (
        "import os, sys; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        "from ugcl.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["check", "--edges", str(edges), "--labels", str(labels), "--label", "colour"]
    for _ in range(RUNS):
        result = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120
        )
        assert (result.returncode, result.stdout) == (2, ""), result.stderr
        assert "called 'colour'" in result.stderr
