"""PyTorch's Adam and AdamW without its compiler, which takes a second to import.

PyTorch wraps some methods of optimizers so that `torch.compile` works on them, and imports the
compiler when they are called. Here they are called without this wrapper: the steps are the same.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import torch

WRAPPED = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")


class _Uncompiled(torch.optim.Optimizer):
    """Calls methods without their wrappers; a step is never differentiable."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in WRAPPED:
            setattr(cls, name, unwrap(getattr(cls, name)))
        step = unwrap(cls.step)
        cls.step = torch.no_grad()(lambda self, closure=None: step(self, closure))  # type: ignore[method-assign]


class Adam(_Uncompiled, torch.optim.Adam):
    """`torch.optim.Adam`."""


class AdamW(_Uncompiled, torch.optim.AdamW):
    """`torch.optim.AdamW`."""
