from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl._utils.errors import UGCLError
from ugcl.bench import bench_embed, bench_scaling, bench_step, suite
from ugcl.bench.child import in_fresh_process
from ugcl.bench.naive import naive_loss
from ugcl.bench.scaling import Problem
from ugcl.bench.step import PARTS
from ugcl.bench.timing import exponent, medians
from ugcl.cli import main
from ugcl.engine import Trainer
from ugcl.methods.ugcl import UGCLSettings

SMALL = {"hidden": 24, "sample": 40, "negatives": "all", "scope": 3}


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "graph.npz"
    make_graph(60, sparse=True).save(path)
    return str(path)


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_the_naive_loss_is_equation_5_of_the_encoders(context: str) -> None:
    graph = make_graph(12, sparse=False)
    params = {**SMALL, "sample": 12, "context": context}
    trainer = Trainer("ugcl", graph, preset="fast", device="cpu", **params)
    model, settings = trainer.model.double(), trainer.settings
    assert isinstance(settings, UGCLSettings)
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray())
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def encode(encoder: str) -> np.ndarray:
        weight, bias, slope = (
            parameters[f"{encoder}.{name}"].numpy() for name in ("weight", "bias", "slope")
        )
        return reference.gcn(adjacency, graph.features, weight, bias, float(slope[0]))

    lazy = (np.eye(12) + adjacency) / 2 if context == "lazy" else adjacency
    across = np.linalg.matrix_power(lazy, 3) @ encode("context_encoder")
    expected = reference.ugcl_loss(encode("encoder"), across, settings.temperature)
    features = torch.from_numpy(graph.features.astype(float))
    loss = naive_loss(torch.from_numpy(adjacency), features, parameters, settings)
    assert loss.item() == pytest.approx(expected)


def test_a_step_is_measured(saved: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="ugcl")
    result = bench_step(saved, "fast", params=SMALL)
    assert (result["S"], result["D"], result["n"]) == (40, 24, 3)
    for key in ("mm_seconds", "step_mm", "loss_mm", "naive_mm", "peak_bytes"):
        assert result[key] > 0
    assert tuple(result["parts_mm"]) == PARTS
    assert len(caplog.messages) == 3


def test_the_command_prints_the_measurements(
    saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--hidden", "16", "--sample", "30", "--negatives", "5", "--no-naive", "--json"]
    assert main(["bench", "step", saved, "--preset", "fast", *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"mm_seconds", "step_mm", "loss_mm", "naive_mm", "peak_bytes"} <= set(result)
    assert result["naive_mm"] is None
    assert result["machine"]["torch"] == torch.__version__


def test_memory_is_that_of_training_alone(saved: str, tmp_path: Path) -> None:
    params: dict[str, Any] = {**SMALL, "hidden": 2**16}
    peak = in_fresh_process("train", graph=saved, preset="fast", params=params, threads=1)[
        "peak_bytes"
    ]
    array = 4 * 40 * 2**16
    assert 6 * array < peak < 60 * array
    with pytest.raises(UGCLError, match=r"none\.npz"):
        in_fresh_process(
            "train", graph=str(tmp_path / "none.npz"), preset="fast", params={}, threads=1
        )


def test_a_process_that_is_killed_is_said_to_be(
    saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ugcl.bench.child._CODE", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(UGCLError, match="memory ran out"):
        in_fresh_process("train", graph=saved, preset="fast", params={}, threads=1)


def test_a_graph_with_nothing_to_learn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.npz"
    Graph.from_edges(np.zeros((0, 2), dtype=int), np.ones((1, 3))).save(path)
    with pytest.raises(UGCLError, match="one node"):
        bench_step(str(path), "fast")


def test_a_folder_that_cannot_be_written_is_refused_before_any_measurement(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UGCLError, match="pass a folder"):
        suite.bench_suite(tmp_path / "file")


@pytest.mark.slow
def test_the_loss_never_stores_all_similarities(tmp_path: Path) -> None:
    """With S x S of 1.6 GB and S x D of 2.6 MB, training stays far below S x S."""
    path = Problem(N=20_000, E=50_000).save(tmp_path)
    params = {"sample": 20_000, "hidden": 32, "scope": 1, "negatives": "all"}
    peak = in_fresh_process("train", graph=path, preset="fast", params=params, threads=1)[
        "peak_bytes"
    ]
    assert peak < 4 * 20_000**2 / 4


def test_medians_take_turns() -> None:
    calls: list[str] = []
    result = medians(
        {name: lambda name=name: calls.append(name) for name in "ab"}, warm_up=1, budget=1e-9
    )
    assert calls == list("ab") * 6
    assert set(result) == {"a", "b"}


def test_exponents() -> None:
    assert exponent([1, 2, 4], [3, 12, 48]) == pytest.approx(2)
    assert exponent([1, 2, 4], [5, 5, 5]) == pytest.approx(0)


@pytest.mark.slow
def test_the_suite_writes_data_and_a_picture(
    saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "STEPS", ((saved, "fast", False), ("cora", "fast", False)))
    monkeypatch.setattr(suite, "bench_scaling", lambda: bench_scaling({"n": (1, 2)}))
    monkeypatch.setattr(suite, "bench_embed", lambda: bench_embed((5_000, 10_000)))
    monkeypatch.setattr("ugcl.bench.scaling.Problem.__init__.__defaults__", (400, 800, 100, 16, 2))
    out = tmp_path / "bench"
    result = suite.bench_suite(out, data_root=str(tmp_path))
    assert json.loads((out / "bench.json").read_text()) == result
    assert set(result["left_out"]) == {"cora"}
    assert result["scaling"]["n"]["sizes"] == [1, 2]
    embedding = result["embed"]
    assert len(embedding["seconds"]) == len(embedding["products_seconds"]) == 2
    assert all(seconds > 0 for seconds in embedding["products_seconds"])
    slope = exponent([5_000, 10_000], embedding["seconds"])
    assert embedding["beyond_cache_exponent"] == pytest.approx(slope)
    assert (out / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_memory_of_methods_is_measured_once(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "memory.json"
    command = ["bench", "memory", saved, "--out", str(out), "--preset", "fast", "--methods"]
    assert main([*command, "ggd", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["method"], row["preset"], row["graph"]) == ("ggd", "fast", saved)
    assert row["peak_bytes"] > 0
    before = row["step_seconds"]
    assert main([*command, "ggd,dgi"]) == 0
    assert "dgi" in capsys.readouterr().out
    first, second = json.loads(out.read_text())["rows"]
    assert (first["step_seconds"], second["method"]) == (before, "dgi")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--methods", "gdi"], "no method called 'gdi'"),
        (["--preset", "authors"], "no preset called 'authors'"),
        (["no-such-graph"], "no-such-graph"),
    ],
)
def test_nothing_is_measured_before_all_is_known_to_be_there(
    saved: str, tmp_path: Path, wrong: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "memory.json"
    assert main(["bench", "memory", saved, *wrong, "--out", str(out)]) != 0
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("text", ["[1]", "{}", '{"machine": {}, "rows": [{"method": "ggd"}]}'])
def test_a_file_of_another_kind_is_kept(
    saved: str, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "other.json"
    out.write_text(text)
    assert main(["bench", "memory", saved, "--methods", "ggd", "--out", str(out)]) != 0
    assert "is not a result of this command: choose another --out" in capsys.readouterr().err
    assert out.read_text() == text


def test_walks_are_timed_for_walks_that_look_back_and_one_that_does_not(
    graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["bench", "walks", str(graph_file), "--walks", "2", "--length", "5"]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [(row["p"], row["q"]) for row in result["rows"]] == [(1, 1), (0.25, 4), (4, 0.25)]
    assert all(row["seconds"] > 0 for row in result["rows"])
    steps = {round(row["seconds"] * row["steps_per_second"]) for row in result["rows"]}
    assert len(steps) == 1
    assert main(arguments) == 0
    assert "2 walks of 5 nodes from every node of" in capsys.readouterr().out
