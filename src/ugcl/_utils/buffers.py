"""Memory of large arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def new_empty(like: Tensor, shape: Sequence[int]) -> Tensor:
    """Return an uninitialised tensor with the dtype and the device of another, for large arrays.

    On a CPU its memory is NumPy's. PyTorch asks for aligned memory, and glibc before 2.38 never
    finds it in a freed array of the same size, because it looks for some bytes more (its bug
    14581): where freed memory is kept, that of PyTorch's own arrays grows to several times what is
    used at once.
    """
    if like.device.type != "cpu":
        return like.new_empty(tuple(shape))
    dtype = torch.empty(0, dtype=like.dtype).numpy().dtype
    return torch.from_numpy(np.empty(tuple(shape), dtype))
