"""Controls: what an embedding must beat before training can claim to have helped.

They are as strong as a fair opponent would make them: how far to smooth and how to scale the
features is chosen on validation nodes, once for a graph, as the settings of a method are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from ugcl._utils.linalg import dense_rows, ridge_path
from ugcl.evaluation.probe import Labels, Split, validation_accuracy
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.views import FeatureScaling, dense_if_crowded, scale_features, smoothed

CONTROLS = {
    "raw": "raw features",
    "smooth": "smoothed features A^k X",
    "pca": "principal components of AX, read out",
    "untrained": "untrained encoder, same readout",
}
"""The controls and what they are. All but `untrained` depend on the graph and the splits alone."""

SCALINGS: tuple[FeatureScaling, ...] = ("none", "l2", "tfidf")
SMOOTHING = {"raw": (0,), "smooth": (1, 2, 3, 5, 10, 15, 20), "pca": (0, 2, 5, 10, 15)}
"""Values of k that each control tries."""

COMPONENTS = 512
"""Components of the control `pca`."""

MOST_COLUMNS = 1024
"""`raw` and `smooth` go by so many leading singular directions where a probe would see more."""

NARROW = 2048
"""A matrix of up to so many columns is decomposed exactly."""

FINALISTS = 3
"""Candidates of each control that the screening leaves for the honest probe."""


@dataclass(frozen=True)
class Candidate:
    """One way to make a control.

    Attributes:
        control: which control.
        scaling: how the features are scaled.
        k: how often they are smoothed; for `pca` the scope of the readout `(H + A^k H)/2`.
    """

    control: str
    scaling: FeatureScaling
    k: int


@dataclass(frozen=True)
class FeatureControls:
    """The controls that a graph's features and edges give without training.

    Attributes:
        graph: the graph.
        most_columns: with more columns than this, features are replaced by this many leading
            singular directions; None to keep them all.
    """

    graph: Graph
    most_columns: int | None = None
    _starts: dict[tuple[str, FeatureScaling], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def for_split(cls, graph: Graph, split: Split) -> FeatureControls:
        """With as many columns as probes on splits of this size can take in reasonable time.

        A probe works in the span of its training rows, so few training nodes or few columns need
        no reduction.
        """
        seen = min(split["train"].size, graph.num_features)
        return cls(graph, MOST_COLUMNS if seen > MOST_COLUMNS else None)

    def candidates(
        self, wanted: frozenset[Candidate] | None = None
    ) -> Iterator[tuple[Candidate, Any]]:
        """Every candidate (or those wanted) with its matrix, dense or sparse."""
        adjacency = normalised_adjacency(self.graph.adjacency, SMOOTHING_SELF_LOOPS)
        for scaling in SCALINGS:
            scaled = scale_features(self.graph.features, scaling)
            asked = {
                control: [
                    k for k in steps if wanted is None or Candidate(control, scaling, k) in wanted
                ]
                for control, steps in SMOOTHING.items()
            }
            if asked["raw"] or asked["smooth"]:
                start = self._start("smooth", scaling, scaled)
                for k, matrix in smoothed(adjacency, start, asked["raw"] + asked["smooth"]):
                    yield Candidate("smooth" if k else "raw", scaling, k), matrix
            if asked["pca"]:
                hidden = self._start("pca", scaling, adjacency @ scaled)
                for k, matrix in smoothed(adjacency, hidden, asked["pca"]):
                    yield Candidate("pca", scaling, k), (hidden + matrix) / 2

    def _start(self, control: str, scaling: FeatureScaling, matrix: Any) -> Any:
        """What is smoothed: the matrix in its leading directions, which are found only once."""
        columns = COMPONENTS if control == "pca" else self.most_columns
        if columns is None:
            return matrix
        if (control, scaling) not in self._starts:
            self._starts[control, scaling] = leading(matrix, columns)
        return self._starts[control, scaling]

    def choose(self, splits: Sequence[Split]) -> dict[str, Candidate]:
        """The candidate of each control that is best on the validation nodes of these splits.

        Ridge regression, which is cheap, leaves the best few of each control; the honest probe
        decides between those.
        """
        labels = self.graph.labels
        assert labels is not None
        screened: dict[str, list[tuple[float, Candidate]]] = {control: [] for control in SMOOTHING}
        for candidate, matrix in self.candidates():
            score = fmean(ridge_validation(matrix, labels, split) for split in splits)
            screened[candidate.control].append((-score, candidate))
        finalists = frozenset(
            candidate
            for ranked in screened.values()
            for _, candidate in sorted(ranked, key=lambda pair: pair[0])[:FINALISTS]
        )
        best: dict[str, tuple[float, Candidate]] = {}
        for candidate, matrix in self.candidates(finalists):
            score = fmean(validation_accuracy(matrix, labels, split) for split in splits)
            if candidate.control not in best or score > best[candidate.control][0]:
                best[candidate.control] = score, candidate
        return {control: best[control][1] for control in SMOOTHING}


def leading(matrix: Any, columns: int) -> npt.NDArray[np.float32]:
    """The matrix in coordinates of its leading singular directions, `U S`.

    A matrix that has no more columns stays as it is. The directions of a narrow one come from its
    Gram matrix; those of a wide one are found by a randomised method (Halko et al., 2011) with a
    fixed seed.
    """
    matrix = dense_if_crowded(matrix)
    if matrix.shape[1] <= columns:
        return dense_rows(matrix)
    if matrix.shape[1] <= NARROW:
        gram = matrix.T @ matrix
        _, directions = linalg.eigh(
            dense_rows(gram), subset_by_index=(matrix.shape[1] - columns, matrix.shape[1] - 1)
        )
        return dense_rows(matrix @ directions[:, ::-1])
    left, values, _ = randomized_svd(matrix, min(columns, matrix.shape[0]), random_state=0)
    return np.ascontiguousarray(left * values, dtype=np.float32)


def ridge_validation(matrix: Any, labels: Labels, split: Split) -> float:
    """Best validation accuracy of ridge regression, over penalties and row normalisation."""
    train, held = split["train"], split["val"]
    targets = np.eye(int(labels.max()) + 1, dtype=np.float32)[labels[train]]
    best = 0.0
    for row_normalised in (False, True):
        rows = [dense_rows(matrix[nodes]) for nodes in (train, held)]
        if row_normalised:
            rows = [normalize(part) for part in rows]
        for predicted in ridge_path(rows[0], targets, rows[1]):
            best = max(best, float((predicted.argmax(axis=1) == labels[held]).mean()))
    return 100 * best
