"""Timing that survives a noisy machine: what is compared takes turns, and medians are compared."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping

BUDGET = 6.0
"""Seconds that are spent on a comparison, more or less."""


def seconds(function: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def medians(
    functions: Mapping[str, Callable[[], object]], warm_up: int = 4, budget: float = BUDGET
) -> dict[str, float]:
    """The median time of each function, in seconds, over rounds in which each is called once.

    At least 5 rounds, more as long as the budget lasts, at most 25.
    """
    for _ in range(max(warm_up, 1)):
        a_round = sum(seconds(function) for function in functions.values())
    rounds = min(max(5, math.ceil(budget / a_round)), 25)
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(seconds(function))
    return {name: statistics.median(values) for name, values in times.items()}


def exponent(sizes: list[float], values: list[float]) -> float:
    """The slope of log value over log size by least squares: 1 for linear growth."""
    return statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(max(value, 1e-12)) for value in values]
    ).slope
