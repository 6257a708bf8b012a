from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest
import torch

from ugcl.engine import kept_memory

SIZE = 2**24


def faults_of_a_fresh_array(size: int = SIZE) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(size)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def least_faults(size: int = SIZE) -> int:
    """Of many arrays one after the other: something small may lie in the way of one of them."""
    return min(faults_of_a_fresh_array(size) for _ in range(12))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is on Linux")
def test_freed_memory_is_used_again_and_given_back_afterwards() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with kept_memory():
        assert least_faults() < 100
        held = resident()
        with kept_memory():
            pass
        assert least_faults() < 100
    assert held - resident() > SIZE  # of 4 * SIZE bytes
    assert faults_of_a_fresh_array() > 100
    assert least_faults(SIZE // 8) < 100
