from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commands import fails, ugcl
from ugcl.bench import bench_busy, bench_start, commands

SECONDS = {"import torch": 2.0, "--version": 0.1, "datasets": 0.2, "train": 7.0, "embed": 1.0}
"""Seconds of a command that has one of these words; 0.5 for all others."""


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], Any]]:
    """Commands that would be run, each with its environment variables."""
    calls: list[tuple[Sequence[str], Any]] = []

    def call(words: Sequence[str], variables: Any = None) -> float:
        calls.append((words, variables))
        return next((value for word, value in SECONDS.items() if word in words), 0.5)

    monkeypatch.setattr(commands, "_call", call)
    monkeypatch.setattr(commands, "_training_seconds", lambda run: 4.0)
    monkeypatch.setattr(commands, "load_run", lambda run: FirstNode())
    return calls


class FirstNode:
    """A run whose first node has this id."""

    def ids(self) -> list[str]:
        return ["-ann", "bob"]


def test_commands_are_measured_in_units_of_importing_torch(called: list[Any]) -> None:
    result = bench_start("citeseer", repeats=2, data_root="data")
    assert result["torch_seconds"] == 2
    rows = {row["command"]: row for row in result["rows"]}
    assert rows["ugcl --version"]["overhead"] == pytest.approx(0.05)
    assert rows["ugcl train citeseer"]["seconds"] == 7
    assert rows["ugcl train citeseer"]["training_seconds"] == 4
    assert rows["ugcl train citeseer"]["overhead"] == pytest.approx(1.5)
    assert rows["ugcl neighbors"]["overhead"] == pytest.approx(0.25)
    assert [words[-2:] for words, _ in called if "neighbors" in words] == [("--", "-ann")] * 2
    folders = [words[-1] for words, _ in called if "train" in words]
    assert len(folders) == len(set(folders)) == 5  # no run folder is used twice
    assert all(variables in (None, {"UGCL_DATA": "data"}) for _, variables in called)


def test_a_busy_machine_is_compared_with_a_fair_share(
    called: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(
        commands,
        "_training_seconds",
        lambda run: {"0": 1.0, "4": 6.0 if "passive" in run.name else 30.0}[run.name[-1]],
    )
    running: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(words: Sequence[str]) -> subprocess.Popen[bytes]:
        running.append(popen(words))
        return running[-1]

    monkeypatch.setattr(commands.subprocess, "Popen", start)
    result = bench_busy("citeseer", others=4, repeats=1)
    assert result["fair"] == 3
    assert [row["factor"] for row in result["rows"]] == [2, 10]
    assert [variables for _, variables in called] == [{}, {}, *[commands.SPINNING] * 2]
    assert len(running) == 8
    assert all(process.poll() is not None for process in running)  # none is left


def test_bench_busy_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.npz"
    assert ugcl("generate", "sbm", "--nodes", 60, "--features", 8, "--out", graph) == 0
    capsys.readouterr()
    assert ugcl("bench", "busy", graph, "--others", 1, "--repeats", 1) == 0
    output = capsys.readouterr().out
    assert "sleep (default)" in output
    assert "busy / fair share" in output


@pytest.mark.parametrize("task", ["start", "busy"])
def test_an_error_of_the_command_is_shown(task: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no data set or file called 'nosuch'" in fails(capsys, "bench", task, "nosuch")


def test_bench_start_prints_a_table(called: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("bench", "start", "citeseer", "--repeats", 1) == 0
    output = capsys.readouterr().out
    assert "importing PyTorch takes 2.00 s" in output
    assert "ugcl train citeseer --method ugcl" in output
