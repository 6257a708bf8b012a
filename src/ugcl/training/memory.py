"""Freed arrays that are used again instead of going back to the operating system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Parameters of glibc's mallopt(3), and their defaults.
_TRIM_THRESHOLD, _DEFAULT_TRIM = -1, 128 * 1024
_MMAP_MAX, _DEFAULT_MMAPS = -4, 65536
_INT_MAX = 2**31 - 1


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed memory in the process while this lasts.

    Every step of training allocates the same few large arrays. By default glibc asks the operating
    system for each anew and gives it back when it is freed; the page faults of touching it again
    cost more than the arithmetic on it. Elsewhere than on glibc nothing is changed.
    """
    libc = _glibc()
    if libc is None:
        yield
        return
    libc.mallopt(_MMAP_MAX, 0)
    libc.mallopt(_TRIM_THRESHOLD, _INT_MAX)
    try:
        yield
    finally:
        libc.mallopt(_MMAP_MAX, _DEFAULT_MMAPS)
        libc.mallopt(_TRIM_THRESHOLD, _DEFAULT_TRIM)
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None
