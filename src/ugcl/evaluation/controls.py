"""Controls: embeddings without training that a trained embedding must beat.

Their smoothing and feature scaling are tuned on validation nodes, once for a graph, as the settings
of a method are. All have at most `MAX_COLUMNS` columns, so that a gain over them is not one of
width.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows, normalize_rows, ridge_path
from ugcl._utils.progress import steps
from ugcl.data.splits import Split
from ugcl.evaluation.probe import row_scalings, validation_accuracy
from ugcl.graph import Graph
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.typing import Features, FeatureScaling, LabelArray
from ugcl.views import (
    densify,
    leading_directions,
    scale_features,
    side_by_side,
    smooth_features,
    structural_embedding,
)

CONTROLS = {
    "raw": "raw features",
    "smooth": "smoothed features A^k X",
    "pca": "principal components of AX, read out",
    "sign": "several A^k X side by side",
    "structure": "several A^k X beside NetMF",
    "untrained": "untrained encoder, same readout",
}
"""The controls with a description."""

FEATURE_CONTROLS = tuple(control for control in CONTROLS if control != "untrained")
"""The controls that depend on the graph and splits alone."""

SCALINGS: tuple[FeatureScaling, ...] = ("none", "l2", "tfidf")
DENSE_SCALINGS: tuple[FeatureScaling, ...] = (*SCALINGS, "standard")
"""Feature scalings that the controls try, for sparse and for dense features."""

SMOOTHING = {"raw": (0,), "smooth": (1, 2, 3, 5, 10, 15, 20), "pca": (0, 2, 5, 10, 15)}
"""Values of k that each control tries."""

BLOCKS = ((0, 1), (0, 1, 2), (1, 3, 10), (0, 2, 5, 10), (0, 1, 2, 5, 10))
"""Sets of values of k that `sign` tries: one block of columns for each (Frasca et al., 2020)."""

WEIGHTS = (0.3, 0.6)
"""Weights of the structure block that `structure` tries beside the blocks of `sign`."""

COMPONENTS = 512
"""Components of the control `pca`."""

ITERATIONS = 7
"""Power iterations of a randomised SVD: controls must be strong."""

MAX_COLUMNS = 1024
"""Columns of a control; blocks share them."""

STRUCTURE = 256
"""Columns of the structure block."""

FINALISTS = 3
"""Candidates of each control that the ridge screening leaves for the honest probe."""


@dataclass(frozen=True)
class Candidate:
    """Hyperparameters of a control.

    Attributes:
        control: the control's name.
        scaling: the feature scaling.
        k: smoothing steps; for `pca` the scope of the readout `(H + A^k H)/2`; for `sign` and
            `structure` those of each block.
        weight: the weight of the structure block.
    """

    control: str
    scaling: FeatureScaling
    k: int | tuple[int, ...]
    weight: float | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """The smoothing steps as a tuple."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    def to_json(self) -> dict[str, Any]:
        """Return the hyperparameters as plain data."""
        k = list(self.k) if isinstance(self.k, tuple) else self.k
        weight = {} if self.weight is None else {"weight": self.weight}
        return {"scaling": self.scaling, "k": k, **weight}

    @classmethod
    def from_json(cls, control: str, values: dict[str, Any]) -> Candidate:
        """Return the candidate of a control with these hyperparameters."""
        k = values["k"]
        return cls(control, **values | {"k": tuple(k) if isinstance(k, list) else k})


CANDIDATES = tuple(
    Candidate(control, scaling, k)
    for scaling in DENSE_SCALINGS
    for control, values in (*SMOOTHING.items(), ("sign", BLOCKS))
    for k in values
    if (control, scaling) != ("sign", "l2")  # its rows are scaled to L2 norm 1 in any case
)
"""All candidates but those of `structure`, which depend on the choice for `sign`.

Those with scaling `standard` are for dense features only.
"""


def structure_candidates(sign: Candidate) -> tuple[Candidate, ...]:
    """Return the candidates of `structure`: beside the blocks of `sign`, and alone."""
    beside = (Candidate("structure", sign.scaling, sign.k, weight) for weight in WEIGHTS)
    return *beside, Candidate("structure", "none", (), 1.0)


@dataclass(frozen=True)
class FeatureControls:
    """The controls computed from a graph's features and edges.

    Attributes:
        graph: the graph.
        max_columns: columns of a control; wider features, and blocks in all, are replaced by as
            many leading singular directions. None to keep all columns.
    """

    graph: Graph
    max_columns: int | None = MAX_COLUMNS
    _reduced: dict[tuple[str, FeatureScaling], Features] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def candidates(
        self, wanted: Collection[Candidate] = CANDIDATES
    ) -> Iterator[tuple[Candidate, Features]]:
        """Yield candidates with their embeddings."""
        adjacency = normalised_adjacency(self.graph.adjacency, SMOOTHING_SELF_LOOPS)
        for scaling in SCALINGS if sp.issparse(self.graph.features) else DENSE_SCALINGS:
            some = [candidate for candidate in wanted if candidate.scaling == scaling]
            if not some:
                continue
            scaled = scale_features(self.graph.features, scaling)
            powers = {
                control: [k for k in steps if Candidate(control, scaling, k) in some]
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
            sets = [candidate for candidate in some if isinstance(candidate.k, tuple)]
            smooth: dict[int, Features] = {}
            if steps := sorted({k for candidate in sets for k in candidate.steps}):
                features = self._reduce("sign", scaling, scaled)
                smooth = dict(smooth_features(adjacency, features, steps))
            for candidate in sets:
                yield candidate, self._side_by_side(candidate, smooth)

    def _side_by_side(self, candidate: Candidate, smooth: dict[int, Features]) -> Features:
        """Return blocks of equally many columns, each with rows of L2 norm 1, and the structure."""
        last: list[tuple[Features, float]] = []
        if candidate.weight is not None:
            last = [(self._structure(), candidate.weight)]
        width = None
        if self.max_columns is not None:
            left = self.max_columns - sum(block.shape[1] for block, _ in last)
            width = left // max(1, len(candidate.steps))
        return side_by_side([*((smooth[k][:, :width], 1.0) for k in candidate.steps), *last])

    def _reduce(self, control: str, scaling: FeatureScaling, matrix: Features) -> Features:
        """Return the matrix in its leading directions, which are computed once."""
        columns = self.max_columns
        if control == "pca":
            columns = min(COMPONENTS, columns or COMPONENTS)
        if columns is None:
            return matrix
        if (control, scaling) not in self._reduced:
            if control == "sign":  # at least two blocks, which take the first of these columns
                reduced = principal(self._reduce("smooth", scaling, matrix), columns // 2)
            else:
                reduced = leading(matrix, columns)
            self._reduced[control, scaling] = reduced
        return self._reduced[control, scaling]

    def _structure(self) -> Features:
        """Return the structure block, which is computed once."""
        if ("structure", "none") not in self._reduced:
            columns = min(STRUCTURE, (self.max_columns or MAX_COLUMNS) // 4)
            block = structural_embedding(self.graph.adjacency, columns)
            self._reduced["structure", "none"] = block
        return self._reduced["structure", "none"]

    def choose(self, splits: Sequence[Split]) -> dict[str, Candidate]:
        """Return the candidate of each control that is best on the splits' validation nodes.

        Ridge regression, which is cheap, screens all candidates; the honest probe decides between
        the finalists. `structure` has few candidates, with the blocks chosen for `sign`.
        """
        labels = self.graph.labels
        assert labels is not None
        screened: dict[str, list[tuple[float, Candidate]]] = {}
        for candidate, matrix in steps(
            "screening the controls", self.candidates(), len(CANDIDATES)
        ):
            score = fmean(ridge_validation(matrix, labels, split) for split in splits)
            screened.setdefault(candidate.control, []).append((-score, candidate))
        best = self._best(
            [
                candidate
                for ranked in screened.values()
                for _, candidate in sorted(ranked, key=lambda pair: pair[0])[:FINALISTS]
            ],
            splits,
        )
        best |= self._best(structure_candidates(best["sign"]), splits)
        return {control: best[control] for control in FEATURE_CONTROLS}

    def _best(
        self, candidates: Collection[Candidate], splits: Sequence[Split]
    ) -> dict[str, Candidate]:
        """Return the candidate of each control that the honest probe finds best."""
        labels = self.graph.labels
        assert labels is not None
        best: dict[str, tuple[float, Candidate]] = {}
        for candidate, matrix in steps(
            "choosing the controls", self.candidates(candidates), len(candidates)
        ):
            score = fmean(validation_accuracy(matrix, labels, split) for split in splits)
            if candidate.control not in best or score > best[candidate.control][0]:
                best[candidate.control] = score, candidate
        return {control: candidate for control, (_, candidate) in best.items()}


def leading(matrix: Features, columns: int) -> Features:
    """Return the matrix as it is, or its `principal` directions if it has more columns."""
    return matrix if matrix.shape[1] <= columns else principal(matrix, columns)


def principal(matrix: Features, columns: int) -> npt.NDArray[np.float32]:
    """Return the matrix in coordinates of its leading singular directions, `U S`."""
    matrix = densify(matrix)
    return dense_rows(matrix @ leading_directions(matrix, columns, iterations=ITERATIONS))


def ridge_validation(matrix: Features, labels: LabelArray, split: Split) -> float:
    """Return the best validation accuracy of ridge regression over penalties and row scaling."""
    train, validation = split["train"], split["val"]
    targets = np.eye(int(labels.max()) + 1, dtype=np.float32)[labels[train]]
    best = 0.0
    for row_normalised in row_scalings(matrix, split):
        rows = [dense_rows(matrix[nodes]) for nodes in (train, validation)]
        if row_normalised:
            rows = [normalize_rows(part) for part in rows]
        for predicted in ridge_path(rows[0], targets, rows[1]):
            best = max(best, float((predicted.argmax(axis=1) == labels[validation]).mean()))
    return 100 * best
