"""Commands that a signal interrupts: when they stop, their exit code, and what they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commands import SMALL, ugcl
from ugcl.engine import Trainer
from ugcl.methods.preset import Preset

BITS = ("config.toml", "embeddings.npy", "model.safetensors", "nodes.parquet")


def interrupting(number: int, function: Callable[..., Any] = lambda *_, **__: None) -> Any:
    """A function that is sent a signal when it has done its work."""

    def interrupted(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        signal.raise_signal(number)
        return result

    return interrupted


def interrupt_epoch(monkeypatch: pytest.MonkeyPatch, epoch: int, number: int) -> None:
    """Send a signal in the loss of an epoch, once."""
    setup, sent = Trainer.setup, []

    def changed(trainer: Trainer) -> Callable[[int], Any]:
        loss_fn = setup(trainer)

        def loss(now: int) -> Any:
            value = loss_fn(now)
            if now == epoch and not sent:
                sent.append(now)
                signal.raise_signal(number)
            return value

        return loss

    monkeypatch.setattr(Trainer, "setup", changed)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_training_stops_inside_an_epoch_and_resumes_with_the_same_bits(
    number: int,
    code: int,
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "run folder"
    assert ugcl("train", graph_file, "--out", whole, *SMALL) == 0
    interrupt_epoch(monkeypatch, 3, number)
    capsys.readouterr()
    assert ugcl("train", graph_file, "--out", out, *SMALL) == code
    said = f"ugcl: stopped after epoch 3; resume: ugcl train --out '{out}' --resume"
    assert capsys.readouterr().err.splitlines()[-1] == said
    assert {path.name for path in out.iterdir()} == {
        *("config.toml", "log.jsonl", "checkpoint.safetensors")
    }
    assert ugcl("train", "--out", out, "--resume") == 0
    assert "resuming after epoch 3" in capsys.readouterr().err
    for name in BITS:
        assert (out / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize(
    ("module", "name"),
    [("ugcl.runs.preparation", "load_graph"), ("ugcl.runs.preparation", "resolve_scope")],
)
def test_before_training_nothing_is_left(
    module: str,
    name: str,
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(import_module(module), name, interrupting(signal.SIGTERM))
    assert ugcl("train", graph_file, "--out", tmp_path / "run", *SMALL) == 143
    assert capsys.readouterr().err.splitlines()[-1] == "ugcl: interrupted"
    assert list(tmp_path.iterdir()) == [graph_file]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("ugcl.engine.fitted", "Fitted.embed"),
        ("ugcl.runs.train", "diagnose_collapse"),
        ("numpy.lib.format", "write_array"),
        ("ugcl._utils.files", "tensor_bytes"),
        ("pyarrow.parquet", "write_table"),
    ],
)
def test_after_training_no_file_is_half_written(
    module: str, name: str, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "run"
    assert ugcl("train", graph_file, "--out", whole, *SMALL) == 0
    owner: Any = import_module(module)
    *path, name = name.split(".")
    for each in path:
        owner = getattr(owner, each)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupting(signal.SIGTERM, getattr(owner, name)))
        assert ugcl("train", graph_file, "--out", out, *SMALL) == 143
    assert not any(file.name.startswith(".") for file in out.iterdir())
    assert not (out / "metrics.json").exists()
    assert ugcl("train", "--out", out, "--resume") == 0
    for each in BITS:
        assert (out / each).read_bytes() == (whole / each).read_bytes()


@pytest.mark.parametrize(
    ("words", "module", "name"),
    [
        (("check",), "ugcl.check.components", "connected_components"),
        (("scope",), "ugcl.data", "load_graph"),
        (("study", "run"), "ugcl.study.plan", "prepare"),
    ],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_every_command_has_these_exit_codes(
    words: tuple[str, ...],
    module: str,
    name: str,
    number: int,
    code: int,
    graph_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module(module), name, interrupting(number))
    out = ("--out", tmp_path / "out.json") if words[0] == "study" else ()
    assert ugcl(*words, graph_file, *out) == code


STUDY = [
    *("study", "classification", "--methods", "grace,dgi", "--seeds", "1", "--splits", "2"),
    "--data",
]


@pytest.mark.slow
def test_a_study_is_continued(
    large_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = Preset.values
    monkeypatch.setattr(Preset, "values", lambda *a: {**values(*a), "epochs": 4, "hidden": 8})
    interrupt_epoch(monkeypatch, 2, signal.SIGTERM)
    assert ugcl(*STUDY, large_file, "--out", tmp_path / "study") == 143
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "ugcl: stopped after epoch 2; the same command continues the study"
    assert list((tmp_path / "study/runs").rglob("checkpoint.safetensors"))
    assert ugcl(*STUDY, large_file, "--out", tmp_path / "study") == 0
    assert (tmp_path / "study/cells.jsonl").read_text().count('"error"') == 0


def children_of(process: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    file = Path(f"/proc/{process}/task/{process}/children")
    if not file.is_file():
        pytest.skip("this system does not list the children of a process")
    own = [int(number) for number in file.read_text().split()]
    return own + [each for child in own for each in children_of(child)]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_study_ends_its_workers(tmp_path: Path, number: int, code: int) -> None:
    out = tmp_path / "study"
    words = [sys.executable, "-m", "ugcl", *STUDY, "citeseer", "--jobs", "2", "--out", str(out)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    deadline = time.monotonic() + 120
    while len(list(out.rglob("log.jsonl"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    workers = children_of(process.pid)
    assert len(workers) >= 2
    sent = time.monotonic()
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - sent < 2
    assert process.returncode == code
    assert said.splitlines()[-1] == "ugcl: stopped; the same command continues the study"
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() - sent < 4
        time.sleep(0.01)
