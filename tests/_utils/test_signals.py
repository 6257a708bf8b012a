"""Signals as exceptions, at once or after an update."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ugcl._utils import signals
from ugcl._utils.files import write_text
from ugcl._utils.signals import Interrupted, deferred, interruptible, raise_on_signals

BOTH = (signal.SIGINT, signal.SIGTERM)


def stopped(command: Callable[[], None]) -> int:
    """Run a command that a signal must stop, and return the signal."""
    with pytest.raises(Interrupted) as stop, raise_on_signals():
        command()
    return stop.value.number


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_raises_at_once_and_handlers_are_restored(number: signal.Signals) -> None:
    def command() -> None:
        signal.raise_signal(number)
        pytest.fail("not interrupted")

    before = [signal.getsignal(each) for each in BOTH]
    assert stopped(command) == number
    assert [signal.getsignal(each) for each in BOTH] == before


def test_a_deferred_signal_raises_at_the_end_of_the_outermost_context() -> None:
    done = []

    def command() -> None:
        with deferred():
            with deferred():
                signal.raise_signal(signal.SIGTERM)
                done.append(1)
            done.append(2)
        pytest.fail("not interrupted")

    assert stopped(command) == signal.SIGTERM
    assert done == [1, 2]


def test_a_deferred_signal_raises_where_it_may_interrupt() -> None:
    def before() -> None:
        with deferred():
            signal.raise_signal(signal.SIGTERM)
            with interruptible():
                pytest.fail("not interrupted")

    def inside() -> None:
        with deferred(), interruptible():
            signal.raise_signal(signal.SIGTERM)
            pytest.fail("not interrupted")

    assert stopped(before) == stopped(inside) == signal.SIGTERM
    with raise_on_signals(), deferred():  # a new command
        pass


def test_a_second_signal_does_not_wait_but_the_same_one_sent_twice_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def command() -> None:
        with deferred():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            monkeypatch.setattr(signals, "REPEAT", 0.0)
            signal.raise_signal(signal.SIGTERM)
            pytest.fail("not interrupted")

    assert stopped(command) == signal.SIGINT


def test_an_exception_made_of_an_interruption_is_replaced() -> None:
    def library() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except Interrupted:
            raise RuntimeError from None

    assert stopped(library) == signal.SIGINT
    with pytest.raises(RuntimeError), raise_on_signals():
        raise RuntimeError


def test_a_temporary_file_is_removed_if_the_signal_comes_as_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tempfile.mkstemp

    def interrupted(**arguments: Any) -> tuple[int, str]:
        made = make(**arguments)
        signal.raise_signal(signal.SIGTERM)
        return made

    monkeypatch.setattr(tempfile, "mkstemp", interrupted)
    assert stopped(lambda: write_text(tmp_path / "file", "text")) == signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored() -> None:
    """As for commands that a shell starts in the background, which Ctrl-C must not reach."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with raise_on_signals():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_neither_handle_nor_defer() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with raise_on_signals(), deferred(), interruptible():
                assert signals._deferred == 0
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []
