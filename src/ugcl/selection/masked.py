"""Masked features: score n by how well the readout at n predicts features that are masked.

Half of the columns of X are masked. The visible half is convolved and read out at every n, and a
ridge regression fitted on some nodes predicts the masked half of the others:

    X = [X_1, X_2],   H = A X_1,   Z_n = (H + A^n H) / 2,   score(n) = R^2 of X_2 from Z_n.

This is a linear probe with targets from the graph itself. Classes show in all features, so a scope
that averages out the noise of X_1 without mixing classes predicts X_2 best, as it would predict
labels best. Under heterophily every step loses information and a small n is best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ugcl._utils.linalg import ridge_explained
from ugcl._utils.progress import steps
from ugcl._utils.random import numpy_generator
from ugcl.selection.readouts import Matrix, Readouts
from ugcl.selection.sampled import sampled_masked_features
from ugcl.selection.stopping import Scores, has_fallen, is_clear, one_standard_error_rule
from ugcl.typing import NodeIndices
from ugcl.views import reduce_columns

NUM_TARGETS = 32
"""Singular directions of the masked features that are predicted."""

REPEATS, ROUND = 12, 4
"""Repetitions at most, each with its own mask and nodes, and those that are scored side by side."""

LARGE_GRAPH = 50_000
"""Nodes from which the readouts of a sample of nodes are estimated."""

MAX_ROWS = 5_000
"""Rows from which the singular directions of the visible features are computed."""

TRAIN_FRACTION, MAX_TRAIN, MAX_TEST = 0.1, 4_000, 4_000
"""Fraction of nodes that the regression is fitted on, and limits for large graphs."""


@dataclass(frozen=True)
class MaskedSplit:
    """A mask of the columns of X and a split of the nodes.

    Attributes:
        visible: mask of the visible columns.
        targets: leading directions of the masked columns, one row for each of `nodes`, minus the
            mean of the training nodes.
        nodes: training nodes, then test nodes.
        num_train: number of training nodes.
    """

    visible: npt.NDArray[np.bool_]
    targets: Matrix
    nodes: NodeIndices
    num_train: int

    @cached_property
    def variance(self) -> float:
        """Squared length of the targets of the test nodes."""
        return float((self.targets[self.num_train :] ** 2).sum())


def masked_features(readouts: Readouts, seed: int = 0, *, stop: bool = True) -> Scores:
    """Return the R^2 of the masked features, repetitions x (last n + 1).

    Four repetitions are scored at n = 0, 1, ... until the score has fallen beyond noise
    (`has_fallen`). If their choice is not clear (`is_clear`), four more are, at most up to the same
    n, and another four if the choice has changed. Graphs of `LARGE_GRAPH` nodes or more: see
    `sampled_masked_features`.

    The columns are taken unscaled: the norm of a whole row would leak its masked part.
    Cost of a repetition: O(n nnz(A) 128) and regressions on at most 12,000 nodes. Memory: O(128 N)
    for each of four repetitions.

    Args:
        readouts: the graph and the largest n.
        seed: seed of masks and nodes.
        stop: whether to stop early; otherwise all repetitions are scored at every n.
    """
    if readouts.graph.num_nodes >= LARGE_GRAPH:
        return sampled_masked_features(readouts, seed, stop=stop)
    if not stop:
        return _score_until_fallen(readouts, seed, range(REPEATS), stop=False)
    scores = _score_until_fallen(readouts, seed, range(ROUND))
    chosen = None if is_clear(scores) else one_standard_error_rule(scores)[1]
    while chosen is not None and len(scores) < REPEATS:
        repeats = range(len(scores), len(scores) + ROUND)
        scores = _score_until_fallen(readouts, seed, repeats, scores)
        before, chosen = chosen, one_standard_error_rule(scores)[1]
        if chosen == before:
            break
    return scores


def _score_until_fallen(
    readouts: Readouts,
    seed: int,
    repeats: range,
    before: Scores | None = None,
    *,
    stop: bool = True,
) -> Scores:
    """Score repetitions side by side until the score falls; return them after those of `before`."""
    scores = np.empty((0 if before is None else len(before), 0))
    each = (_score(readouts, sample_split(readouts, seed, repeat)) for repeat in repeats)
    every_n = zip(*each, strict=True)
    for n, at_n in enumerate(steps("choosing n", every_n, readouts.max_n + 1)):
        known = () if before is None else before[:, n]
        scores = np.column_stack([*scores.T, [*known, *at_n]])
        if stop and (has_fallen(scores) or (before is not None and n == before.shape[1] - 1)):
            break
    return scores


def _score(readouts: Readouts, split: MaskedSplit) -> Iterator[float]:
    """Yield the R^2 of a repetition at n = 0, 1, ..."""
    hidden = readouts.encode(readouts.graph.features[:, split.visible], MAX_ROWS)
    for rows in readouts.for_each_n(hidden, split.nodes):
        yield r_squared(rows, split)


def sample_split(readouts: Readouts, seed: int, repeat: int) -> MaskedSplit:
    """Sample the visible columns, the training nodes and the test nodes."""
    graph = readouts.graph
    rng = numpy_generator("masked features", seed, repeat)
    visible = readouts.sample_columns(rng)
    num_train = min(max(round(TRAIN_FRACTION * graph.num_nodes), 2), MAX_TRAIN)
    nodes = rng.permutation(graph.num_nodes)[: num_train + MAX_TEST]
    targets = reduce_columns(graph.features[nodes][:, ~visible], NUM_TARGETS, MAX_ROWS)
    return MaskedSplit(visible, targets - targets[:num_train].mean(axis=0), nodes, num_train)


def r_squared(rows: Matrix, split: MaskedSplit) -> float:
    """Return the R^2 on the test nodes of a ridge regression from `rows`, at the best penalty."""
    if not split.variance:
        return 0.0
    mean = rows[: split.num_train].mean(axis=0)
    moments = []
    for nodes in (slice(split.num_train), slice(split.num_train, None)):
        centred = rows[nodes] - mean
        moments += [centred.T @ centred, centred.T @ split.targets[nodes]]
    return ridge_explained(*moments) / split.variance
