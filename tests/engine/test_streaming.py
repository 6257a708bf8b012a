from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from conftest import make_graph
from small_runs import trained_run
from ugcl import Graph, UGCLError
from ugcl._utils import workspace
from ugcl._utils.workspace import Clock, Workspace, parse_size
from ugcl.engine import Fitted, fit, streaming
from ugcl.engine.streaming import streamed

PARAMS: dict[str, dict[str, Any]] = {
    "ugcl": {"epochs": 1, "hidden": 40, "scope": 2, "sample": 30},
    "dgi": {"epochs": 1, "hidden": 24, "scope": 1, "readout_scope": "component"},
    "grace": {"epochs": 1, "hidden": 20, "projector": 8, "readout": "blocks", "scope": 2},
    "bgrl": {"epochs": 1, "hidden": 20, "readout": "concat", "readout_scope": "graph"},
    "mvgrl": {"epochs": 1, "hidden": 20, "readout": "mean", "scope": 2},
    "multiscope": {"epochs": 2, "hidden": 32, "readout_scope": 3, "block_columns": 20},
    "pca": {"columns": 9, "scope": 2},
    "sign": {"block_columns": 9},
    "structure": {"block_columns": 9, "structure_columns": 6},
    "smooth": {"scope": 2},
}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small graphs have several blocks of rows and of columns."""
    monkeypatch.setattr(workspace, "ROWS", 16)
    monkeypatch.setattr(workspace, "WIDTH", 16)


def trained(method: str, graph: Graph, **params: Any) -> Fitted:
    return fit(method, graph, seed=1, device="cpu", **{**PARAMS[method], **params})


def stored_rows(fitted: Fitted, graph: Graph, folder: Path, **options: Any) -> np.ndarray:
    with streamed(
        fitted.model, graph, fitted.settings, device="cpu", folder=folder, **options
    ) as embeddings:
        rows = embeddings[:]
        picked = np.array([1, 7, 30])
        dense = rows.toarray() if hasattr(rows, "toarray") else rows
        again = embeddings[picked]
        np.testing.assert_array_equal(
            again.toarray() if hasattr(again, "toarray") else again, dense[picked]
        )
    assert not folder.exists()
    return np.asarray(dense)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("method", PARAMS)
def test_a_folder_has_the_bits_of_memory(method: str, sparse: bool, tmp_path: Path) -> None:
    """The graph in memory and mapped, embedded in memory and by stored blocks."""
    graph = make_graph(sparse=sparse)
    graph.save_folder(tmp_path / "graph")
    mapped = Graph.open(tmp_path / "graph")
    fitted = trained(method, graph)
    expected = fitted.embed(graph)
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    for each in (graph, mapped):
        found = stored_rows(fitted, each, tmp_path / "work", memory=10**10)
        np.testing.assert_array_equal(found, expected)
        again = fitted.embed(each)
        again = again.toarray() if hasattr(again, "toarray") else again
        np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("method", ["ugcl", "multiscope", "sign"])
def test_the_bits_do_not_depend_on_the_memory(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = make_graph(sparse=False)
    fitted = trained(method, graph, **({"hidden": 48} if method == "ugcl" else {}))
    widths, results = (16, 32, 64), []
    for width in widths:
        monkeypatch.setattr(Workspace, "block_width", lambda *_, w=width, **__: w)
        results.append(stored_rows(fitted, graph, tmp_path / "work", memory=10**10))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_float16_is_the_rounded_float32(tmp_path: Path) -> None:
    graph = make_graph(sparse=False)
    for method in ("ugcl", "grace"):
        fitted = trained(method, graph)
        half = stored_rows(fitted, graph, tmp_path / "work", memory=10**10, dtype="float16")
        assert half.dtype == np.float16
        np.testing.assert_array_equal(half, fitted.embed(graph).astype(np.float16))


def test_small_embeddings_are_computed_in_memory_unless_a_limit_is_given(tmp_path: Path) -> None:
    graph = make_graph()
    fitted = trained("ugcl", graph)
    with streamed(
        fitted.model, graph, fitted.settings, device="cpu", folder=tmp_path / "work"
    ) as embeddings:
        assert isinstance(embeddings, np.ndarray)
        assert not (tmp_path / "work").exists()


def test_too_little_memory_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    graph = make_graph()
    for method in ("ugcl", "multiscope", "pca"):
        with pytest.raises(UGCLError, match=r"`memory` 1.0 MB is too little .* allow at least"):
            stored_rows(trained(method, graph), graph, tmp_path / "work", memory=10**6)
    assert not (tmp_path / "work").exists()


def test_a_full_disk_is_said_before_the_work_and_during_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = make_graph()
    fitted = trained("ugcl", graph)
    with monkeypatch.context() as patch:
        usage = streaming.shutil.disk_usage(tmp_path)
        patch.setattr(streaming.shutil, "disk_usage", lambda _: usage._replace(free=100))
        with pytest.raises(UGCLError, match=r"needs about .* and 0.1 MB are free: make room"):
            stored_rows(fitted, graph, tmp_path / "work", memory=10**10)
    assert not (tmp_path / "work").exists()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(workspace.np.lib.format, "write_array_header_2_0", full)
        with pytest.raises(UGCLError, match=r"cannot write .*No space left on device.*make room"):
            stored_rows(fitted, graph, tmp_path / "work", memory=10**10)
    with monkeypatch.context() as patch:
        patch.setattr(workspace.os, "fsync", full)
        with pytest.raises(UGCLError, match="No space left on device"):
            stored_rows(fitted, graph, tmp_path / "work", memory=10**10)
    assert not list(tmp_path.glob("work/0*.npy"))
    found = stored_rows(fitted, graph, tmp_path / "work", memory=10**10)
    np.testing.assert_array_equal(found, fitted.embed(graph))


def test_embeddings_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    graph = make_graph()
    fitted = trained("ugcl", graph)
    with torch.no_grad():
        fitted.model.encoder.bias[3] = torch.nan  # type: ignore[attr-defined]
    with pytest.raises(UGCLError, match="not finite"):
        stored_rows(fitted, graph, tmp_path / "work", memory=10**10)


def test_a_computation_of_another_model_is_not_continued(tmp_path: Path) -> None:
    graph = make_graph()
    one, other = trained("ugcl", graph), trained("ugcl", graph, epochs=2)
    for fitted in (one, other):
        with (
            pytest.raises(KeyboardInterrupt),
            streamed(
                fitted.model,
                graph,
                fitted.settings,
                device="cpu",
                folder=tmp_path / "work",
                memory=10**10,
            ),
        ):
            raise KeyboardInterrupt
        assert (tmp_path / "work").is_dir()
    expected = one.embed(graph)
    found = stored_rows(one, graph, tmp_path / "work", memory=10**10)
    np.testing.assert_array_equal(found, expected)


KILLED = """
import os, signal, sys
from pathlib import Path
from ugcl import Graph
from ugcl._utils import workspace
from ugcl.runs import embed_to_file, load_run
workspace.ROWS, workspace.WIDTH = 16, 16
run, graph, out, steps = sys.argv[1:]
count, complete = int(steps), workspace._complete
def completed(*arguments):
    global count
    if count == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    count -= 1
    complete(*arguments)
workspace._complete = completed
arrays = workspace.Workspace.arrays
def waiting(work, *arguments):
    found = arrays(work, *arguments)
    work.finish()
    return found
workspace.Workspace.arrays = waiting
embed_to_file(load_run(run), Graph.open(graph), Path(out), memory=10**10)
print(int(steps) - count)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ugcl", "multiscope"])
def test_the_same_command_continues_after_a_kill_at_any_block(method: str, tmp_path: Path) -> None:
    graph = make_graph(sparse=False)
    graph.save_folder(tmp_path / "graph")
    run = trained_run(tmp_path / "graph", tmp_path / "run", PARAMS[method], method=method)
    expected, written = tmp_path / "whole.npy", tmp_path / "killed.npy"

    def embed(out: Path, steps: int) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", KILLED, run.path, tmp_path / "graph", out, steps]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True)

    total = int(embed(expected, 10**6).stdout)
    assert total > 5
    kills = 0
    while (ended := embed(written, 3)).returncode:
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert not written.exists()
        kills += 1
        assert kills <= total
    assert kills > 1
    assert written.read_bytes() == expected.read_bytes()
    assert not written.with_name("killed.npy.partial").exists()


def test_sizes_and_progress() -> None:
    assert [parse_size(text) for text in ("4GB", "1.5 gb", "500MB", "7")] == [
        4 * 10**9,
        1_500_000_000,
        500 * 10**6,
        7,
    ]
    for strange in ("", "x", "-4GB", "0", "4 PB"):
        with pytest.raises(UGCLError, match="is not a size"):
            parse_size(strange)
    lines: list[str] = []
    clock = Clock(lines.append, interval=0)
    for fraction in (0.2, 0.6):
        clock(fraction, "embedding")
    clock(0.1, "writing")
    assert lines[1].startswith("embedding: 60 %, about 0 s left")
    assert lines[2] == "writing: 10 %"


def test_blocks_are_as_wide_as_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "anonymous_memory", lambda: 5 * 10**8)
    n, gigabyte = 10**7, 10**9
    widths = {m: Workspace(memory=m * gigabyte).block_width(n, 256) for m in (3, 4, 8, 20)}
    assert widths == {3: 16, 4: 32, 8: 64, 20: 128}
    assert Workspace(memory=8 * gigabyte).block_width(1000, 256) == 64
    assert Workspace(memory=8 * gigabyte).block_width(n, 50) == 50
    assert Workspace().block_width(n, 256) == 64
    with pytest.raises(UGCLError, match="too little to embed 10,000,000 nodes"):
        Workspace(memory=2 * gigabyte).block_width(n, 256)
