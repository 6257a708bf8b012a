"""Progress, --quiet, and what `ugcl train` ends with."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path

import pytest

from commands import ugcl
from ugcl._utils.progress import reporting_to, steps
from ugcl.cli import COMMANDS, app, progress
from ugcl.cli.command import Group
from ugcl.cli.output import quiet, say


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def count(clock: Clock, seconds: float) -> None:
    with progress.Loops() as loops, reporting_to(loops):
        for _ in steps("counting", range(20), 20):
            clock.now += seconds


def test_long_loops_print_rate_and_remaining_time(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    count(clock, 0.1)
    assert capsys.readouterr().err == ""
    count(clock, 2.5)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "counting: 4/20, 2.5 s each, 40 s left"
    assert len(lines) == 4
    with quiet():
        count(clock, 2.5)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_bars_of_nested_loops(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress.Loops() as loops, reporting_to(loops):
        for _ in steps("splits", range(3), 3):
            clock.now += 1
            for _ in steps("counting", range(5), 5):
                clock.now += 0.25
                if loops.bar is not None:
                    loops.bar.refresh()
    assert loops.bar is None
    text = stream.getvalue()
    assert "splits" in text
    assert "4.0/s" in text
    assert "s left" in text


def test_quiet_prints_results_and_warnings_only(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("train", graph_file, "--out", tmp_path / "run", "--hidden", 8, "--epochs", 2)
    assert ugcl(*words, "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "trained 2 epochs" in printed.out
    assert ugcl("train", graph_file, "--out", tmp_path / "run", "--quiet") == 2
    assert "exists already" in capsys.readouterr().err
    say("spoken")
    with quiet():
        say("silent")
        say("warning", always=True)
    assert capsys.readouterr().err == "spoken\nwarning\n"


def test_all_commands_have_quiet_and_json() -> None:
    context = app.make_context("ugcl", [], resilient_parsing=True)
    groups = [app]
    for group in groups:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, Group):
                groups.append(command)
            else:
                options = {opt for param in command.params for opt in param.opts}
                assert {"--quiet", "--json"} <= options, name
    assert len(COMMANDS) == len(app.list_commands(context))


def test_training_ends_with_commands_that_run(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("train", graph_file, "--method", "ugcl", "--hidden", 8, "--epochs", 2)
    assert ugcl(*words, "--scope", "auto", "--out", tmp_path / "run", "--json") == 0
    following = json.loads(capsys.readouterr().out)["next"]
    config = json.loads((tmp_path / "run" / "metrics.json").read_text())
    chosen = config["scope_choice"]["n"]
    assert following[0] == f"ugcl evaluate {tmp_path / 'run'}"
    assert f"--scope {chosen}" in following[-1]
    assert ugcl(*shlex.split(following[-1])[1:]) == 0
    printed = capsys.readouterr()
    assert "choosing n" not in printed.err
    assert (tmp_path / "run-seed1" / "embeddings.npy").is_file()
