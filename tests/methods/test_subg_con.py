"""Subg-Con: its step and embeddings against loops over subgraphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import reference
from conftest import make_graph
from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    convolution,
    doubled,
    edges_of,
    featured,
    keep_all_entries,
    model_of,
    sample_of,
    shake,
)
from ugcl import Graph
from ugcl._utils.random import numpy_generator
from ugcl.scope import WholeGraph
from ugcl.sparse import SparseMatrix

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])


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
    again, count = numpy_generator("views", 3, 4), params.get("sample", 40)
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
