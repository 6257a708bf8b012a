"""Timing on a noisy machine: functions take turns, and their medians are compared."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

BUDGET = 6.0
"""Approximate seconds for a comparison."""


def seconds(function: Callable[[], object]) -> float:
    """Return the time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(
    functions: Mapping[str, Callable[[], object]], warm_up: int = 4, budget: float = BUDGET
) -> dict[str, float]:
    """Return the median seconds of each function over rounds in which each is called once.

    There are 5 to 25 rounds, as many as fit into the budget.
    """
    for _ in range(max(warm_up, 1)):
        round_seconds = sum(seconds(function) for function in functions.values())
    rounds = min(max(5, math.ceil(budget / round_seconds)), 25)
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(seconds(function))
    return {name: statistics.median(values) for name, values in times.items()}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the least-squares slope of log value over log size: 1 for linear growth."""
    return statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(max(value, 1e-12)) for value in values]
    ).slope
