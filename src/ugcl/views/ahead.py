"""Sampling of the next step's views while a step is computed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """The function from an epoch to its sample, computed one epoch ahead in a thread.

    Results are those of the function itself, which must depend on the epoch alone. Reading from a
    disk then overlaps the arithmetic of a step.

    Args:
        sample: the function.
    """

    def __init__(self, sample: Callable[[int], T]) -> None:
        self.sample = sample
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="ugcl-sample")
        self.next: tuple[int, Future[T]] | None = None

    def __call__(self, epoch: int) -> T:
        """Return the sample of an epoch, and start with that of the next."""
        ahead, self.next = self.next, None
        known = ahead is not None and ahead[0] == epoch
        sample = ahead[1].result() if ahead is not None and known else self.sample(epoch)
        self.next = epoch + 1, self.pool.submit(self.sample, epoch + 1)
        return sample
