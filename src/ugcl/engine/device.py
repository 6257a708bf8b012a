"""Devices."""

from __future__ import annotations

import torch

from ugcl._utils.errors import UGCLError


def resolve_device(device: str) -> str:
    """Return the device; "auto" is CUDA where it is available."""
    available = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if available else "cpu"
    if device not in ("cpu", "cuda"):
        raise UGCLError(f"there is no device '{device}': use auto, cpu or cuda")
    if device == "cuda" and not available:
        raise UGCLError("there is no CUDA device here: use `device` cpu or auto")
    return device
