"""Freed arrays that are used again instead of going back to the operating system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Parameters of glibc's mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4

_lock = Lock()
_depth = 0


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed memory in the process while this lasts.

    Every step of training allocates the same few large arrays. By default glibc asks the operating
    system for each anew and gives it back when it is freed; the page faults of touching it again
    cost more than the arithmetic on it. Elsewhere than on glibc nothing is changed.

    Afterwards free memory is given back, and the thresholds stay where glibc's own rule would have
    moved them at most: arrays of up to 32 MiB go on being used again.
    """
    global _depth
    libc = _glibc()
    if libc is None:
        yield
        return
    with _lock:
        _depth += 1
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                libc.mallopt(_MMAP_MAX, 65536)
                libc.mallopt(_MMAP_THRESHOLD, 32 * 2**20)
                libc.mallopt(_TRIM_THRESHOLD, 64 * 2**20)
                libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "gnu_get_libc_version") else None
