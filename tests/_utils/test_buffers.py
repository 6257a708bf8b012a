from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from ugcl._utils.buffers import new_empty

COUNT, SIZE = 40, 2**22

CODE = f"""
import random
from pathlib import Path
import torch
from ugcl._utils.buffers import new_empty
from ugcl.engine import keep_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

like, rng, live, small = torch.empty(0), random.Random(0), [], []
with keep_memory():
    before = resident()
    for _ in range({COUNT}):
        live.append(new_empty(like, ({SIZE // 4},)).fill_(1))
        small.append(torch.ones(3))
        if len(live) > 4:
            live.pop(rng.randrange(len(live)))
    print((resident() - before) // {SIZE})
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_has_the_dtype_and_the_shape(dtype: torch.dtype) -> None:
    tensor = new_empty(torch.empty(2, dtype=dtype), (3, 4))
    assert tensor.dtype == dtype
    assert tensor.shape == (3, 4)
    for size in range(1, 40):
        assert new_empty(tensor, (size,)).data_ptr() % 64 == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_freed_arrays_are_reused_where_memory_is_kept() -> None:
    """Five arrays are used at once; with PyTorch's own, most of the forty are fresh memory."""
    process = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) <= 8
