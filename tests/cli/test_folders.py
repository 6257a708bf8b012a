"""Every command gives the same on a graph in memory and on its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from commands import ugcl
from conftest import make_graph
from ugcl import Graph, load_graph
from ugcl.views import reliability

PARAMS = {
    "ugcl": ("--hidden", "8", "--sample", "30", "--negatives", "10", "--epochs", "4"),
    "multiscope": ("--hidden", "16", "--sample", "20", "--epochs", "12", "--block-columns", "4"),
    "grace": ("--hidden", "8", "--epochs", "2"),
}

CHANGING = {"available_bytes", "held_bytes", "fits", "memory_bytes", "run", "graph"}
"""Fields of answers that differ from one run of a command to the next."""


def graph_of(kind: str) -> Graph:
    graph = make_graph(120, sparse=kind == "sparse", ids=np.arange(120) * 3)
    if kind != "weighted":
        return graph
    adjacency = graph.adjacency.copy()
    rows = np.repeat(np.arange(120), np.diff(adjacency.indptr))
    adjacency.data = ((rows + adjacency.indices) % 5 + 0.3).astype(np.float32)
    return Graph(adjacency, graph.features, labels=graph.labels, splits=graph.splits, name="small")


@pytest.fixture(params=["sparse", "dense", "weighted"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    graph = graph_of(request.param)
    graph.save(tmp_path / "graph.npz")
    graph.save_folder(tmp_path / "folder")
    return tmp_path / "graph.npz", tmp_path / "folder"


def answer(capsys: pytest.CaptureFixture[str], *words: Any) -> Any:
    """What a command prints with --json, without times and paths."""
    capsys.readouterr()
    assert ugcl(*words, "--json") == 0
    return without_times(json.loads(capsys.readouterr().out))


def without_times(value: Any) -> Any:
    if isinstance(value, list):
        return [without_times(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_times(each)
        for name, each in value.items()
        if name not in CHANGING and "seconds" not in name
    }


@pytest.mark.parametrize("command", ["check", "scope"])
def test_a_folder_is_looked_at_as_the_graph(
    command: str, sources: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (answer(capsys, command, source) for source in sources)
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("method", PARAMS)
@pytest.mark.parametrize("large", [False, True])
def test_training_and_all_that_uses_it_have_the_same_bits(
    method: str,
    large: bool,
    sources: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if large:  # than what is read as a whole
        make_large(monkeypatch)
    runs = [tmp_path / f"run-{source.name}" for source in sources]
    for source, run in zip(sources, runs, strict=True):
        words = ("train", source, "--method", method, *PARAMS[method])
        assert ugcl(*words, "--seed", "3", "--out", run) == 0
    one, two = (load_file(run / "model.safetensors") for run in runs)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name)
    one, two = (np.load(run / "embeddings.npy") for run in runs)
    np.testing.assert_array_equal(one, two)
    for words in (
        ("evaluate",),
        ("neighbors", 3),
        ("embed", "--out", tmp_path / "embedded.npy"),
        ("report", "--out", tmp_path / "report.html"),
    ):
        command, *options = words
        results = []
        for run in runs:
            if command in ("evaluate", "neighbors"):
                results.append(answer(capsys, command, run, *options))
            else:
                assert ugcl(command, run, *options) == 0
                results.append(Path(options[-1]).read_bytes() if command == "embed" else b"")
                Path(options[-1]).unlink()
        assert results[0] == results[1], command


def make_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reliability, "LARGE_GRAPH", 100)
    monkeypatch.setattr(reliability, "SAMPLE", 60)
    monkeypatch.setattr(reliability, "MAX_ROWS", 80)
    for module in ("methods.models.ssl", "methods.models.multiscope"):
        monkeypatch.setattr(f"ugcl.{module}.LARGE_GRAPH", 100)


def test_features_of_half_precision_are_read_in_single_precision(tmp_path: Path) -> None:
    graph = graph_of("dense")
    graph.save_folder(tmp_path / "folder")
    half = graph.features.astype(np.float16)
    rounded = Graph(graph.adjacency, half.astype(np.float32), labels=graph.labels, name="small")
    object.__setattr__(graph, "features", half)
    graph.save_folder(tmp_path / "half")
    assert load_graph(tmp_path / "half").features.dtype == np.float16
    rounded.save_folder(tmp_path / "rounded")
    for method, options in PARAMS.items():
        for name in ("half", "rounded"):
            words = ("train", tmp_path / name, "--method", method, *options)
            assert ugcl(*words, "--out", tmp_path / f"{name}-{method}") == 0
        one, two = (
            np.load(tmp_path / f"{name}-{method}" / "embeddings.npy")
            for name in ("half", "rounded")
        )
        np.testing.assert_array_equal(one, two)
