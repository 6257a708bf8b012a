"""Statistics over many splits: means, paired differences and their confidence intervals.

Random splits test on largely the same nodes, so they are not independent experiments, and the
standard error over splits alone is too small. Two sources of variance are counted: the choice of
training nodes and that of test nodes. With m_j the mean outcome of split j over its test nodes, and
b_v the mean outcome of node v over the splits that test it,

    mean = mean_j m_j,    SE^2 = var_j(m_j) / J + var_v(b_v) / V.

More splits reduce only the first term. Nodes are treated as independent; neighbours are correlated,
so the second term is more likely too small than too large. For the difference of two embeddings the
outcomes are subtracted node by node first: a paired comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from ugcl._utils.errors import UGCLError
from ugcl.typing import NodeIndices

LEVEL = 0.95


@dataclass(frozen=True)
class Outcomes:
    """Which test nodes were classified correctly in which split.

    Attributes:
        tested: J x N, whether split j tests node v.
        correct: J x N, whether it was classified correctly; False where it was not tested.
        validation: J accuracies on the splits' validation nodes, in percent; None if unknown.
    """

    tested: npt.NDArray[np.bool_]
    correct: npt.NDArray[np.bool_]
    validation: npt.NDArray[np.float64] | None = None

    @classmethod
    def gather(
        cls,
        num_nodes: int,
        nodes: Sequence[NodeIndices],
        correct: Sequence[npt.NDArray[np.bool_]],
        validation: npt.NDArray[np.float64] | None = None,
    ) -> Outcomes:
        """Collect the outcomes from each split's test nodes and whether they are correct."""
        table = np.zeros((2, len(nodes), num_nodes), dtype=bool)
        for split, (test_nodes, outcomes) in enumerate(zip(nodes, correct, strict=True)):
            table[0, split, test_nodes] = True
            table[1, split, test_nodes] = outcomes
        return cls(table[0], table[1], validation)

    def accuracy(self) -> Estimate:
        """Return the mean accuracy over the splits, in percent."""
        return _estimate(self.correct.astype(np.float64), self.tested)

    def gain_over(self, other: Outcomes) -> Estimate:
        """Return the mean paired difference in accuracy to other outcomes, in points."""
        if not np.array_equal(self.tested, other.tested):
            raise UGCLError("the two were tested on different nodes: use the same splits for both")
        return _estimate(self.correct.astype(np.float64) - other.correct, self.tested)


@dataclass(frozen=True)
class Estimate:
    """A mean over splits and nodes, in percent.

    Attributes:
        mean: the mean.
        low: lower end of the 95 % confidence interval.
        high: upper end.
        error_splits: standard error from the choice of training nodes.
        error_nodes: standard error from the choice of test nodes.
        by_split: the mean in each split.
    """

    mean: float
    low: float
    high: float
    error_splits: float
    error_nodes: float
    by_split: tuple[float, ...]

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        return {
            "mean": round(self.mean, 4),
            "ci95": [round(self.low, 4), round(self.high, 4)],
            "error_splits": round(self.error_splits, 4),
            "error_nodes": round(self.error_nodes, 4),
            "by_split": [round(value, 4) for value in self.by_split],
        }


def _estimate(values: npt.NDArray[np.float64], tested: npt.NDArray[np.bool_]) -> Estimate:
    """Return mean and interval; with one split the error comes from its test nodes alone."""
    by_split = 100 * values.sum(axis=1) / tested.sum(axis=1)
    num_tests = tested.sum(axis=0)
    is_tested = num_tests > 0
    by_node = 100 * values.sum(axis=0)[is_tested] / num_tests[is_tested]
    errors = standard_error(by_split), standard_error(by_node)
    mean = float(by_split.mean())
    half = half_width([(errors[0], by_split.size - 1), (errors[1], by_node.size - 1)])
    return Estimate(mean, mean - half, mean + half, *errors, tuple(by_split.tolist()))


def standard_error(values: npt.ArrayLike) -> float:
    """Return the standard error of the mean of independent values; 0 for a single one."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.std(ddof=1) / np.sqrt(array.size)) if array.size > 1 else 0.0


def half_width(errors: Sequence[tuple[float, float]]) -> float:
    """Return half of the 95 % interval of a mean whose variance is a sum of independent parts.

    Student's t with the degrees of freedom of Welch and Satterthwaite.

    Args:
        errors: the standard error of each part and its degrees of freedom.
    """
    variance = sum(error**2 for error, _ in errors)
    if variance == 0:
        return 0.0
    denominator = sum(error**4 / max(degrees, 1) for error, degrees in errors)
    degrees_of_freedom = variance**2 / denominator if denominator else np.inf
    return float(stats.t.ppf((1 + LEVEL) / 2, degrees_of_freedom) * np.sqrt(variance))
