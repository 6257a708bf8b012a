"""GCA: its step, views and embeddings against independent dense versions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch

from conftest import make_graph
from steps import (
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    augmented,
    bound_views,
    convolutions,
    doubled,
    edges_left,
    edges_of,
    featured,
    grace_loss,
    model_of,
    sample_of,
    scaled_features,
    shake,
)
from ugcl import Graph
from ugcl._utils.random import numpy_generator
from ugcl.methods.models.ssl import SSLModel
from ugcl.scope import Power
from ugcl.sparse import SparseMatrix

CENTRALITIES = ("degree", "pagerank", "eigenvector")

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])


def central(edges: np.ndarray, kind: str) -> np.ndarray:
    """The centrality of each node, up to a factor."""
    walk = edges / edges.sum(axis=0)
    centrality: np.ndarray = {
        "degree": edges.sum(axis=1),
        "pagerank": np.linalg.inv(np.eye(len(edges)) - 0.85 * walk).sum(axis=1),
        "eigenvector": np.abs(np.linalg.eigh(edges).eigenvectors[:, -1]),
    }[kind]
    return centrality


def chances(weights: np.ndarray, rate: float) -> np.ndarray:
    """min((s_max - s) / (s_max - s_mean) rate, 0.7) with s = log weight; 0.7 without weight."""
    logs = np.log(weights[weights > 0])
    result = np.full(len(weights), 0.7)
    result[weights > 0] = np.minimum((logs.max() - logs) / (logs.max() - logs.mean()) * rate, 0.7)
    return result


def edge_list(edges: np.ndarray) -> np.ndarray:
    """The two ends of each edge, in ascending order."""
    return np.argwhere(np.triu(edges))


def gca_chances(graph: Graph, model: SSLModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """The probability that each edge is dropped and each column is masked, in both views."""
    chosen, edges, x = model.settings, edges_of(graph), scaled_features(graph, model.settings)
    nodes = central(edges, chosen.centrality)
    of_edges = nodes[edge_list(edges)].mean(axis=1)
    crowded = (x != 0).mean() > 0.15
    of_columns = nodes @ (np.abs(x) if crowded else x != 0)
    return [
        (chances(of_edges, chosen.drop_edges_1), chances(of_columns, chosen.mask_features_1)),
        (chances(of_edges, chosen.drop_edges_2), chances(of_columns, chosen.mask_features_2)),
    ]


@sparse_or_dense
@pytest.mark.parametrize("kind", CENTRALITIES)
def test_gcas_step_is_graces_on_its_own_views(kind: str, sparse: bool) -> None:
    graph = featured(sparse)
    model = model_of("gca", graph, hidden=8, projector=5, centrality=kind)
    assert model.scope == Power(0)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    assert isinstance(sample.views[0].features, SparseMatrix) == sparse
    views = augmented(sample, torch.from_numpy(scaled_features(graph, model.settings)))
    activation, temperature = model.settings.activation, model.settings.temperature
    assert (activation, temperature) == ("prelu", 0.4)
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: grace_loss(parameters, views, activation, temperature),
    )


@pytest.mark.parametrize("graph", [featured(True), featured(False), make_graph()])
@pytest.mark.parametrize("kind", CENTRALITIES)
def test_gcas_views_drop_and_mask_by_centrality(kind: str, graph: Graph) -> None:
    model = model_of("gca", graph, hidden=4, centrality=kind)
    views, of_both = bound_views(model, graph), gca_chances(graph, model)
    edges = edge_list(edges_of(graph))
    for epoch in range(30):
        sample, rng = views.sample(model.rng(epoch)), numpy_generator("views", 3, epoch)
        for view, (of_edges, of_columns) in zip(sample.views, of_both, strict=True):
            kept = edges[rng.random(len(edges)) >= of_edges]
            np.testing.assert_array_equal(edge_list(edges_left(view)), kept)
            assert view.feature_mask is not None
            unmasked = rng.random(graph.num_features) >= of_columns
            np.testing.assert_array_equal(view.feature_mask, unmasked)


def test_gca_keeps_edges_of_central_nodes_and_its_centralities_differ() -> None:
    graph, epochs = featured(sparse=True), 400
    edges = edges_of(graph)
    first, second = edge_list(edges).T
    rates = []
    for kind in CENTRALITIES:
        model = model_of("gca", graph, hidden=4, centrality=kind)
        views = bound_views(model, graph)
        left = sum(edges_left(views.sample(model.rng(epoch)).views[0]) for epoch in range(epochs))
        rates.append(1 - np.asarray(left)[first, second] / epochs)
        nodes = central(edges, kind)
        order = np.argsort(nodes[first] + nodes[second])
        outer, inner = (rates[-1][part].mean() for part in (order[:17], order[-17:]))
        assert outer > 0.25 > 0.15 > inner
        assert rates[-1].mean() == pytest.approx(model.settings.drop_edges_1, abs=0.05)
    for one, other in combinations(rates, 2):
        assert np.abs(one - other).max() > 0.12  # four deviations of what chance makes of an edge


@sparse_or_dense
@pytest.mark.parametrize("name", ["small", "cora"])
def test_gca_embeds_by_its_encoder(name: str, sparse: bool) -> None:
    graph = featured(sparse, name)
    model = model_of("gca", graph, hidden=8)
    shake(model)
    activation = {"small": "prelu", "cora": "relu"}[name]
    assert_embeds(
        model, graph, convolutions(doubled(model), *a_and_x(graph, model), (activation,) * 2)
    )
