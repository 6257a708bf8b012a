"""Training of supervised methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from conftest import make_graph
from ugcl import Classifier, UGCLError
from ugcl.engine import Trainer
from ugcl.methods import METHODS, Shape
from ugcl.methods.models.supervised import SupervisedModel

GRAPH = make_graph(40)


@pytest.mark.parametrize("name", ["mlp", "gcn", "gat", "sgc"])
def test_the_decay_adds_the_squares_of_the_right_weights(name: str) -> None:
    """A step of Adam with zero gradients moves the decayed weights alone."""
    decayed = {"mlp": ("linear",), "gcn": ("linear", "first")}
    trainer = Trainer(name, GRAPH, device="cpu", weight_decay=0.5, lr=0.01)
    model, optimizer = trainer.model, trainer.state.optimizer
    assert isinstance(model, SupervisedModel)
    assert optimizer is not None
    with torch.no_grad():
        for value in model.network.parameters():
            value.fill_(1.0)
    before = {key: value.clone() for key, value in model.network.named_parameters()}
    torch.autograd.backward([0 * value.sum() for value in model.network.parameters()])
    optimizer.step()
    for key, value in model.network.named_parameters():
        moves = name not in decayed or key.split(".")[0] in decayed[name]
        assert torch.equal(value, before[key]) != moves, key


@pytest.mark.parametrize("name", ["mlp", "gcn", "gat", "sgc"])
def test_the_loss_is_the_cross_entropy_of_training_nodes(name: str) -> None:
    method = METHODS[name]
    params = {} if name == "sgc" else {"dropout": 0.0}
    settings = method.resolve("fast", GRAPH, params)
    model = method.new_model(Shape.of(GRAPH), settings, 0)
    loss = model.loss_fn(GRAPH, "cpu")(0).item()
    validation_loss = model.validation_loss()
    assert isinstance(model, SupervisedModel)
    scores = torch.log(torch.from_numpy(model.predict(GRAPH, "cpu")))
    labels = torch.from_numpy(np.array(GRAPH.labels))
    for value, part in ((loss, "train"), (validation_loss, "val")):
        nodes = torch.from_numpy(GRAPH.splits[part].copy())
        expected = cross_entropy(scores[nodes], labels[nodes])
        assert value == pytest.approx(float(expected), abs=1e-5)


def test_the_best_weights_on_validation_nodes_are_kept() -> None:
    """Compare the validation accuracy of every epoch with that of the kept weights."""
    trainer = Trainer("gcn", GRAPH, device="cpu", lr=0.3, dropout=0.8)
    model = trainer.model
    assert isinstance(model, SupervisedModel)
    nodes, labels = GRAPH.splits["val"], GRAPH.labels
    assert labels is not None
    seen = []
    for _ in range(30):
        trainer.step()
        loss = model.validation_loss()
        with torch.no_grad():
            scores = model.network(*model._inputs(GRAPH, "cpu"))[1]
        accuracy = (scores.argmax(dim=1).numpy() == labels)[nodes].mean()
        seen.append((accuracy, -loss))
        kept = (model.predict(GRAPH, "cpu").argmax(axis=1) == labels)[nodes].mean()
        assert kept == max(seen)[0]
        np.testing.assert_allclose(model.best.tolist(), [max(seen)[0], -max(seen)[1]], rtol=1e-6)
    assert seen.index(max(seen)) < 29


def test_early_stopping_uses_the_loss_on_validation_nodes() -> None:
    patient, eager = (
        Classifier("gcn", epochs=400, patience=patience, lr=0.1).fit(GRAPH) for patience in (0, 5)
    )
    assert len(patient.loss_) == 400
    assert len(eager.loss_) < 200
    assert eager.loss_ == patient.loss_[: len(eager.loss_)]


def test_a_classifier_learns_and_predicts_another_graph() -> None:
    unseen = make_graph(60, seed=7)
    for name in ("mlp", "gcn", "gat", "sgc"):
        learner = Classifier(name, epochs=200, patience=0, seed=1).fit(GRAPH)
        assert unseen.labels is not None
        right = (learner.predict(replace(unseen, labels=None, splits={})) == unseen.labels).mean()
        assert right > 0.5, name
        np.testing.assert_array_equal(learner.classes_, [0, 1, 2])


def test_a_method_without_labels_is_no_classifier() -> None:
    with pytest.raises(UGCLError, match=r"^ugcl learns without labels and predicts none: use Emb"):
        Classifier("ugcl").fit(GRAPH)


def test_the_width_must_be_a_multiple_of_the_heads() -> None:
    with pytest.raises(UGCLError, match=r"^`hidden` 10 is not a multiple of `heads` 4: use"):
        METHODS["gat"].resolve("fast", GRAPH, {"hidden": 10, "heads": 4})
