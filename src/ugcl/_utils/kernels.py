"""One switch between the fast kernels and the plain formulas that they stand for.

A kernel computes what a plain formula beside it says, in less time and memory. `UGCL_PLAIN=1` in
the environment, or `with plain_formulas():`, has the formulas computed instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_plain = os.environ.get("UGCL_PLAIN", "") not in ("", "0")


def plain() -> bool:
    """Whether the plain formulas are asked for."""
    return _plain


@contextmanager
def plain_formulas(on: bool = True) -> Iterator[None]:
    """Compute by the plain formulas here, or with `on=False` by the kernels."""
    global _plain
    before, _plain = _plain, on
    try:
        yield
    finally:
        _plain = before
