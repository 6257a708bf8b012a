from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from conftest import make_graph
from ugcl._utils.memo import cached_on


def counted(calls: list[str], name: str) -> Callable[[], str]:
    """A function that returns a name and records its call."""

    def compute() -> str:
        calls.append(name)
        return name

    return compute


def test_a_result_is_computed_once_for_a_matrix_and_a_key() -> None:
    calls: list[str] = []
    matrix, other = (make_graph(seed=seed).adjacency for seed in (0, 1))
    for _ in range(3):
        assert cached_on(matrix, ("a", 1), counted(calls, "first")) == "first"
        assert cached_on(matrix, ("a", 2), counted(calls, "second")) == "second"
        assert cached_on(other, ("a", 1), counted(calls, "third")) == "third"
        assert cached_on(matrix.copy(), ("a", 1), counted(calls, "copy")) == "copy"
    assert calls == ["first", "second", "third", "copy", "copy", "copy"]


def test_none_is_cached_as_well() -> None:
    calls: list[None] = []
    matrix = make_graph().adjacency
    for _ in range(2):
        assert cached_on(matrix, "nothing", lambda: calls.append(None)) is None
    assert len(calls) == 1


class Costly:
    """Counts its living instances."""

    alive = 0

    def __init__(self) -> None:
        Costly.alive += 1

    def __del__(self) -> None:
        Costly.alive -= 1


def test_results_are_freed_with_their_matrix() -> None:
    matrix, other = (make_graph(seed=seed).adjacency for seed in (0, 1))
    for key in range(3):
        cached_on(matrix, key, Costly)
    kept = cached_on(other, 0, Costly)
    gc.collect()
    assert Costly.alive == 4
    del matrix
    gc.collect()
    assert Costly.alive == 1
    assert cached_on(other, 0, Costly) is kept


def test_after_an_error_the_result_is_computed_again() -> None:
    matrix, calls = make_graph().adjacency, list[str]()

    def fails() -> str:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        cached_on(matrix, 0, fails)
    assert cached_on(matrix, 0, counted(calls, "now")) == "now"
