"""Progress of loops that take long, reported to whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Report = Callable[[str, int, int], None]
"""Takes what is done, how many steps of it are done, and of how many; all of them at its end."""

_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting_to(report: Report | None) -> Iterator[None]:
    """Report the loops inside this context; None for none of them."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def steps(what: str, items: Iterable[T], total: int) -> Iterator[T]:
    """Yield items and report how many are done; a loop may end early.

    Args:
        what: what the loop does, as in "choosing n".
        items: the items.
        total: how many there are at most.
    """
    report = _report.get()
    if report is None:
        yield from items
        return
    report(what, 0, total)
    done = 0
    try:
        for item in items:
            yield item
            done += 1
            if done < total:
                report(what, done, total)
    finally:
        report(what, total, total)
