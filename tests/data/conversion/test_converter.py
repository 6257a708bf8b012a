from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugcl import Graph, UGCLError, convert_graph, load_graph
from ugcl.cli import main
from ugcl.data import GraphFiles
from ugcl.data.conversion import budget, node_numbers
from ugcl.data.conversion.database import Database

Options = dict[str, Any]


def write(frame: pd.DataFrame, folder: Path, name: str, kind: str, header: bool = True) -> str:
    """Write a table in one or several files, and return its source."""
    if kind == "parquet":
        frame.to_parquet(folder / f"{name}.parquet", index=False)
        return str(folder / f"{name}.parquet")
    if kind == "several":
        (folder / name).mkdir()
        cut = len(frame) // 2
        for i, part in enumerate((frame[:cut], frame[cut:])):
            part.to_csv(folder / name / f"{i}.csv", index=False)
        return str(folder / name)
    path = folder / f"{name}.csv.gz" if kind == "gz" else folder / f"{name}.csv"
    frame.to_csv(path, index=False, header=header)
    return str(path)


def id_names(kind: str, count: int, rng: np.random.Generator) -> list[Any]:
    if kind == "sparse":
        return [int(i) * 10**12 + 7 for i in rng.permutation(count) - count // 2]
    if kind == "text":
        return [f"{'é' * (i % 3)}n{i}" for i in rng.permutation(count)]
    if kind == "zeros":
        return [f"{i:03d}" for i in rng.permutation(count)]
    if kind == "floats":
        return [f"{i}.0" for i in rng.permutation(count)]
    if kind == "mixed":
        return [f"a{i}" if i % 5 == 4 else str(i) for i in range(count)]
    return [int(i) - count // 3 for i in rng.permutation(count)]


@st.composite
def cases(draw: st.DrawFn) -> Options:
    return {
        "seed": draw(st.integers(0, 10**6)),
        "ids": draw(st.sampled_from(["small", "sparse", "text", "zeros", "floats", "mixed"])),
        "kind": draw(st.sampled_from(["csv", "parquet", "several", "gz"])),
        "weights": draw(st.sampled_from(["", "integers", "floats"])),
        "features": draw(st.sampled_from(["", "ids", "rows", "npy", "separate", "lists"])),
        "labels": draw(st.sampled_from(["", "ids", "rows", "features"])),
        "directed": draw(st.booleans()),
        "joins": draw(st.booleans()),
        "header": draw(st.booleans()),
    }


def make_files(case: Options, folder: Path) -> GraphFiles:
    rng = np.random.default_rng(case["seed"])
    count = int(rng.integers(2, 12))
    names = id_names(case["ids"], count, rng)
    size = int(rng.integers(1, 40))
    ends = rng.integers(0, count, (size, 2))
    if case["features"] in ("rows", "npy"):
        names = list(range(count))
    column = {name: [names[i] for i in ends[:, j]] for j, name in enumerate(("source", "target"))}
    edges = pd.DataFrame(column)
    if case["weights"]:
        values = rng.integers(0, 3, size) if case["weights"] == "integers" else rng.random(size)
        edges["weight"] = values
    kind = case["kind"]
    header = case["header"] or bool(case["weights"])
    options: Options = {"edges": write(edges, folder, "edges", kind, header)}
    options["directed"] = case["directed"]
    classes = rng.choice(["red", "green", ""], count)
    classes[0] = "red"
    parts = np.where(classes == "", "", rng.choice(["train", "test", ""], count))
    values = rng.normal(size=(count, 3)).astype(np.float32)
    if case["features"] == "npy":
        np.save(folder / "x.npy", values.astype(np.float64))
        options["features"] = str(folder / "x.npy")
    elif case["features"]:
        frame = pd.DataFrame({f"x{i}": values[:, i] for i in range(3)})
        frame["flag"] = values[:, 0] > 0
        if case["features"] == "lists":
            kind = "parquet"
            frame = pd.DataFrame({"x": list(values), "one": values[:, 1]})
        if case["features"] in ("ids", "lists"):
            frame.insert(0, "id", names)
        if case["features"] == "separate":
            write(pd.DataFrame({"id": names}), folder, "ids", "csv")
            options["ids"] = str(folder / "ids.csv")
        if case["labels"] == "features":
            frame["label"], frame["split"] = classes, parts
        options["features"] = write(frame, folder, "nodes", kind)
    if case["labels"] in ("ids", "rows"):
        order = rng.permutation(count) if case["labels"] == "ids" else np.arange(count)
        order = order[: max(1, count - 2)] if case["labels"] == "ids" else order
        table = pd.DataFrame({"label": classes[order], "split": parts[order]})
        if case["labels"] == "ids":
            table.insert(0, "id", [names[i] for i in order])
        options["labels"] = write(table, folder, "labels", case["kind"])
    return GraphFiles(**options)


def compare_folders(one: Path, other: Path) -> None:
    """The folders are the same, byte for byte."""
    names = [sorted(file.name for file in folder.iterdir()) for folder in (one, other)]
    assert names[0] == names[1]
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (one, other)]
    assert manifests[0] == manifests[1]
    for name in names[0]:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def attempt(function: Callable[..., Graph], *arguments: Any) -> Graph | UGCLError:
    try:
        return function(*arguments)
    except UGCLError as error:
        return error


@settings(max_examples=50, deadline=None)
@given(case=cases())
def test_the_folder_is_that_of_the_graph_in_memory(
    tmp_path_factory: pytest.TempPathFactory, case: Options
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    files = make_files(case, folder)
    with pytest.MonkeyPatch.context() as patch:
        if case["joins"]:
            patch.setattr(node_numbers, "TABLE_SHARE", 0)
        expected, graph = (
            attempt(load_graph, files),
            attempt(convert_graph, files, folder / "graph"),
        )
    if not isinstance(expected, Graph) or not isinstance(graph, Graph):
        assert str(graph) == str(expected)
        assert not (folder / "graph").exists()
        assert not (folder / "graph.partial").exists()
        return
    assert graph.fingerprint == expected.fingerprint
    assert graph.notes == expected.notes
    expected.save_folder(folder / "expected")
    compare_folders(folder / "graph", folder / "expected")
    Graph.open(folder / "graph", verify=True)


@pytest.fixture
def files(tmp_path: Path) -> GraphFiles:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 50, (300, 2))
    edges = pd.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "weight": rng.random(300)})
    edges.to_csv(tmp_path / "edges.csv", index=False)
    table = pd.DataFrame({"id": np.arange(50), "x": rng.normal(size=50), "y": rng.random(50)})
    table["label"] = np.arange(50) % 3
    table.to_parquet(tmp_path / "nodes.parquet", index=False)
    return GraphFiles(edges=f"{tmp_path}/edges.csv", features=f"{tmp_path}/nodes.parquet")


class Kill(BaseException):
    """Ends a conversion as a signal does."""


STAGES = ["reading edges", "reading features", "numbering nodes", "reading labels", "sorting edges"]


@pytest.mark.parametrize("stage", [*STAGES, "computing checksums"])
def test_a_killed_conversion_continues(files: GraphFiles, tmp_path: Path, stage: str) -> None:
    begun: list[str] = []

    def kill(name: str, done: int, total: int | None) -> None:
        if name == stage:
            raise Kill

    def record(name: str, done: int, total: int | None) -> None:
        begun.append(name)

    out = tmp_path / "graph"
    with pytest.raises(Kill):
        convert_graph(files, out, progress=kill)
    assert not out.exists()
    assert (tmp_path / "graph.partial").exists()
    convert_graph(files, out, progress=record)
    stages = [*STAGES, "computing checksums"]
    assert list(dict.fromkeys(begun)) == stages[stages.index(stage) :]
    load_graph(files).save_folder(tmp_path / "expected")
    compare_folders(out, tmp_path / "expected")
    assert not (tmp_path / "graph.partial").exists()


def test_a_changed_input_starts_again(files: GraphFiles, tmp_path: Path) -> None:
    def kill(name: str, done: int, total: int | None) -> None:
        if name == "sorting edges":
            raise Kill

    with pytest.raises(Kill):
        convert_graph(files, tmp_path / "graph", progress=kill)
    with Path(files.edges).open("a") as stream:
        stream.write("1,2,30\n")
    graph = convert_graph(files, tmp_path / "graph")
    assert graph.fingerprint == load_graph(files).fingerprint


def test_a_damaged_database_starts_again(files: GraphFiles, tmp_path: Path) -> None:
    def kill(name: str, done: int, total: int | None) -> None:
        if name == "sorting edges":
            raise Kill

    with pytest.raises(Kill):
        convert_graph(files, tmp_path / "graph", progress=kill)
    database = tmp_path / "graph.partial" / "work" / "tables.duckdb"
    database.write_bytes(b"\x00" * 5000)
    graph = convert_graph(files, tmp_path / "graph")
    assert graph.fingerprint == load_graph(files).fingerprint


def test_temporary_files_are_removed(files: GraphFiles, tmp_path: Path) -> None:
    (tmp_path / "temp").mkdir()
    graph = convert_graph(files, tmp_path / "graph", temp=tmp_path / "temp", memory="1GB")
    assert graph.fingerprint == load_graph(files).fingerprint
    assert list((tmp_path / "temp").iterdir()) == []


def test_half_precision(files: GraphFiles, tmp_path: Path) -> None:
    graph = convert_graph(files, tmp_path / "graph", dtype="float16")
    assert graph.features.dtype == np.float16
    expected = load_graph(files).features.astype(np.float16)
    assert (np.asarray(graph.features) == expected).all()
    load_graph(files).save(tmp_path / "graph.npz")
    other = convert_graph(tmp_path / "graph.npz", tmp_path / "other", dtype="float16")
    assert other.fingerprint == graph.fingerprint
    table = pd.read_parquet(files.features)
    table.loc[3, "x"] = 1e6
    table.to_parquet(files.features, index=False)
    with pytest.raises(UGCLError, match=r"up to 1e\+06 do not fit into float16"):
        convert_graph(files, tmp_path / "again", dtype="float16")
    assert not (tmp_path / "again.partial").exists()


def test_everything_that_can_be_loaded_can_be_converted(tmp_path: Path) -> None:
    graph = load_graph("citeseer")
    converted = convert_graph("citeseer", tmp_path / "citeseer")
    assert converted.fingerprint == graph.fingerprint
    assert convert_graph(tmp_path / "citeseer", tmp_path / "copy").fingerprint == graph.fingerprint
    np.save(tmp_path / "pairs.npy", np.array([[0, 1], [1, 2]]))
    assert convert_graph(tmp_path / "pairs.npy", tmp_path / "pairs").num_edges == 2
    (tmp_path / "e.jsonl").write_text('{"source": 1, "target": 2}\n{"source": 2, "target": 3}\n')
    assert convert_graph(tmp_path / "e.jsonl", tmp_path / "lines").num_nodes == 3


def test_ids_that_repeat_are_refused(files: GraphFiles, tmp_path: Path) -> None:
    table = pd.read_parquet(files.features)
    pd.concat([table, table[7:9]]).to_parquet(files.features, index=False)
    message = r"2 id\(s\) have several rows in nodes.parquet \(7, 8\): keep one row"
    with pytest.raises(UGCLError, match=message):
        convert_graph(files, tmp_path / "graph")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["edges.csv", "nodes.parquet"]


def test_limits_are_one_sentence(
    files: GraphFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UGCLError, match=r"a conversion needs at least 600\.0 MB"):
        convert_graph(files, tmp_path / "graph", memory="100MB")
    with pytest.raises(UGCLError, match="`memory` must be a size such as 4GB"):
        convert_graph(files, tmp_path / "graph", memory="much")
    with pytest.raises(UGCLError, match="exists already"):
        convert_graph(files, tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 100}))
    with pytest.raises(UGCLError, match=r"needs about .* where 0.1 MB are free: make room"):
        convert_graph(files, tmp_path / "graph")
    assert not (tmp_path / "graph.partial").exists()


def test_a_truncated_file_is_one_sentence(files: GraphFiles, tmp_path: Path) -> None:
    whole = Path(files.features).read_bytes()
    Path(files.features).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UGCLError, match=r"nodes.parquet cannot be read"):
        convert_graph(files, tmp_path / "graph")
    with Path(files.edges).open("a") as stream:
        stream.write("1\n")
    with pytest.raises(UGCLError, match=r"edges.csv cannot be read"):
        convert_graph(GraphFiles(edges=files.edges), tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_a_missing_database_names_the_extra(
    files: GraphFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UGCLError, match=r"pip install 'ugcl\[big\]'"):
        convert_graph(files, tmp_path / "graph")


def test_more_rows_than_the_database_may_keep(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 3000, (200_000, 2))
    frame = pd.DataFrame(
        {"source": ends[:, 0], "target": ends[:, 1], "weight": rng.random(200_000)}
    )
    frame.to_parquet(tmp_path / "edges.parquet", index=False)
    expected = load_graph(tmp_path / "edges.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "for_database", lambda memory, num_nodes=0: 40 * 10**6)
        graph = convert_graph(tmp_path / "edges.parquet", tmp_path / "graph", threads=1)
    assert graph.fingerprint == expected.fingerprint
    assert graph.notes == expected.notes


def test_the_command_prints_stages_and_json(
    files: GraphFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "graph")
    command = ["convert", "--edges", files.edges, "--features", files.features, "--out", out]
    assert main([*command, "--memory", "1GB", "--json"]) == 0
    streams = capsys.readouterr()
    value = json.loads(streams.out)
    assert value["nodes"] == 50
    assert value["fingerprint"] == load_graph(files).fingerprint
    assert "sorting edges ..." in streams.err
    assert main(["check", out]) == 0
    assert "read: 50 nodes" in capsys.readouterr().out


def test_exceptions_of_the_database_are_one_sentence(tmp_path: Path) -> None:
    db = Database(tmp_path, 10**8, 1, "1 GB")
    errors: list[tuple[BaseException, type[BaseException], str | None]] = [
        (duckdb.OutOfMemoryException("x"), UGCLError, "does not fit into 1 GB of memory"),
        (duckdb.OutOfMemoryException("a\nmax_temp_directory_size"), OSError, "No space left"),
        (duckdb.IOException("No space left on device"), OSError, "No space left"),
        (duckdb.InterruptException("x"), KeyboardInterrupt, None),
        (duckdb.BinderException("x"), UGCLError, r"the conversion failed \(x\)"),
        (RuntimeError("x"), RuntimeError, "x"),
    ]
    with closing(db):
        for error, expected, message in errors:
            with pytest.raises(expected, match=message), db.errors():
                raise error


TEXTS = {
    "aligned.txt": b"  source    target\n  ann       bob\nbob cem  \ncem ann\n",
    "utf16.csv": "source,target\nann,bob\nbob,cem\n".encode("utf-16"),
    "gzip.csv": gzip.compress(b"source,target\n1,2\n2,3\n"),
    "page.csv": b"<!DOCTYPE html><html></html>",
    "header.csv": b"a,b\nann,bob\nbob,cem\ncem,ann\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("header", [None, False])
def test_text_by_other_means(tmp_path: Path, name: str, header: bool | None) -> None:
    (tmp_path / name).write_bytes(TEXTS[name])
    files = GraphFiles(edges=str(tmp_path / name), header=header)
    expected = attempt(load_graph, files)
    graph = attempt(convert_graph, files, tmp_path / "graph")
    if isinstance(expected, UGCLError):
        assert str(graph) == str(expected)
    else:
        assert isinstance(graph, Graph)
        assert (graph.fingerprint, graph.notes) == (expected.fingerprint, expected.notes)
