from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import make_graph
from ugcl import UGCL, Graph, UGCLError
from ugcl.engine import Checkpoint, LoopState, train
from ugcl.methods import METHODS, Model, Settings, Shape

SMALL: dict[str, Any] = {
    "scope": 2,
    "hidden": 8,
    "sample": 30,
    "negatives": 10,
    "epochs": 12,
    "lr": 0.01,
}


def untrained(graph: Graph, **given: Any) -> tuple[Model, Settings]:
    settings = METHODS["ugcl"].resolve("fast", graph, SMALL | given)
    return METHODS["ugcl"].build(Shape.of(graph), settings, 0), settings


def test_the_loss_falls(graph: Graph) -> None:
    for preset in METHODS["ugcl"].presets:
        estimator = UGCL(preset, hidden=16, sample="all", negatives="all", epochs=40, lr=0.01)
        losses = estimator.fit(graph).loss_
        assert losses[-1] < losses[0] - 0.1


def test_one_seed_gives_one_result_and_two_seeds_two(graph: Graph) -> None:
    one, again, other = (UGCL(**SMALL, seed=seed).fit(graph).embed(graph) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_labels_and_ids_are_never_looked_at() -> None:
    plain = make_graph(labels=None, splits={})
    labelled = make_graph(ids=[f"n{i}" for i in range(40)])
    estimators = [UGCL(**SMALL).fit(g) for g in (plain, labelled)]
    np.testing.assert_array_equal(*[e.embed(plain) for e in estimators])


@pytest.mark.parametrize("killed_after", [1, 5, 11])
def test_a_resumed_training_equals_an_uninterrupted_one(
    graph: Graph, tmp_path: Path, killed_after: int
) -> None:
    class Killed(Exception):
        pass

    def kill(state: LoopState) -> None:
        if state.epoch > killed_after:
            raise Killed

    whole, settings = untrained(graph)
    expected = train(whole, graph, settings)
    checkpoint = Checkpoint(tmp_path / "checkpoint.safetensors", every=0)
    checkpoint.last = -1e9
    with pytest.raises(Killed):
        train(untrained(graph)[0], graph, settings, checkpoint=checkpoint, on_epoch=kill)
    started: list[int] = []
    resumed, _ = untrained(graph)
    outcome = train(
        resumed,
        graph,
        settings,
        checkpoint=checkpoint,
        on_start=lambda state: started.append(state.epoch),
    )
    assert started[0] > 0
    assert (outcome.epochs, outcome.loss) == (expected.epochs, expected.loss)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name])


def test_stopping_saves_and_says_so(graph: Graph, tmp_path: Path) -> None:
    model, settings = untrained(graph)
    checkpoint = Checkpoint(tmp_path / "checkpoint.safetensors")
    outcome = train(model, graph, settings, checkpoint=checkpoint, should_stop=lambda: True)
    assert (outcome.ended, outcome.epochs) == ("stopped", 1)
    assert checkpoint.path.is_file()


def test_patience_ends_training_early(graph: Graph) -> None:
    model, settings = untrained(graph, patience=3, epochs=500, lr=1e-9, sample="all")
    outcome = train(model, graph, settings)
    assert (outcome.ended, outcome.epochs) == ("patience", 4)


def test_no_epochs_is_the_untrained_encoder(graph: Graph) -> None:
    model, settings = untrained(graph, epochs=0)
    before = model.embed(graph, "cpu")
    assert train(model, graph, settings).loss is None
    np.testing.assert_array_equal(before, model.embed(graph, "cpu"))


def test_a_loss_that_is_not_finite_is_told(graph: Graph) -> None:
    model, settings = untrained(graph)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(UGCLError, match=r"the loss is nan in epoch 1: use a smaller --lr"):
        train(model, graph, settings)


def test_the_estimator_refuses_what_it_cannot_take(graph: Graph) -> None:
    with pytest.raises(UGCLError, match="fit takes a Graph, not ndarray"):
        UGCL().fit(np.eye(3))
    with pytest.raises(UGCLError, match="seed must be a whole number of at least 0, not -1"):
        UGCL(seed=-1).fit(graph)
    with pytest.raises(UGCLError, match="no device 'tpu'"):
        UGCL(device="tpu").fit(graph)


def test_graphs_with_nothing_to_contrast_are_refused() -> None:
    with pytest.raises(UGCLError, match="has one node"):
        UGCL().fit(Graph.from_edges([], [[1.0]]))
    with pytest.raises(UGCLError, match="has no edges"):
        UGCL().fit(Graph.from_edges([], [[1.0], [2.0]]))


@pytest.mark.parametrize("preset", ["fast", "paper", "authors"])
def test_odd_graphs_give_finite_embeddings(preset: str) -> None:
    pairs = [[0, 1], [2, 3], [4, 5]]
    isolated = Graph.from_edges(pairs, np.random.default_rng(0).random((9, 4)))
    one_feature = Graph.from_edges(pairs, np.ones((6, 1)))
    weighted = Graph.from_edges(pairs, np.eye(6), weights=[0.1, 5, 100])
    no_features = Graph.from_edges(pairs, np.eye(6)[:, :3])
    two_nodes = Graph.from_edges([[0, 1]], np.eye(2))
    for graph in (isolated, one_feature, weighted, no_features, two_nodes):
        embeddings = UGCL(preset, hidden=4, epochs=5, lr=0.01).fit(graph).embed(graph)
        assert embeddings.shape == (graph.num_nodes, 4)
        assert np.isfinite(embeddings).all()


def test_the_estimator_follows_scikit_learn(graph: Graph) -> None:
    estimator = UGCL("paper", scope=3, hidden=8, epochs=2)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(scope=4).scope == 4
    assert estimator.scope == 3
    with pytest.raises(NotFittedError, match="call fit"):
        estimator.embed(graph)
    assert estimator.fit(graph) is estimator
    assert estimator.n_features_in_ == graph.num_features
    assert repr(estimator).startswith("UGCL(")


def test_unseen_graphs_can_be_embedded(graph: Graph) -> None:
    estimator = UGCL(**SMALL).fit(graph)
    other = make_graph(25, seed=9)
    assert estimator.embed(other).shape == (25, 8)
    with pytest.raises(UGCLError, match="5 features but training saw 12"):
        estimator.embed(make_graph(25, num_features=5))
