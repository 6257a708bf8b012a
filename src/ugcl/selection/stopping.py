"""When enough powers and enough repetitions have been scored.

All decisions are made on scores, repetitions x (n + 1), of n = 0, ..., n. Differences between two n
are paired over repetitions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

FALLEN, PATIENCE = 2.0, 2
"""Standard errors by which the last `PATIENCE` n must be worse than the best."""

CLEAR = 5.0
"""Standard errors by which a clear choice exceeds zero and its two neighbours."""


def standard_errors(values: Scores) -> Scores:
    """Return the standard error of the mean of each column."""
    errors: Scores = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return errors


def one_standard_error_rule(scores: Scores) -> tuple[int, int]:
    """Return the n with the best mean score, and the smallest n that is not clearly worse.

    The second is found by going down from the best n while the mean score is lower by at most one
    standard error of the difference, paired over repetitions: a smaller n costs less and mixes
    fewer classes. With fewer than three repetitions it is the best n.
    """
    best = n = int(scores.mean(axis=0).argmax())
    if len(scores) < 3:
        return best, best
    loss = scores[:, [best]] - scores
    within = loss.mean(axis=0) <= standard_errors(loss)
    while n > 0 and within[n - 1]:
        n -= 1
    return best, n


def has_fallen(scores: Scores) -> bool:
    """Whether the last n are worse than the best n beyond noise: no further n is scored."""
    best = int(scores.mean(axis=0).argmax())
    if len(scores) < 2 or scores.shape[1] - 1 - best < PATIENCE:
        return False
    loss = scores[:, [best]] - scores[:, -PATIENCE:]
    return bool((loss.mean(axis=0) > FALLEN * standard_errors(loss)).all())


def is_clear(scores: Scores) -> bool:
    """Whether more repetitions would hardly change the choice.

    The best score must exceed zero and the scores of the two neighbouring n by `CLEAR` standard
    errors. A best n without a neighbour above it was not followed far enough to be clear.
    """
    best = int(scores.mean(axis=0).argmax())
    if len(scores) < 2 or best == scores.shape[1] - 1:
        return False
    others = scores[:, [n for n in (best - 1, best + 1) if n >= 0]]
    gains = np.column_stack([scores[:, best], scores[:, [best]] - others])
    return bool((gains.mean(axis=0) > CLEAR * standard_errors(gains)).all())
