from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ugcl import UGCLError
from ugcl.bench import child
from ugcl.bench.child import in_fresh_process
from ugcl.bench.scaling import Problem


@pytest.mark.slow
def test_memory_is_that_of_training_alone(saved: str) -> None:
    params = {"hidden": 2**16, "sample": 40, "negatives": "all", "scope": 3}
    measured = in_fresh_process("train", graph=saved, preset="fast", params=params, threads=1)
    array = 4 * 40 * 2**16
    assert 6 * array < measured["peak_bytes"] < 60 * array
    assert measured["step_seconds"] > 0


def test_child_exits_with_the_message_of_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {"task": "train", "graph": str(tmp_path / "none.npz"), "data_root": None}
    request |= {"method": "ugcl", "threads": 1}
    monkeypatch.setattr(sys, "argv", ["-c", json.dumps(request)])
    with pytest.raises(SystemExit, match=r"none\.npz"):
        child.main()


def test_message_of_a_child_is_an_error(saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_CODE", "import sys; sys.exit('there is no such graph')")
    with pytest.raises(UGCLError, match=r"^there is no such graph$"):
        in_fresh_process("train", graph=saved)


def test_the_answer_is_found_among_other_output(
    saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import atexit; atexit.register(print, 'bye'); print('progress', end='');"
        'print("\\n" + child.ANSWER + \'{"seconds": 1}\')'
    )
    monkeypatch.setattr(child, "_CODE", f"from ugcl.bench import child; {code}")
    assert in_fresh_process("train", graph=saved) == {"seconds": 1}


@pytest.mark.parametrize(("code", "message"), [("exit(3)", "ended by 3"), ("0", "ended by 0")])
def test_a_child_without_an_answer_is_an_error(
    code: str, message: str, saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "_CODE", code)
    with pytest.raises(UGCLError, match=message):
        in_fresh_process("train", graph=saved)


def test_killed_child_is_an_error(saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_CODE", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(UGCLError, match="memory ran out"):
        in_fresh_process("train", graph=saved)


@pytest.mark.slow
def test_loss_never_stores_all_similarities(tmp_path: Path) -> None:
    """With S x S of 1.6 GB and S x D of 2.6 MB, training stays far below S x S."""
    path = Problem(N=20_000, E=50_000).save(tmp_path)
    params = {"sample": 20_000, "hidden": 32, "scope": 1, "negatives": "all"}
    measured = in_fresh_process(
        "train", graph=path, preset="fast", params=params, threads=1, steps=2
    )
    assert measured["peak_bytes"] < 4 * 20_000**2 / 4
