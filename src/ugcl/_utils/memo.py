"""Cache of expensive results about a matrix, shared by training and embedding."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import TypeVar

from ugcl.typing import CSRMatrix

T = TypeVar("T")

_cache: dict[tuple[int, Hashable], object] = {}


def cached_on(matrix: CSRMatrix, key: Hashable, compute: Callable[[], T]) -> T:
    """Return `compute()`, cached for as long as the matrix lives; the matrix must not change.

    Args:
        matrix: the matrix that the result belongs to.
        key: what else the result depends on.
        compute: called the first time.
    """
    entry = id(matrix), key
    if entry not in _cache:
        _cache[entry] = compute()
        weakref.finalize(matrix, _cache.pop, entry, None)
    result: T = _cache[entry]  # type: ignore[assignment]
    return result
