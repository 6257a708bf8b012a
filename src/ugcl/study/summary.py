"""Means over seeds and their errors."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from ugcl.evaluation import half_width, standard_error


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation (n - 1), to two decimals."""
    deviation = round(statistics.stdev(values), 2) if len(values) > 1 else None
    return round(statistics.fmean(values), 2), deviation


def combined_difference(differences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean over seeds of a paired difference, and its 95 % interval.

    All seeds share splits and nodes, so these errors do not shrink with more seeds; the standard
    error over seeds is added. Where seeds have different numbers of splits, the smallest counts.

    Args:
        differences: of each seed, as `Estimate.to_json` returns them.
    """
    means = [difference["mean"] for difference in differences]
    mean = statistics.fmean(means)
    num_splits = min(len(difference["by_split"]) for difference in differences)
    errors = [
        (math.sqrt(statistics.fmean(each[name] ** 2 for each in differences)), degrees)
        for name, degrees in (("error_splits", num_splits - 1), ("error_nodes", math.inf))
    ]
    half = half_width([(standard_error(means), len(means) - 1), *errors])
    return {"mean": round(mean, 2), "ci95": [round(mean - half, 2), round(mean + half, 2)]}
