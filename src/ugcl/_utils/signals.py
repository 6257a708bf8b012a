"""Signals that end a command: they raise an exception at once, or wait for an update to finish.

`raise_on_signals` installs the handlers, for the command line. Without it the contexts of this
module do nothing, and Ctrl-C raises Python's `KeyboardInterrupt`.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

REPEAT = 1.0
"""Seconds within which a second signal is the first once more, sent to a group of processes."""


class Interrupted(KeyboardInterrupt):
    """A signal has ended the command.

    Attributes:
        number: the signal.
        message: what was stopped, for the command line; "" where it is not known.
    """

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(number)
        self.number, self.message = number, message


_requested: Interrupted | None = None
_requested_at = 0.0
_deferred = 0


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise `Interrupted` on SIGINT and SIGTERM inside this context, in the main thread.

    A second signal raises even where the first one has to wait. An ignored signal stays ignored.
    Another exception, into which a library has turned the first, is replaced.
    """
    global _requested
    if not _in_main_thread():
        yield
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {n: old for n, old in previous.items() if old not in (signal.SIG_IGN, None)}
    outer, _requested = _requested, None
    try:
        for number in replaced:
            signal.signal(number, _handle)
        yield
    except Exception as error:
        if _requested is not None:
            raise _requested from error
        raise
    finally:
        for number, old in replaced.items():
            signal.signal(number, old)
        _requested = outer


@contextmanager
def deferred() -> Iterator[None]:
    """Let signals wait until the end of this context, which may be entered again inside."""
    global _deferred
    if not _in_main_thread():
        yield
        return
    _deferred += 1
    try:
        yield
    finally:
        _deferred -= 1
    raise_if_requested()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let signals raise inside this context, although it is inside of `deferred`."""
    global _deferred
    if not _in_main_thread():
        yield
        return
    outer, _deferred = _deferred, 0
    try:
        raise_if_requested()
        yield
    finally:
        _deferred = outer


def raise_if_requested() -> None:
    """Raise for a signal that has waited, or whose exception was lost in a destructor."""
    if _requested is not None and not _deferred:
        raise _requested


def _handle(number: int, frame: object) -> None:
    global _requested, _requested_at
    now = time.monotonic()
    if _requested is None:
        _requested, _requested_at = Interrupted(number), now
        if _deferred:
            return
    elif now - _requested_at < REPEAT:
        return
    raise _requested


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
