"""Masked features: score n by how well the readout at n predicts features that are masked.

Half of the columns of X are masked. The visible half is convolved and read out at every n, and a
ridge regression fitted on some nodes predicts the masked half of the others:

    X = [X_1, X_2],   H = A X_1,   Z_n = (H + A^n H) / 2,   score(n) = R^2 of X_2 from Z_n.

This is a linear probe with targets from the graph itself. Classes show in all features, so a scope
that averages out the noise of X_1 without mixing classes predicts X_2 best, as it would predict
labels best. Under heterophily every step loses information and a small n is best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugcl._utils.linalg import ridge_path
from ugcl._utils.random import numpy_generator
from ugcl.selection.readouts import Matrix, Readouts, reduce_columns
from ugcl.typing import NodeIndices

NUM_TARGETS = 32
"""Singular directions of the masked features that are predicted."""

REPEATS, REPEATS_LARGE, LARGE_GRAPH = 12, 4, 50_000
"""Repetitions, each with its own mask and nodes; fewer on graphs of `LARGE_GRAPH` nodes or more."""

TRAIN_FRACTION, MAX_TRAIN, MAX_TEST = 0.1, 4_000, 20_000
"""Fraction of nodes that the regression is fitted on, and limits for large graphs."""


@dataclass(frozen=True)
class MaskedSplit:
    """A mask of the columns of X and a split of the nodes.

    Attributes:
        visible: mask of the visible columns.
        targets: leading singular directions of the masked columns, one row for each of `nodes`.
        nodes: training nodes, then test nodes.
        num_train: number of training nodes.
    """

    visible: npt.NDArray[np.bool_]
    targets: Matrix
    nodes: NodeIndices
    num_train: int


def masked_features(
    readouts: Readouts, seed: int = 0, repeats: int | None = None
) -> npt.NDArray[np.float64]:
    """Return the R^2 of the masked features, repeats x (max_n + 1).

    The columns are taken unscaled: the norm of a whole row would leak its masked part.
    Cost of a repetition: O(max_n nnz(A) 128) and regressions on at most 24,000 nodes.
    """
    graph = readouts.graph
    repeats = repeats or (REPEATS_LARGE if graph.num_nodes >= LARGE_GRAPH else REPEATS)
    scores = np.empty((repeats, readouts.max_n + 1))
    for repeat in range(repeats):
        split = sample_split(readouts, seed, repeat)
        hidden = readouts.encode(graph.features[:, split.visible])
        rows = readouts.for_each_n(hidden, split.nodes)
        scores[repeat] = [r_squared(at_n, split) for at_n in rows]
    return scores


def sample_split(readouts: Readouts, seed: int, repeat: int) -> MaskedSplit:
    """Sample the visible columns, the training nodes and the test nodes."""
    graph = readouts.graph
    rng = numpy_generator("masked features", seed, repeat)
    visible = readouts.sample_columns(rng)
    num_train = min(max(round(TRAIN_FRACTION * graph.num_nodes), 2), MAX_TRAIN)
    nodes = rng.permutation(graph.num_nodes)[: num_train + MAX_TEST]
    targets = reduce_columns(graph.features[nodes][:, ~visible], NUM_TARGETS)
    return MaskedSplit(visible, targets, nodes, num_train)


def r_squared(rows: Matrix, split: MaskedSplit) -> float:
    """Return the R^2 on the test nodes of a ridge regression from `rows`, at the best penalty."""
    x_train, x_test = np.split(rows, [split.num_train])
    y_train, y_test = np.split(split.targets, [split.num_train])
    variance = float(((y_test - y_train.mean(axis=0)) ** 2).sum())
    errors = [float(((y_test - y) ** 2).sum()) for y in ridge_path(x_train, y_train, x_test)]
    return 1 - min(errors) / variance if variance else 0.0
