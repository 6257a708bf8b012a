from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest
import torch

from ugcl.training import kept_memory

SIZE = 2**24


def faults_of_a_fresh_array(size: int = SIZE) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(size)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is on Linux")
def test_freed_memory_is_used_again_and_given_back_afterwards() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with kept_memory():
        for _ in range(5):
            torch.ones(SIZE)
        assert faults_of_a_fresh_array() < 100
        held = resident()
        with kept_memory():
            pass
        assert faults_of_a_fresh_array() < 100
    assert held - resident() > SIZE  # of 4 * SIZE bytes
    assert faults_of_a_fresh_array() > 100
    small = SIZE // 8
    for _ in range(5):
        torch.ones(small)
    assert faults_of_a_fresh_array(small) < 100
