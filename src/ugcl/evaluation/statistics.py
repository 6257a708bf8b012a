"""Comparing embeddings over many splits: means, paired differences, and what they are worth.

A split draws training nodes at random and tests on most of the others, so two splits test on
largely the same nodes: twenty splits are not twenty independent experiments, and the usual standard
error over splits is too small for a statement about more than these nodes. Both sources of chance
are therefore counted. With m_j the mean outcome of split j over its test nodes, and b_v the mean
outcome of node v over the splits that test it,

    mean = mean_j m_j,    SE^2 = var_j(m_j) / J + var_v(b_v) / V.

More splits shrink the first term only. Nodes count as independent of each other; neighbours are
somewhat alike, so that the second term is rather too small than too large. For a difference of two
embeddings the outcomes are subtracted node by node first, so that what is hard for both cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from ugcl._utils.errors import UGCLError

LEVEL = 0.95


@dataclass(frozen=True)
class Outcomes:
    """Which test nodes were classified correctly in which split.

    Attributes:
        tested: J x N, whether split j tests node v.
        correct: J x N, whether it was classified correctly; False where it was not tested.
        validation: J accuracies on the splits' validation nodes, in percent, where they are known.
    """

    tested: npt.NDArray[np.bool_]
    correct: npt.NDArray[np.bool_]
    validation: npt.NDArray[np.float64] | None = None

    @classmethod
    def gather(
        cls,
        num_nodes: int,
        nodes: Sequence[npt.NDArray[np.int64]],
        correct: Sequence[npt.NDArray[np.bool_]],
        validation: npt.NDArray[np.float64] | None = None,
    ) -> Outcomes:
        """From each split's test nodes and their outcomes."""
        table = np.zeros((2, len(nodes), num_nodes), dtype=bool)
        for split, (members, right) in enumerate(zip(nodes, correct, strict=True)):
            table[0, split, members] = True
            table[1, split, members] = right
        return cls(table[0], table[1], validation)

    def accuracy(self) -> Estimate:
        """Mean accuracy over the splits, in percent."""
        return _estimate(self.correct.astype(np.float64), self.tested)

    def gain_over(self, other: Outcomes) -> Estimate:
        """Mean paired difference in accuracy to another embedding's outcomes, in points."""
        if not np.array_equal(self.tested, other.tested):
            raise UGCLError("the two were tested on different nodes: use the same splits for both")
        return _estimate(self.correct.astype(np.float64) - other.correct, self.tested)


@dataclass(frozen=True)
class Estimate:
    """A mean over splits and nodes, in percent.

    Attributes:
        mean: the mean.
        low: lower end of its 95 % confidence interval.
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
        """Whether the interval leaves out zero: whether a difference is beyond noise."""
        return self.low > 0 or self.high < 0

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "mean": round(self.mean, 4),
            "ci95": [round(self.low, 4), round(self.high, 4)],
            "error_splits": round(self.error_splits, 4),
            "error_nodes": round(self.error_nodes, 4),
            "by_split": [round(value, 4) for value in self.by_split],
        }


def _estimate(values: npt.NDArray[np.float64], tested: npt.NDArray[np.bool_]) -> Estimate:
    """Mean and interval; one split has no error from splits, only from its test nodes."""
    by_split = 100 * values.sum(axis=1) / tested.sum(axis=1)
    times = tested.sum(axis=0)
    seen = times > 0
    by_node = 100 * values.sum(axis=0)[seen] / times[seen]
    errors = standard_error(by_split), standard_error(by_node)
    mean = float(by_split.mean())
    half = half_width([(errors[0], by_split.size - 1), (errors[1], by_node.size - 1)])
    return Estimate(mean, mean - half, mean + half, *errors, tuple(by_split.tolist()))


def standard_error(values: npt.ArrayLike) -> float:
    """Of the mean of independent values; 0 for a single one."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.std(ddof=1) / np.sqrt(array.size)) if array.size > 1 else 0.0


def half_width(errors: Sequence[tuple[float, float]]) -> float:
    """Half of the 95 % interval of a mean whose variance is a sum of independent parts.

    Student's t with the degrees of freedom of such a sum (Welch and Satterthwaite).

    Args:
        errors: the standard error of each part and its degrees of freedom.
    """
    total = sum(error**2 for error, _ in errors)
    if total == 0:
        return 0.0
    known = sum(error**4 / max(degrees, 1) for error, degrees in errors)
    freedom = total**2 / known if known else np.inf
    return float(stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(total))
