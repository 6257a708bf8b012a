"""Where to compute."""

from __future__ import annotations

import torch

from ugcl._utils.errors import UGCLError


def resolve_device(device: str) -> str:
    """The device that is meant: "auto" is CUDA where there is one."""
    available = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if available else "cpu"
    if device not in ("cpu", "cuda"):
        raise UGCLError(f"there is no device '{device}': use auto, cpu or cuda")
    if device == "cuda" and not available:
        raise UGCLError("there is no CUDA device here: use --device cpu, or auto")
    return device
