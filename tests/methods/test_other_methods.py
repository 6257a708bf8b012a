"""GCA, SubG-Con, GGD and CCA-SSG against independent versions in dense float64."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import reference
from conftest import make_graph
from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    augmented,
    bound_views,
    convolution,
    convolutions,
    doubled,
    edges_left,
    edges_of,
    featured,
    grace_loss,
    keep_all_entries,
    model_of,
    sample_of,
    scaled_features,
    shake,
)
from ugcl import Graph
from ugcl.methods.models.ssl import SSLModel
from ugcl.scope import Power, WholeGraph
from ugcl.sparse import SparseMatrix

CENTRALITIES = ("degree", "pagerank", "eigenvector")

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])


# GCA: GRACE on views that keep central edges and features.


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
        sample, rng = views.sample(model.rng(epoch)), np.random.default_rng([3, epoch])
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


# SubG-Con: a node against the summary of a subgraph.


def subgraph(edges: np.ndarray, node: int, size: int) -> np.ndarray:
    """A node and its most important nodes: row v of alpha (I - (1 - alpha) A D^-1)^-1."""
    walk = edges / np.maximum(edges.sum(axis=0), 1)
    importance = np.linalg.inv(np.eye(len(edges)) - 0.85 * walk)[node]
    importance[node] = np.inf
    nearest: np.ndarray = np.argsort(-importance)[:size]
    return nearest[: np.count_nonzero(importance > 1e-5)]


def within_subgraph(
    parameters: Parameters, edges: np.ndarray, x: torch.Tensor, node: int, size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """A of a node's subgraph and H in it, the node's own row first."""
    nodes = subgraph(edges, node, size)
    a = torch.from_numpy(reference.normalised_adjacency(edges[np.ix_(nodes, nodes)]))
    return a, convolution(parameters, a, x[nodes])


def subg_con_loss(
    parameters: Parameters,
    edges: np.ndarray,
    x: torch.Tensor,
    centres: np.ndarray,
    order: np.ndarray,
    steps: int | None,
    size: int,
) -> torch.Tensor:
    """SubG-Con as in the authors' code, one subgraph after the other; or with powers."""
    patches, summaries = [], []
    for node in centres:
        a, hidden = within_subgraph(parameters, edges, x, node, size)
        patches.append(hidden[0])
        power = None if steps is None else torch.linalg.matrix_power(a, steps)
        summaries.append(hidden.mean(dim=0) if power is None else power[0] @ hidden)
    scores = torch.sigmoid(torch.stack(patches) @ torch.stack(summaries).T)
    hinges = []
    for v, w in enumerate(order):
        hinges.append(0.5 - scores[v, v] + scores[w, v])
        hinges.append(0.5 - scores[w, w] + scores[v, w])
    assert 0 < sum(gap < 0 for gap in hinges) < len(order)
    return torch.stack(hinges).clamp(min=0).sum() / len(order)


@sparse_or_dense
@pytest.mark.parametrize(
    ("params", "steps"),
    [
        ({}, None),
        ({"sample": 25, "subgraph": 5}, None),
        ({"subgraph": 5, "scope": "component"}, 100_000),
        ({"subgraph": 6, "scope": 2}, 2),
    ],
)
def test_subg_cons_step_equals_one_by_loops_over_subgraphs(
    monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], steps: int | None, sparse: bool
) -> None:
    keep_all_entries(monkeypatch)
    graph = featured(sparse)
    model = model_of("subg-con", graph, hidden=8, **params)
    assert (model.scope == WholeGraph()) == (steps is None)
    assert (model.settings.margin, model.settings.teleport) == (0.5, 0.15)
    with torch.no_grad():  # so that some are far enough apart
        model.encoder.get_parameter("weight").mul_(20)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    assert isinstance(sample.views[0].features, SparseMatrix) == sparse
    again, count = np.random.default_rng([3, 4]), params.get("sample", 40)
    centres = np.sort(again.choice(40, count, replace=False, shuffle=False))
    order = again.permutation(count)
    edges, (_, x) = edges_of(graph), a_and_x(graph, model)
    size = params.get("subgraph", 20)
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: subg_con_loss(parameters, edges, x, centres, order, steps, size),
    )


@pytest.mark.parametrize("params", [{}, {"subgraph": 5, "readout": "sum", "readout_scope": 3}])
@pytest.mark.parametrize("graph", [featured(True), featured(False), make_graph(classes=12)])
def test_subg_con_embeds_each_node_within_its_own_subgraph(
    monkeypatch: pytest.MonkeyPatch, graph: Graph, params: dict[str, Any]
) -> None:
    """Its context is taken in the whole graph."""
    keep_all_entries(monkeypatch)
    model = model_of("subg-con", graph, hidden=8, **params)
    shake(model)
    edges, (a, x) = edges_of(graph), a_and_x(graph, model)
    size = params.get("subgraph", 20)
    rows = [within_subgraph(doubled(model), edges, x, node, size)[1][0] for node in range(40)]
    hidden = torch.stack(rows)
    if params:
        hidden = hidden + torch.linalg.matrix_power(a, 3) @ hidden
    assert_embeds(model, graph, hidden)


# GGD: nodes of the graph or of a corrupted one.


def ggd_loss(
    parameters: Parameters,
    a: torch.Tensor,
    x: torch.Tensor,
    shuffled: torch.Tensor,
    scope: int,
) -> torch.Tensor:
    """GGD as in the authors' code: the sum of the entries of a projection, and a sigmoid."""
    logits = []
    for features in (x, shuffled):
        contexts = torch.linalg.matrix_power(a, scope) @ convolution(parameters, a, features)
        projected = functional.linear(contexts, parameters["loss.weight"], parameters["loss.bias"])
        logits.append(projected.sum(dim=1))
    labels = torch.cat([torch.ones(len(x)), torch.zeros(len(x))]).double()
    return functional.binary_cross_entropy_with_logits(torch.cat(logits), labels)


@sparse_or_dense
@pytest.mark.parametrize("scope", [0, 3])
def test_ggds_step_equals_an_independent_ggd(scope: int, sparse: bool) -> None:
    graph = featured(sparse)
    assert model_of("ggd", graph, hidden=8).scope == Power(0)
    model = model_of("ggd", graph, hidden=8, scope=scope)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    for view in (*sample.views, *sample.corrupted):
        assert isinstance(view.features, SparseMatrix) == sparse
    again = np.random.default_rng([3, 4])
    order, kept = again.permutation(40), torch.from_numpy(again.random(30) >= 0.2)
    assert 0 < kept.sum() < 30
    a, x = a_and_x(graph, model)
    masked = x * kept
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: ggd_loss(parameters, a, masked, masked[order], scope),
    )


@sparse_or_dense
@pytest.mark.parametrize(("name", "n"), [("small", 5), ("citeseer", None), ("amazon-photo", 10)])
def test_ggd_embeds_by_its_encoder_and_a_power(name: str, n: int | None, sparse: bool) -> None:
    """Without the power on CiteSeer."""
    graph = featured(sparse, name)
    model = model_of("ggd", graph, hidden=8)
    shake(model)
    a, x = a_and_x(graph, model)
    hidden = convolution(doubled(model), a, x)
    if n is not None:
        hidden = hidden + torch.linalg.matrix_power(a, n) @ hidden
    assert_embeds(model, graph, hidden)


# CCA-SSG: columns that agree between views and are uncorrelated.


def cca_ssg_loss(
    parameters: Parameters,
    views: list[tuple[torch.Tensor, torch.Tensor]],
    activations: tuple[str, ...],
    decorrelation: float,
) -> torch.Tensor:
    """CCA-SSG as in the authors' code: invariance, and decorrelation of both views."""
    standardised = []
    for a, x in views:
        hidden = convolutions(parameters, a, x, activations)
        standardised.append((hidden - hidden.mean(dim=0)) / hidden.std(dim=0))
    first, second = standardised
    loss = -(first.T @ second).trace() / len(first)
    for rows in standardised:
        apart = torch.eye(rows.shape[1]) - rows.T @ rows / len(rows)
        loss = loss + decorrelation * torch.linalg.matrix_norm(apart).square()
    return loss


@sparse_or_dense
@pytest.mark.parametrize(
    ("name", "activations", "decorrelation"),
    [("small", ("relu", "none"), 1e-3), ("citeseer", ("none",), 5e-4)],
)
def test_cca_ssgs_step_equals_an_independent_cca_ssg(
    name: str, activations: tuple[str, ...], decorrelation: float, sparse: bool
) -> None:
    """The last bias has no effect: standardising subtracts it."""
    graph = featured(sparse, name)
    model = model_of("cca-ssg", graph, hidden=8)
    assert model.scope == Power(0)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    assert isinstance(sample.views[0].features, SparseMatrix) == sparse
    views = augmented(sample, torch.from_numpy(scaled_features(graph, model.settings)))
    assert (views[0][0] - views[1][0]).abs().max() > 0.01
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: cca_ssg_loss(parameters, views, activations, decorrelation),
        without_effect=[f"encoder.biases.{len(activations) - 1}"],
    )


@sparse_or_dense
@pytest.mark.parametrize(
    ("name", "activations"), [("small", ("relu", "none")), ("citeseer", ("none",))]
)
def test_cca_ssg_embeds_by_its_encoder(
    name: str, activations: tuple[str, ...], sparse: bool
) -> None:
    """Without an activation at the end."""
    graph = featured(sparse, name)
    model = model_of("cca-ssg", graph, hidden=8)
    shake(model)
    hidden = convolutions(doubled(model), *a_and_x(graph, model), activations)
    assert hidden.min() < -0.1
    assert_embeds(model, graph, hidden)
