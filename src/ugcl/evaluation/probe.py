"""Linear probes: how well a linear classifier reads the classes off fixed embeddings.

Two named protocols. `honest` (the default) is a logistic regression that has converged, on centred
input, its regularisation and row normalisation chosen on the validation nodes. `paper` is the
authors' probe, for comparison with published figures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from torch import nn

from ugcl._utils.errors import UGCLError
from ugcl._utils.linalg import dense_rows
from ugcl._utils.suggest import unknown

Protocol = Literal["honest", "paper"]
Split = Mapping[str, npt.NDArray[np.int64]]
Labels = npt.NDArray[np.int64]

INVERSE_REGULARISATION = tuple(10.0**k for k in np.arange(-3, 5.5, 0.5))
"""Values of C that the honest probe tries, relative to inputs of mean squared length 1."""

PATH_PATIENCE = 4
"""The path of C ends after so many values in a row below its best: larger ones only cost time."""

PAPER_WEIGHT_DECAY = {"citeseer": 0.01}
"""Weight decay of the authors' probe by data set; 0 for the others."""


@dataclass(frozen=True)
class Score:
    """Accuracies of a probe, in percent.

    Attributes:
        accuracy: on the test nodes.
        validation: on the validation nodes; None where the split has none.
        chosen: what the probe chose on the validation nodes.
        correct: for each test node, whether it was classified correctly.
    """

    accuracy: float
    validation: float | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    correct: npt.NDArray[np.bool_] = field(
        default_factory=lambda: np.empty(0, dtype=bool), repr=False, compare=False
    )


def linear_probe(
    embeddings: Any,
    labels: Labels,
    split: Split,
    protocol: Protocol = "honest",
    *,
    dataset: str = "",
    seed: int = 0,
) -> Score:
    """Train a linear classifier on the training nodes and score it on the test nodes.

    Args:
        embeddings: N x D, dense or SciPy sparse (sparse is never made dense as a whole).
        labels: N classes.
        split: node numbers of "train", "val" and "test".
        protocol: which probe.
        dataset: the data set's name; the authors' probe has a weight decay for CiteSeer only.
        seed: initial weights of the authors' probe; the honest one has no randomness.
    """
    check_split(labels, split, protocol)
    if protocol == "honest":
        return _honest_probe(embeddings, labels, split)
    decay = PAPER_WEIGHT_DECAY.get(dataset, 0.0)
    return _paper_probe(embeddings, labels, split, decay, seed)


def predicted_score(predicted: Labels, labels: Labels, split: Split) -> Score:
    """The accuracies of predictions that are there already."""
    right = predicted == labels
    held = split.get("val", np.empty(0, dtype=np.int64))
    correct = right[split["test"]]
    validation = 100 * float(right[held].mean()) if held.size else None
    return Score(100 * float(correct.mean()), validation, correct=correct)


def check_split(labels: Labels, split: Split, protocol: Protocol) -> None:
    """Refuse a split that a probe can make nothing of, and a probe that there is not."""
    if protocol not in get_args(Protocol):
        raise UGCLError(unknown("protocol", protocol, get_args(Protocol)))
    for part in ("train", "test") if protocol == "paper" else ("train", "val", "test"):
        if part not in split or split[part].size == 0:
            raise UGCLError(
                f"the {protocol} probe needs '{part}' nodes, but the split has none: use another "
                "split (--split, --split-seed) or, without validation nodes, the protocol 'paper'"
            )
    if np.unique(labels[split["train"]]).size < 2:
        raise UGCLError(
            "the training nodes are all of one class: label more nodes, or use another split "
            "(--split, --split-seed)"
        )


def _honest_probe(embeddings: Any, labels: Labels, split: Split) -> Score:
    validation, chosen, classifier = _chosen_probe(embeddings, labels, split)
    correct = classifier(split["test"]) == labels[split["test"]]
    return Score(100 * float(correct.mean()), validation, chosen, correct)


def validation_accuracy(embeddings: Any, labels: Labels, split: Split) -> float:
    """The honest probe's accuracy on the validation nodes, in percent: to choose between inputs."""
    return _chosen_probe(embeddings, labels, split)[0]


def _chosen_probe(
    embeddings: Any, labels: Labels, split: Split
) -> tuple[float, dict[str, Any], Callable[[npt.NDArray[np.int64]], Labels]]:
    """Choose C and row normalisation on the validation nodes; ties go to the smaller C.

    Returns:
        The validation accuracy in percent, what was chosen, and the classifier of nodes.
    """
    best: tuple[float, dict[str, Any], Callable[[npt.NDArray[np.int64]], Labels]] | None = None
    for row_normalised in (False, True):
        inputs = TrainingSpan(embeddings, split["train"], row_normalised)
        train, held = inputs(split["train"]), inputs(split["val"])
        probe = LogisticRegression(tol=1e-4, max_iter=5000, warm_start=True)
        peak, below = 0.0, 0
        for inverse in INVERSE_REGULARISATION:
            probe.set_params(C=inverse)
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                try:
                    probe.fit(train, labels[split["train"]])
                except ConvergenceWarning:
                    break  # larger C converge more slowly still
            validation = 100 * float(probe.score(held, labels[split["val"]]))
            if best is None or validation > best[0]:
                chosen = {"C": round(float(inverse), 6), "row_normalised": row_normalised}
                best = validation, chosen, _classifier(_frozen_copy(probe), inputs)
            peak, below = max(peak, validation), below + 1 if validation < peak else 0
            if below == PATH_PATIENCE:
                break
    assert best is not None
    return best


def _classifier(
    probe: LogisticRegression, inputs: TrainingSpan
) -> Callable[[npt.NDArray[np.int64]], Labels]:
    return lambda nodes: np.asarray(probe.predict(inputs(nodes)))


class TrainingSpan:
    """Rows less the mean training row, in coordinates of the span of the training rows.

    A regularised linear classifier lies in that span, so nothing is lost, and 120 training nodes
    in 8,192 dimensions become a problem in 119 dimensions. All are divided by one number, the root
    mean square length of the centred training rows, so that C means the same for any embedding.
    """

    def __init__(
        self, embeddings: Any, train: npt.NDArray[np.int64], row_normalised: bool = False
    ) -> None:
        self.embeddings, self.row_normalised = embeddings, row_normalised
        rows = self._rows(train)
        self.mean = np.asarray(rows.mean(axis=0), dtype=np.float64).reshape(1, -1)
        dense = dense_rows(rows) - self.mean
        self.scale = np.sqrt((dense**2).sum(axis=1).mean()) or 1.0
        self.basis = np.linalg.qr(dense.T)[0] if dense.shape[0] < dense.shape[1] else None

    def __call__(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The inputs of these nodes, in single precision: half the time, the same tolerance."""
        rows = self._rows(nodes)
        if self.basis is None:
            inputs = dense_rows(rows) - self.mean
        else:
            inputs = np.asarray(rows @ self.basis - self.mean @ self.basis)
        return (inputs / self.scale).astype(np.float32)

    def _rows(self, nodes: npt.NDArray[np.int64]) -> Any:
        rows = self.embeddings[nodes]
        return normalize(rows) if self.row_normalised else rows


def _frozen_copy(probe: LogisticRegression) -> LogisticRegression:
    """The fitted probe as it is now: warm starts overwrite the coefficients of the original."""
    copy = LogisticRegression()
    copy.classes_ = probe.classes_
    copy.coef_, copy.intercept_ = probe.coef_.copy(), probe.intercept_.copy()
    return copy


def _paper_probe(
    embeddings: Any, labels: Labels, split: Split, weight_decay: float, seed: int
) -> Score:
    """One linear layer, Adam at 0.01, 300 steps, cross-entropy; no validation nodes are used."""

    def rows(part: str) -> torch.Tensor:
        return torch.from_numpy(dense_rows(embeddings[split[part]]).astype(np.float32))

    generator = torch.Generator().manual_seed(seed)
    train, targets = rows("train"), torch.from_numpy(labels[split["train"]].copy())
    weight = torch.empty(int(labels.max()) + 1, train.shape[1], requires_grad=True)
    nn.init.xavier_uniform_(weight, generator=generator)
    bias = torch.zeros(weight.shape[0], requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=1e-2, weight_decay=weight_decay)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(train @ weight.T + bias, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def correct(part: str) -> npt.NDArray[np.bool_]:
        with torch.no_grad():
            predicted = (rows(part) @ weight.T + bias).argmax(dim=1).numpy()
        return np.asarray(predicted == labels[split[part]])

    has_validation = split.get("val", np.empty(0)).size > 0
    validation = 100 * float(correct("val").mean()) if has_validation else None
    right = correct("test")
    return Score(100 * float(right.mean()), validation, correct=right)
