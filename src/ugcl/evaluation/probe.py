"""The honest probe: a logistic regression on fixed embeddings, tuned on validation nodes.

It is run to convergence on centred inputs; regularisation and row normalisation are chosen on the
validation nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from ugcl._utils.linalg import dense_rows
from ugcl.data.splits import Split
from ugcl.typing import Embeddings, LabelArray, NodeIndices

BoolArray = npt.NDArray[np.bool_]

INVERSE_REGULARISATION = tuple(10.0**k for k in np.arange(-3, 5.5, 0.5))
"""Values of C that the honest probe tries, for inputs of mean squared length 1."""

PATH_PATIENCE = 4
"""The path of C ends after this many values in a row below the best; larger C only cost time."""

NO_NODES: NodeIndices = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Score:
    """Accuracies of a classifier, in percent.

    Attributes:
        accuracy: on the test nodes.
        validation: on the validation nodes; None where the split has none.
        chosen: the hyperparameters that the protocol chose.
        correct: for each test node, whether it was classified correctly.
    """

    accuracy: float
    validation: float | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    correct: BoolArray = field(
        default_factory=lambda: np.empty(0, dtype=bool), repr=False, compare=False
    )

    @classmethod
    def of(cls, test: BoolArray, validation: BoolArray) -> Score:
        """Compute the accuracies from whether each test and validation node is correct."""
        on_validation = 100 * float(validation.mean()) if validation.size else None
        return cls(100 * float(test.mean()), on_validation, correct=test)


def honest_probe(
    embeddings: Embeddings, labels: LabelArray, split: Split, dataset: str = "", seed: int = 0
) -> Score:
    """Score the honest probe; it has no randomness, and no settings for single data sets."""
    probe = _fit_honest_probe(embeddings, labels, split)
    correct = probe.predict(split["test"]) == labels[split["test"]]
    return Score(100 * float(correct.mean()), probe.validation, probe.chosen, correct)


def predicted_score(predicted: LabelArray, labels: LabelArray, split: Split) -> Score:
    """Score the predictions of a supervised method for all nodes."""
    correct = predicted == labels
    return Score.of(correct[split["test"]], correct[split.get("val", NO_NODES)])


def validation_accuracy(embeddings: Embeddings, labels: LabelArray, split: Split) -> float:
    """Return the honest probe's accuracy on the validation nodes, in percent, for selection."""
    return _fit_honest_probe(embeddings, labels, split).validation


class TrainingSpan:
    """Centred embeddings in an orthonormal basis of the span of the training rows.

    A regularised linear classifier lies in that span, so the reduction is exact: 120 training nodes
    in 8,192 dimensions become a problem in 120 dimensions. Inputs are divided by the root mean
    square length of the centred training rows, so that C means the same for all embeddings.

    Args:
        embeddings: N x D, dense or SciPy sparse.
        train: the training nodes.
        row_normalised: whether rows are scaled to L2 norm 1 first.
    """

    def __init__(
        self, embeddings: Embeddings, train: NodeIndices, row_normalised: bool = False
    ) -> None:
        self.embeddings, self.row_normalised = embeddings, row_normalised
        rows = self._rows(train)
        self.mean = np.asarray(rows.mean(axis=0), dtype=np.float64).reshape(1, -1)
        dense = dense_rows(rows) - self.mean
        self.scale = np.sqrt((dense**2).sum(axis=1).mean()) or 1.0
        self.basis = np.linalg.qr(dense.T)[0] if dense.shape[0] < dense.shape[1] else None

    def __call__(self, nodes: NodeIndices) -> npt.NDArray[np.float32]:
        """Return the inputs of these nodes, in single precision: half the time."""
        rows = self._rows(nodes)
        if self.basis is None:
            inputs = dense_rows(rows) - self.mean
        else:
            inputs = np.asarray(rows @ self.basis - self.mean @ self.basis)
        return (inputs / self.scale).astype(np.float32)

    def _rows(self, nodes: NodeIndices) -> Embeddings:
        rows = self.embeddings[nodes]
        return normalize(rows) if self.row_normalised else rows


@dataclass(frozen=True)
class _HonestProbe:
    """A fitted logistic regression: validation accuracy in percent, hyperparameters, inputs."""

    validation: float
    chosen: dict[str, Any]
    classifier: LogisticRegression
    inputs: TrainingSpan

    def predict(self, nodes: NodeIndices) -> LabelArray:
        """Return the predicted classes of nodes."""
        return np.asarray(self.classifier.predict(self.inputs(nodes)))


def _fit_honest_probe(embeddings: Embeddings, labels: LabelArray, split: Split) -> _HonestProbe:
    """Choose C and row normalisation on the validation nodes; ties go to the smaller C."""
    best: _HonestProbe | None = None
    for row_normalised in row_scalings(embeddings, split):
        inputs = TrainingSpan(embeddings, split["train"], row_normalised)
        train, validation = inputs(split["train"]), inputs(split["val"])
        probe = LogisticRegression(tol=1e-4, max_iter=5000, warm_start=True)
        peak, below = 0.0, 0
        for inverse in INVERSE_REGULARISATION:
            probe.set_params(C=inverse)
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                try:
                    probe.fit(train, labels[split["train"]])
                except ConvergenceWarning:
                    break  # larger C converge even more slowly
            accuracy = 100 * float(probe.score(validation, labels[split["val"]]))
            if best is None or accuracy > best.validation:
                chosen = {"C": round(float(inverse), 6), "row_normalised": row_normalised}
                best = _HonestProbe(accuracy, chosen, _copy_fitted(probe), inputs)
            peak, below = max(peak, accuracy), below + 1 if accuracy < peak else 0
            if below == PATH_PATIENCE:
                break
    assert best is not None
    return best


def row_scalings(embeddings: Embeddings, split: Split) -> tuple[bool, ...]:
    """Return whether to normalise rows: both, or only not to if rows are of equal length anyway."""
    norms = row_norms(embeddings[np.concatenate([split["train"], split["val"]])])
    return (False,) if np.allclose(norms, norms[0], rtol=1e-5, atol=0) else (False, True)


def _copy_fitted(probe: LogisticRegression) -> LogisticRegression:
    """Copy the fitted coefficients, which warm starts overwrite in place."""
    copy = LogisticRegression()
    copy.classes_ = probe.classes_
    copy.coef_, copy.intercept_ = probe.coef_.copy(), probe.intercept_.copy()
    return copy
