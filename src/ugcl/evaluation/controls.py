"""Controls: embeddings without training that a trained embedding must beat.

Their smoothing and feature scaling are tuned on validation nodes, once for a graph, as the settings
of a method are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from ugcl._utils.linalg import dense_rows, ridge_path
from ugcl._utils.random import seed_of
from ugcl.data.splits import Split
from ugcl.evaluation.probe import validation_accuracy
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.typing import Features, FeatureScaling, LabelArray
from ugcl.views import densify, scale_features, smooth_features

CONTROLS = {
    "raw": "raw features",
    "smooth": "smoothed features A^k X",
    "pca": "principal components of AX, read out",
    "untrained": "untrained encoder, same readout",
}
"""The controls with a description. All but `untrained` depend on the graph and splits alone."""

SCALINGS: tuple[FeatureScaling, ...] = ("none", "l2", "tfidf")
DENSE_SCALINGS: tuple[FeatureScaling, ...] = (*SCALINGS, "standard")
"""Feature scalings that the controls try, for sparse and for dense features."""

SMOOTHING = {"raw": (0,), "smooth": (1, 2, 3, 5, 10, 15, 20), "pca": (0, 2, 5, 10, 15)}
"""Values of k that each control tries."""

COMPONENTS = 512
"""Components of the control `pca`."""

MAX_COLUMNS = 1024
"""Columns above which `raw` and `smooth` are reduced to this many principal directions."""

MAX_EXACT = 2048
"""Columns up to which a matrix is decomposed exactly."""

FINALISTS = 3
"""Candidates of each control that the ridge screening leaves for the honest probe."""


@dataclass(frozen=True)
class Candidate:
    """Hyperparameters of a control.

    Attributes:
        control: the control's name.
        scaling: the feature scaling.
        k: smoothing steps; for `pca` the scope of the readout `(H + A^k H)/2`.
    """

    control: str
    scaling: FeatureScaling
    k: int


@dataclass(frozen=True)
class FeatureControls:
    """The controls computed from a graph's features and edges.

    Attributes:
        graph: the graph.
        max_columns: features with more columns are replaced by this many leading singular
            directions; None to keep all columns.
    """

    graph: Graph
    max_columns: int | None = None
    _reduced: dict[tuple[str, FeatureScaling], Features] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def for_split(cls, graph: Graph, split: Split) -> FeatureControls:
        """Return the controls, reduced where probes on splits of this size would be slow.

        A probe works in the span of its training rows, so few training nodes or few columns need
        no reduction.
        """
        width = min(split["train"].size, graph.num_features)
        return cls(graph, MAX_COLUMNS if width > MAX_COLUMNS else None)

    def candidates(
        self, wanted: frozenset[Candidate] | None = None
    ) -> Iterator[tuple[Candidate, Features]]:
        """Yield all candidates, or the wanted ones, with their embeddings."""
        adjacency = normalised_adjacency(self.graph.adjacency, SMOOTHING_SELF_LOOPS)
        for scaling in SCALINGS if sp.issparse(self.graph.features) else DENSE_SCALINGS:
            scaled = scale_features(self.graph.features, scaling)
            powers = {
                control: [
                    k for k in steps if wanted is None or Candidate(control, scaling, k) in wanted
                ]
                for control, steps in SMOOTHING.items()
            }
            if smoothed := powers["raw"] + powers["smooth"]:
                features = self._reduce("smooth", scaling, scaled)
                for k, matrix in smooth_features(adjacency, features, smoothed):
                    yield Candidate("smooth" if k else "raw", scaling, k), matrix
            if powers["pca"]:
                hidden = self._reduce("pca", scaling, adjacency @ scaled)
                for k, matrix in smooth_features(adjacency, hidden, powers["pca"]):
                    yield Candidate("pca", scaling, k), (hidden + matrix) / 2

    def _reduce(self, control: str, scaling: FeatureScaling, matrix: Features) -> Features:
        """Return the matrix in its leading directions, which are computed once."""
        columns = COMPONENTS if control == "pca" else self.max_columns
        if columns is None:
            return matrix
        if (control, scaling) not in self._reduced:
            self._reduced[control, scaling] = leading(matrix, columns)
        return self._reduced[control, scaling]

    def choose(self, splits: Sequence[Split]) -> dict[str, Candidate]:
        """Return the candidate of each control that is best on the splits' validation nodes.

        Ridge regression, which is cheap, screens all candidates; the honest probe decides between
        the finalists.
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


def leading(matrix: Features, columns: int) -> npt.NDArray[np.float32]:
    """Return `U S`, the matrix in coordinates of its leading singular directions.

    A matrix with no more columns is returned as it is. Up to `MAX_EXACT` columns the directions
    come from the Gram matrix, else from a randomised SVD (Halko et al., 2011) with a fixed seed.
    """
    matrix = densify(matrix)
    width = matrix.shape[1]
    if width <= columns:
        return dense_rows(matrix)
    if width <= MAX_EXACT:
        gram = dense_rows(matrix.T @ matrix)
        _, directions = linalg.eigh(gram, subset_by_index=(width - columns, width - 1))
        return dense_rows(matrix @ directions[:, ::-1])
    rank = min(columns, matrix.shape[0])
    left, values, _ = randomized_svd(matrix, rank, random_state=seed_of("svd"))
    return np.ascontiguousarray(left * values, dtype=np.float32)


def ridge_validation(matrix: Features, labels: LabelArray, split: Split) -> float:
    """Return the best validation accuracy of ridge regression over penalties and row scaling."""
    train, validation = split["train"], split["val"]
    targets = np.eye(int(labels.max()) + 1, dtype=np.float32)[labels[train]]
    best = 0.0
    for row_normalised in (False, True):
        rows = [dense_rows(matrix[nodes]) for nodes in (train, validation)]
        if row_normalised:
            rows = [normalize(part) for part in rows]
        for predicted in ridge_path(rows[0], targets, rows[1]):
            best = max(best, float((predicted.argmax(axis=1) == labels[validation]).mean()))
    return 100 * best
