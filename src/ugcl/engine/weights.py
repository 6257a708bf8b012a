"""Weights that were read from a file: are they whole, and do they belong to the model?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from torch import Tensor, nn

from ugcl._utils.files import tensor_bytes


def digest(tensors: Mapping[str, Tensor], *texts: str) -> str:
    """Return the SHA-256 of tensors, with their names, dtypes and shapes, and of texts."""
    result = hashlib.sha256()
    for text in texts:
        result.update(f"{len(text)} {text}".encode())
    for name, value in sorted(tensors.items()):
        result.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode())
        result.update(tensor_bytes(value))
    return result.hexdigest()


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Load weights into a model; a `ValueError` says why they are not its weights."""
    expected = model.state_dict()
    if weights.keys() != expected.keys():
        strange = min(weights.keys() ^ expected.keys())
        raise ValueError(f"its weights do not fit its settings: '{strange}'")
    for name, value in weights.items():
        check_tensor(name, value, expected[name])
    model.load_state_dict(weights)


def check_tensor(name: str, value: Tensor, expected: Tensor) -> None:
    """Raise a `ValueError` for a tensor of another shape or dtype, or with NaN or infinity.

    NaN is allowed where the expected tensor has it, which then stands for an unknown value.
    """
    if value.shape != expected.shape:
        found, wanted = tuple(value.shape), tuple(expected.shape)
        raise ValueError(
            f"its weights do not fit its settings: '{name}' has the shape {found}, not {wanted}"
        )
    if value.dtype != expected.dtype:
        raise ValueError(f"'{name}' is of {value.dtype}, not {expected.dtype}")
    if not bool((value.isfinite() | expected.isnan()).all()):
        raise ValueError(f"'{name}' is not finite")
