"""Memory of large arrays."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

ALIGNMENT = 64
"""Bytes of a cache line, PyTorch's own alignment."""


def new_empty(like: Tensor, shape: Sequence[int]) -> Tensor:
    """Return an uninitialised tensor with the dtype and the device of another, for large arrays.

    On a CPU its memory is NumPy's. PyTorch asks glibc for aligned memory, which is not found in a
    freed array of the same size, because some bytes more are looked for (seen with glibc 2.36; its
    bug 14581): where freed memory is kept, PyTorch's own arrays grow to several times what is used
    at once.
    """
    if like.device.type != "cpu":
        return like.new_empty(tuple(shape))
    size = like.element_size() * math.prod(shape)
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    dtype = torch.empty(0, dtype=like.dtype).numpy().dtype
    return torch.from_numpy(memory[start : start + size].view(dtype).reshape(tuple(shape)))


def mapped_tensor(array: npt.NDArray[Any]) -> Tensor:
    """Return an array as a tensor without a copy, also a read-only one, which nothing may write."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
