from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest
import torch

from ugcl.engine import keep_memory

SIZE = 2**24


def page_faults(size: int = SIZE) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(size)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def min_faults(size: int = SIZE) -> int:
    """The minimum over many arrays: a small allocation may be in the way of one of them."""
    return min(page_faults(size) for _ in range(12))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is on Linux")
def test_freed_memory_is_reused_and_returned_afterwards() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with keep_memory():
        assert min_faults() < 100
        inside = resident()
        with keep_memory():
            pass
        assert min_faults() < 100
    assert inside - resident() > SIZE  # of 4 * SIZE bytes
    assert page_faults() > 100
    assert min_faults(SIZE // 8) < 100
