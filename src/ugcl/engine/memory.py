"""Reuse of freed memory in training."""

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
def keep_memory() -> Iterator[None]:
    """Keep freed memory in the process inside this context.

    Every training step allocates the same few large arrays. By default glibc requests each of them
    from the operating system and returns it when it is freed; the page faults cost more than the
    arithmetic on the arrays. On other C libraries nothing changes.

    Afterwards free memory is returned, and the thresholds are the highest that glibc's own rule
    could have set: arrays of up to 32 MiB are still reused.
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
