from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ugcl import Graph, UGCLError, convert_graph, load_graph
from ugcl.data import GraphFiles
from ugcl.data.conversion import converter

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


@settings(max_examples=50, deadline=None)
@given(case=cases())
def test_the_folder_is_that_of_the_graph_in_memory(
    tmp_path_factory: pytest.TempPathFactory, case: Options
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    files = make_files(case, folder)
    with pytest.MonkeyPatch.context() as patch:
        if case["joins"]:
            patch.setattr(converter, "TABLE_SHARE", 0)
        try:
            expected = load_graph(files)
        except UGCLError as error:
            with pytest.raises(UGCLError) as caught:
                convert_graph(files, folder / "graph")
            assert str(caught.value) == str(error)
            assert not (folder / "graph").exists()
            assert not (folder / "graph.partial").exists()
            return
        graph = convert_graph(files, folder / "graph")
    assert graph.fingerprint == expected.fingerprint
    assert graph.notes == expected.notes
    expected.save_folder(folder / "expected")
    compare_folders(folder / "graph", folder / "expected")
    Graph.open(folder / "graph", verify=True)
