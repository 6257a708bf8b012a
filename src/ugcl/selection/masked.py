"""Masked features: at which scope does a node's context tell most about what is hidden of it?

Half of the features are hidden. The others are convolved and read out at every n, and a ridge
regression that has seen some nodes predicts what is hidden of the rest:

    X = [X_1, X_2],   H = A X_1,   Z_n = (H + A^n H) / 2,   score(n) = R^2 of X_2 from Z_n.

It is a linear probe whose labels come with the graph. What a class is about shows in all features,
so a scope that averages the noise of X_1 away without mixing classes predicts X_2 best, as it would
predict labels best; where neighbours are unlike, every step takes away and a small n is best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugcl._utils.linalg import ridge_path
from ugcl.selection.readouts import COLUMNS, Matrix, Readouts, sketch

TARGETS = 32
"""Leading directions of the hidden features that are predicted."""

REPEATS, FEWER, LARGE = 12, 4, 50_000
"""Random halves of the features, each with its own nodes; fewer on graphs of so many nodes."""

SHARE, MOST_LEARNT, MOST_JUDGED = 0.1, 4_000, 20_000
"""The share of nodes that the regression learns from, and bounds for large graphs."""


@dataclass(frozen=True)
class Halves:
    """What is seen, what is hidden, and who learns and who is judged.

    Attributes:
        seen: whether each column of X is seen.
        hidden: leading directions of the others, a row for each of `nodes`.
        nodes: those that the regression learns from, then those that it is judged by.
        learnt: how many it learns from.
    """

    seen: npt.NDArray[np.bool_]
    hidden: Matrix
    nodes: npt.NDArray[np.int64]
    learnt: int


def masked_features(
    readouts: Readouts, seed: int = 0, repeats: int | None = None
) -> npt.NDArray[np.float64]:
    """Scores, repeats x (most + 1): the share of the hidden features' variance that is predicted.

    Cost of a repetition: O(most nnz(A) 128) and regressions on at most 24,000 nodes.
    """
    repeats = repeats or (FEWER if readouts.graph.num_nodes >= LARGE else REPEATS)
    scores = np.empty((repeats, readouts.max_n + 1))
    for repeat in range(repeats):
        half = halves(readouts, seed, repeat)
        start = readouts.encode(sketch(readouts.part(half.seen), COLUMNS))
        scores[repeat] = [predicted(rows, half) for rows in readouts.of(start, half.nodes)]
    return scores


def halves(readouts: Readouts, seed: int, repeat: int) -> Halves:
    """Draw halves of the features and nodes to learn from."""
    count = readouts.graph.num_nodes
    rng = np.random.default_rng([seed, repeat])
    seen = readouts.halves(rng)
    learnt = min(max(round(SHARE * count), 2), MOST_LEARNT)
    nodes = rng.permutation(count)[: learnt + MOST_JUDGED]
    return Halves(seen, sketch(readouts.part(~seen, nodes), TARGETS), nodes, learnt)


def predicted(rows: Matrix, half: Halves) -> float:
    """R^2 of what is hidden of the nodes to judge, from rows of `nodes`, at the best penalty."""
    known, wanted = np.split(half.hidden, [half.learnt])
    learn, judge = np.split(rows, [half.learnt])
    total = float(((wanted - known.mean(axis=0)) ** 2).sum())
    errors = [float(((wanted - found) ** 2).sum()) for found in ridge_path(learn, known, judge)]
    return 1 - min(errors) / total if total else 0.0
