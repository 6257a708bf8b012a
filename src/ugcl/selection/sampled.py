"""Masked features of a large graph, scored on a sample of nodes at a cost that ignores its size.

The score is that of `masked_features`, computed from the moments of `T` random nodes:

- `A^n H` at the nodes is estimated by two independent sets of random walks (`WalkEstimates`).
  Their errors would act like noise in the features. They cancel in the product of the two
  estimates, from which the Gram matrix of the regression is computed: it is unbiased.
- All repetitions share nodes and walks. The nodes are divided into folds; a repetition draws its
  own mask and its own half of the folds for training. Moments are computed once for each fold,
  over all columns, and a repetition adds up blocks of them.
- More than `MAX_COLUMNS` features are divided into `NUM_GROUPS` random groups, each reduced to its
  leading singular directions, and groups are masked instead of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from ugcl._utils.linalg import one_thread, randomized_svd, ridge_explained
from ugcl._utils.progress import steps
from ugcl._utils.random import numpy_generator
from ugcl._utils.rows import take_rows
from ugcl.selection.readouts import Matrix, Readouts, random_half
from ugcl.selection.stopping import Scores, has_fallen
from ugcl.selection.walk_estimates import WalkEstimates
from ugcl.typing import Features

NUM_NODES, NUM_FOLDS = 12_000, 8
"""Sampled nodes T, and the folds that they are divided into."""

NUM_WALKS = 16
"""Walks from every node for each of the two estimates."""

NUM_REPEATS, NUM_TARGETS = 12, 32
"""Repetitions, and leading directions of the masked features that are predicted."""

MAX_COLUMNS, NUM_GROUPS = 256, 8
"""Columns up to which each is masked on its own, and groups of columns above."""

MAX_SVD_ROWS = 5_000
"""Rows from which the directions of a group are computed."""

Float64 = npt.NDArray[np.float64]


def sampled_masked_features(readouts: Readouts, seed: int = 0, *, stop: bool = True) -> Scores:
    """Return the R^2 of the masked features, repetitions x (last n + 1), on a sample of nodes.

    Cost: O(T num_walks D) for each n, D at most `MAX_COLUMNS`.

    Args:
        readouts: the graph and the largest n.
        seed: seed of nodes, walks, folds and masks.
        stop: whether to stop when the score has fallen beyond noise.
    """
    graph = readouts.graph
    rng = numpy_generator("masked walks", seed)
    nodes = rng.choice(graph.num_nodes, min(NUM_NODES, graph.num_nodes), replace=False)
    projection, groups = group_columns(graph.features, rng)
    estimates = WalkEstimates(graph, nodes, projection)
    own = estimates.own()
    gram = (own.T @ own).astype(np.float64)
    own = own - own.mean(axis=0)
    repeats = [
        _Repeat.sample(groups, own, gram, numpy_generator("masked features", seed, repeat))
        for repeat in range(NUM_REPEATS)
    ]
    scores = np.empty((NUM_REPEATS, 0))
    every_n = islice(_moments(estimates, own, rng), readouts.max_n + 1)
    for moments in steps("choosing n", every_n, readouts.max_n + 1):
        scores = np.column_stack([scores, [repeat.score(moments) for repeat in repeats]])
        if stop and has_fallen(scores):
            break
    return scores


def group_columns(
    features: Features, rng: np.random.Generator
) -> tuple[Matrix | None, npt.NDArray[np.int64]]:
    """Divide many columns into groups; return the projection, D x D', and the D' groups.

    Without a projection, None, every column is a group.
    """
    width = features.shape[1]
    if width <= MAX_COLUMNS:
        return None, np.arange(width)
    num_rows = min(features.shape[0], MAX_SVD_ROWS)
    rows = take_rows(features, np.sort(rng.choice(features.shape[0], num_rows, replace=False)))
    group_of, size = rng.permutation(width) % NUM_GROUPS, MAX_COLUMNS // NUM_GROUPS
    projection = np.zeros((width, MAX_COLUMNS), dtype=np.float32)
    for group in range(NUM_GROUPS):
        columns = np.flatnonzero(group_of == group)
        _, _, right = randomized_svd(rows[:, columns], min(size, num_rows), iterations=2)
        projection[columns, group * size : group * size + len(right)] = right.T
    return projection, np.arange(MAX_COLUMNS) // size


@dataclass(frozen=True)
class Moments:
    """Moments of the readouts Z and of the features Y of F folds, or of their union.

    Attributes:
        count: nodes, (F,).
        z: sums of Z, (F, D).
        y: sums of Y, (F, D).
        zz: `Z^T Z`, (F, D, D).
        zy: `Z^T Y`, (F, D, D).
    """

    count: Float64
    z: Float64
    y: Float64
    zz: Float64
    zy: Float64

    @classmethod
    def of(cls, one: Matrix, two: Matrix, features: Matrix) -> Moments:
        """Compute them from two unbiased estimates of Z with independent errors.

        `Z^T Z` is the symmetric part of `Z_1^T Z_2`. Z is centred, for precision: scores do not
        depend on it.
        """
        mean, half = (one + two) / 2, (one - two) / 2
        mean -= mean.mean(axis=0)
        folds = zip(*(np.array_split(m, NUM_FOLDS) for m in (mean, half, features)), strict=True)
        parts = [
            (len(z), z.sum(axis=0), y.sum(axis=0), z.T @ z - d.T @ d, z.T @ y) for z, d, y in folds
        ]
        return cls(*(np.array(part, dtype=np.float64) for part in zip(*parts, strict=True)))

    def add(self, folds: npt.NDArray[np.bool_]) -> Moments:
        """Add up the moments of some folds."""
        fields = (self.count, self.z, self.y, self.zz, self.zy)
        return Moments(*(part[folds].sum(axis=0) for part in fields))

    def centred(self, z: Float64, y: Float64) -> tuple[Float64, Float64]:
        """Return `Z^T Z` and `Z^T Y` after subtracting z and y from the rows."""
        crossed = np.outer(self.z, z)
        zz = self.zz - crossed - crossed.T + self.count * np.outer(z, z)
        zy = self.zy - np.outer(self.z, y) - np.outer(z, self.y) + self.count * np.outer(z, y)
        return zz, zy


@dataclass(frozen=True)
class _Repeat:
    """A mask and a division of the folds.

    Attributes:
        visible: mask of the visible columns.
        targets: leading directions of the masked columns.
        train: mask of the training folds; the others are for testing.
        variance: squared distance of the targets of the test nodes from the training mean.
    """

    visible: npt.NDArray[np.bool_]
    targets: Float64
    train: npt.NDArray[np.bool_]
    variance: float

    @classmethod
    def sample(
        cls,
        groups: npt.NDArray[np.int64],
        features: Matrix,
        gram: Float64,
        rng: np.random.Generator,
    ) -> _Repeat:
        visible = random_half(int(groups.max()) + 1, rng)[groups]
        train = rng.permutation(NUM_FOLDS) < NUM_FOLDS // 2
        with one_thread():
            _, vectors = np.linalg.eigh(gram[np.ix_(~visible, ~visible)])
        targets = vectors[:, ::-1][:, :NUM_TARGETS]
        folds = np.array_split(features[:, ~visible] @ targets.astype(np.float32), NUM_FOLDS)
        fit, test = (
            np.concatenate([f for f, used in zip(folds, mask, strict=True) if used])
            for mask in (train, ~train)
        )
        return cls(visible, targets, train, float(((test - fit.mean(axis=0)) ** 2).sum()))

    def score(self, moments: Moments) -> float:
        """Return the R^2 on the test folds of a ridge regression at the best penalty."""
        if not self.variance:
            return 0.0
        train, test = moments.add(self.train), moments.add(~self.train)
        means = train.z / train.count, train.y / train.count
        (gram, right), (test_gram, test_right) = (
            self._blocks(*part.centred(*means)) for part in (train, test)
        )
        return ridge_explained(gram, right, test_gram, test_right) / self.variance

    def _blocks(self, zz: Float64, zy: Float64) -> tuple[Float64, Float64]:
        """Return the products of the visible columns, and those with the targets."""
        seen = self.visible
        return zz[np.ix_(seen, seen)], zy[np.ix_(seen, ~seen)] @ self.targets


def _moments(estimates: WalkEstimates, own: Matrix, rng: np.random.Generator) -> Iterator[Moments]:
    """Yield the moments of `(H + A^n H) / 2`, H = A X, and of X centred, for n = 0, 1, ..."""
    hidden = estimates.smoothed()
    yield Moments.of(hidden, hidden, own)
    for one, two in estimates.powers(NUM_WALKS, rng):
        yield Moments.of((hidden + one) / 2, (hidden + two) / 2, own)
