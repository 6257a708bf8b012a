"""What is costly to find out about a graph is found out once: for training and for embedding."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_known: dict[tuple[int, Hashable], Any] = {}


def remembered(adjacency: Any, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of a matrix that nobody changes; held as long as the matrix is.

    Args:
        adjacency: the matrix.
        key: what else the result depends on.
        make: called the first time.
    """
    place = id(adjacency), key
    if place not in _known:
        _known[place] = make()
        weakref.finalize(adjacency, _known.pop, place, None)
    found: T = _known[place]
    return found
