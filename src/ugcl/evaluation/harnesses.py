"""Probes of published evaluation harnesses, written from their rules.

They exist to compare with published figures. The protocols that name them, and the nodes that each
rule trains, chooses and tests on, are in `protocols`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from torch import nn

from ugcl._utils.linalg import dense_rows, normalize_rows
from ugcl._utils.random import seed_of, torch_generator
from ugcl.data.splits import Split
from ugcl.evaluation.probe import NO_NODES, BoolArray, Score
from ugcl.nn import Adam
from ugcl.typing import Embeddings, LabelArray, NodeIndices

ONE_VS_REST_C = tuple(2.0**k for k in range(-10, 11))
"""Values of C that the probe of BGRL tries, for rows of L2 norm 1."""

NUM_HALVES = 5
"""Random divisions of the training nodes into halves on which the probe of BGRL chooses C."""


@dataclass(frozen=True)
class AdamProbe:
    """One linear layer, cross-entropy on all training nodes, Adam at learning rate 0.01.

    The weights are Xavier-uniform, from a seed. Inputs are the embeddings as they are, so the score
    depends on their scale.

    Attributes:
        steps: the number of steps.
        check_every: the first weights with the highest validation accuracy count, among those after
            each multiple of this many steps; None for the weights after the last step.
        random_bias: draw the biases from +-1/sqrt(D), PyTorch's default, instead of zeros.
        weight_decay: by the data set's name; 0 for all others.
    """

    steps: int
    check_every: int | None = None
    random_bias: bool = False
    weight_decay: Mapping[str, float] = field(default_factory=dict)

    def __call__(
        self,
        embeddings: Embeddings,
        labels: LabelArray,
        split: Split,
        dataset: str = "",
        seed: int = 0,
    ) -> Score:
        """Train the layer on the training nodes and score it."""

        def inputs(nodes: NodeIndices) -> torch.Tensor:
            return torch.from_numpy(dense_rows(embeddings[nodes]).astype(np.float32))

        generator = torch_generator("probe", seed)
        train, targets = inputs(split["train"]), torch.from_numpy(labels[split["train"]].copy())
        weight = torch.empty(int(labels.max()) + 1, train.shape[1], requires_grad=True)
        nn.init.xavier_uniform_(weight, generator=generator)
        bias = torch.zeros(weight.shape[0], requires_grad=True)
        if self.random_bias:
            nn.init.uniform_(bias, -(train.shape[1] ** -0.5), train.shape[1] ** -0.5, generator)
        validation = split.get("val", NO_NODES)
        rows = inputs(validation)

        def correct(rows: torch.Tensor, nodes: NodeIndices) -> BoolArray:
            with torch.no_grad():
                predicted = (rows @ weight.T + bias).argmax(dim=1).numpy()
            return np.asarray(predicted == labels[nodes])

        decay = self.weight_decay.get(dataset, 0.0)
        optimizer = Adam([weight, bias], lr=1e-2, weight_decay=decay)
        best, chosen, kept = -1, {}, (weight, bias)
        for step in range(1, self.steps + 1):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(train @ weight.T + bias, targets)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if self.check_every is not None and step % self.check_every == 0:
                right = int(correct(rows, validation).sum())
                if right > best:
                    best, chosen = right, {"steps": step}
                    kept = weight.detach().clone(), bias.detach().clone()
        weight, bias = kept
        score = Score.of(correct(inputs(split["test"]), split["test"]), correct(rows, validation))
        return Score(score.accuracy, score.validation, chosen, score.correct)


def one_vs_rest_probe(
    embeddings: Embeddings, labels: LabelArray, split: Split, dataset: str = "", seed: int = 0
) -> Score:
    """Score the probe of BGRL: one regularised logistic regression for each class.

    Rows have L2 norm 1, and the intercept is regularised like a weight. The training nodes are
    divided at random into halves, five times. One half trains and the other scores each C by the
    share of nodes for which all binary classifiers are right: that of the node's class says yes and
    all others say no. The smallest C with the highest mean share is trained again on all training
    nodes. A test node is of the class with the largest score.

    The halves depend on the training nodes alone, not on `seed`, so that a run and its controls
    have the same ones. The score's `validation` is the mean share of the chosen C.
    """

    def inputs(nodes: NodeIndices) -> npt.NDArray[np.float32]:
        rows = dense_rows(normalize_rows(embeddings[nodes])).astype(np.float32)
        return np.hstack([rows, np.ones((nodes.size, 1), np.float32)])

    train = inputs(split["train"])
    targets = np.eye(int(labels.max()) + 1, dtype=bool)[labels[split["train"]]]
    halves = ShuffleSplit(NUM_HALVES, test_size=0.5, random_state=seed_of("probe halves"))
    shares = [
        [
            float(((scores > 0) == targets[other]).all(axis=1).mean())
            for scores in _one_vs_rest(train[one], targets[one], train[other], ONE_VS_REST_C)
        ]
        for one, other in halves.split(train)
    ]
    means = np.mean(shares, axis=0)
    best = int(means.argmax())
    (scores,) = _one_vs_rest(train, targets, inputs(split["test"]), [ONE_VS_REST_C[best]])
    correct = scores.argmax(axis=1) == labels[split["test"]]
    chosen = {"C": ONE_VS_REST_C[best]}
    return Score(100 * float(correct.mean()), 100 * float(means[best]), chosen, correct)


def _one_vs_rest(
    train: npt.NDArray[np.float32],
    targets: BoolArray,
    test: npt.NDArray[np.float32],
    inverse_regularisation: Sequence[float],
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the scores of test nodes for each class, at each C in ascending order.

    A class that all or none of the training nodes have is predicted for all or none.
    """
    constant = np.where(targets.all(axis=0), np.inf, -np.inf)
    probes = {
        label: LogisticRegression(tol=1e-6, max_iter=5000, fit_intercept=False, warm_start=True)
        for label in np.flatnonzero(targets.any(axis=0) & ~targets.all(axis=0))
    }
    for inverse in inverse_regularisation:
        scores = np.tile(constant, (test.shape[0], 1))
        for label, probe in probes.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                probe.set_params(C=inverse).fit(train, targets[:, label])
            scores[:, label] = probe.decision_function(test)
        yield scores
