from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ugcl import UGCLError
from ugcl._utils.locks import LOCK, locked

HOLD = """
import sys
from pathlib import Path
from ugcl._utils.locks import locked
with locked(Path(sys.argv[1]), "x"):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process


def test_another_process_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with held(tmp_path) as process:
        expected = (
            rf"^another process trains into {tmp_path} \(process {process.pid}\): wait until it "
            "has ended, or choose another `out`$"
        )
        for _ in range(2):
            with (
                pytest.raises(UGCLError, match=expected),
                locked(tmp_path, "another process trains into"),
            ):
                pass
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path, "x"):
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with held(tmp_path) as process:
        process.kill()
        process.wait()
        assert (tmp_path / LOCK).is_file()
        with locked(tmp_path, "x"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_process_may_wait(tmp_path: Path) -> None:
    with held(tmp_path) as process:
        assert process.stdin is not None
        threading.Timer(0.3, process.stdin.close).start()
        with locked(tmp_path, "x", wait=True):
            assert (tmp_path / LOCK).is_file()
    assert list(tmp_path.iterdir()) == []


def test_only_one_of_many_has_the_lock(tmp_path: Path) -> None:
    """Each removes the file when it ends: nobody may lock a file that is gone."""
    inside, most = [], []

    def work() -> None:
        for _ in range(30):
            with locked(tmp_path, "x", wait=True):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 120
    assert max(most) == 1
