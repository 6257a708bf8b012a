"""Numbers of bytes as text."""

from __future__ import annotations

import re

from ugcl._utils.errors import UGCLError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}i": 2 ** (10 * i) for i, unit in enumerate("KMGT", 1)}


def parse_size(text: str | int, name: str = "memory") -> int:
    """Return a number of bytes, given as such or like `4GB`, `512MB`, `2GiB`.

    Args:
        text: the size.
        name: of the parameter, for messages.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]i?)?B?\s*", str(text), re.I)
    if match is None or float(match[1]) == 0:
        raise UGCLError(f"`{name}` must be a size such as 4GB or 512MB, not {text!r}")
    unit = (match[2] or "").upper().replace("I", "i")
    return int(float(match[1]) * UNITS[unit])


def size(count: float) -> str:
    """Return a number of bytes as text, rounded up."""
    unit, name = (10**9, "GB") if count >= 10**9 else (10**6, "MB")
    return f"{-(-count * 10 // unit) / 10:,.1f} {name}"
