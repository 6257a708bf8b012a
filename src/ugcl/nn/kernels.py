"""Switch between the fast kernels and the plain formulas that they implement.

Every kernel has its plain formula in the same module. `UGCL_PLAIN=1` in the environment, or
`with plain_formulas():`, computes the formulas instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_plain = os.environ.get("UGCL_PLAIN", "") not in ("", "0")


def plain() -> bool:
    """Return whether to compute the plain formulas."""
    return _plain


@contextmanager
def plain_formulas(on: bool = True) -> Iterator[None]:
    """Use the plain formulas inside this context, or with `on=False` the kernels."""
    global _plain
    before, _plain = _plain, on
    try:
        yield
    finally:
        _plain = before
