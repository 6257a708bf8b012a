from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from conftest import make_graph
from ugcl import Embedder, Graph
from ugcl.methods import METHODS, Shape
from ugcl.methods.models.skip_gram import SkipGram
from ugcl.methods.skip_gram import MIN_LR_FRACTION
from ugcl.views import Walker

SMALL: dict[str, Any] = {"hidden": 8, "walk_length": 12, "window": 3}


def model_of(graph: Graph, **params: Any) -> SkipGram:
    settings = METHODS["deepwalk"].resolve("fast", graph, SMALL | params)
    model = METHODS["deepwalk"].new_model(Shape.of(graph), settings, 0)
    assert isinstance(model, SkipGram)
    return model


@pytest.mark.parametrize("negatives", [0, 5])
def test_classes_that_show_in_the_edges_show_in_the_embeddings(negatives: int) -> None:
    graph = make_graph(90)
    params = SMALL | {"epochs": 150, "lr": 0.05, "negatives": negatives}
    rows = Embedder("deepwalk", **params).fit(graph).embed(graph)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    alike = unit @ unit.T
    labels = np.asarray(graph.labels)
    same = (labels[:, None] == labels) & ~np.eye(90, dtype=bool)
    assert alike[same].mean() > alike[labels[:, None] != labels].mean() + 0.2


@pytest.mark.parametrize("negatives", [0, 4])
def test_the_loss_before_training_is_log_2_a_decision(negatives: int) -> None:
    """With outputs of zeros every decision has probability 1/2: log 2 each."""
    graph = make_graph(40)
    model = model_of(graph, negatives=negatives)
    words = model._words(graph)
    words.wv.vectors = model.vectors.numpy().copy()
    words.syn1 = words.syn1neg = model.outputs.numpy().copy()
    walks = Walker(graph.adjacency).walks(12, np.random.default_rng(0))
    loss = model._loss(words, walks, np.random.default_rng(0))
    if negatives:
        assert loss == pytest.approx((1 + negatives) * np.log(2))
    else:
        assert np.log(40) - 0.5 < loss < np.log2(40) * np.log(2) + 1  # the depth of the tree


def test_p_and_q_change_the_walks(graph: Graph) -> None:
    embeddings = [
        Embedder("node2vec", **{**SMALL, "epochs": 2, "p": p, "q": q}).fit(graph).embed(graph)
        for p, q in ((1, 1), (10, 1), (1, 10))
    ]
    assert not np.array_equal(embeddings[0], embeddings[1])
    assert not np.array_equal(embeddings[0], embeddings[2])


def test_node2vec_with_first_order_walks_is_deepwalk(graph: Graph) -> None:
    params = {**SMALL, "epochs": 3, "negatives": 5, "lr": 0.02}
    first_order = {"deepwalk": {}, "node2vec": {"p": 1, "q": 1}}
    one, other = (
        Embedder(name, **params | more).fit(graph).embed(graph)
        for name, more in first_order.items()
    )
    np.testing.assert_array_equal(one, other)


def test_the_learning_rate_falls_linearly_to_a_hundredth(graph: Graph) -> None:
    settings = METHODS["deepwalk"].resolve("fast", graph, {"epochs": 4, "lr": 1.0})
    rates = [settings.lr_at(epoch) for epoch in range(5)]  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.diff(rates), -(1 - MIN_LR_FRACTION) / 4)
    assert rates[0] == 1.0
    assert rates[4] == pytest.approx(MIN_LR_FRACTION)


def test_a_node_without_neighbours_keeps_its_row() -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], np.eye(4))
    before, after = (
        Embedder("deepwalk", **{**SMALL, "epochs": epochs}).fit(graph).embed(graph)
        for epochs in (0, 3)
    )
    np.testing.assert_array_equal(before[3], after[3])
    assert not np.array_equal(before[:3], after[:3])


def test_several_workers_train_all_rows(graph: Graph) -> None:
    rows = Embedder("deepwalk", **{**SMALL, "workers": 2, "epochs": 2}).fit(graph)
    assert np.isfinite(rows.embed(graph)).all()


def test_embeddings_are_a_copy(graph: Graph) -> None:
    model = model_of(graph)
    model.fit_buffers(graph)
    rows = model.embed(graph, torch.device("cpu"))
    rows[:] = 0
    assert model.vectors.abs().sum() > 0
