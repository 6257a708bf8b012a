"""DGI against an independent dense version."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

import reference
from conftest import make_graph
from steps import (
    assert_equals_an_independent_step,
    bound_views,
    connected,
    convolution,
    model_of,
    recorded,
    scaled_features,
    settings_of,
)
from ugcl import Graph
from ugcl._utils.random import numpy_generator
from ugcl.scope import Component


def dgi_loss(
    parameters: dict[str, torch.Tensor],
    a: torch.Tensor,
    x: torch.Tensor,
    shuffled: torch.Tensor,
    summary_of: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """DGI as in the authors' code: a convolution, a readout, logits of real and shuffled nodes."""
    real, fake = (convolution(parameters, a, features) for features in (x, shuffled))
    summary = torch.sigmoid(summary_of(real))
    weight, bias = parameters["loss.weight"], parameters["loss.bias"]
    logits = torch.cat([((h @ weight) * summary).sum(dim=1) + bias for h in (real, fake)])
    labels = torch.cat([torch.ones(len(x)), torch.zeros(len(x))]).double()
    return functional.binary_cross_entropy_with_logits(logits, labels)


def mean_pooling(hidden: torch.Tensor) -> torch.Tensor:
    return hidden.mean(dim=0)


def assert_equals_dgi(
    graph: Graph, scope: str, summary_of: Callable[[torch.Tensor], torch.Tensor]
) -> float:
    """Compare the step with an independent DGI and return the loss."""
    model = model_of("dgi", graph, hidden=8, scope=scope, feature_scaling="none")
    with torch.no_grad():  # at the start the discriminator hardly sees the summary
        model.loss.weight.mul_(5)
    views = bound_views(model, graph)
    x = scaled_features(graph, model.settings)
    order = numpy_generator("views", 3, 2).permutation(graph.num_nodes)
    a = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    dense_parts = [torch.from_numpy(part) for part in (a, x, x[order])]
    rng = model.rng(2)
    loss = model.step_loss(views.sample(rng), rng)
    assert_equals_an_independent_step(
        model, loss, lambda parameters: dgi_loss(parameters, *dense_parts, summary_of)
    )
    return loss.item()


@pytest.mark.parametrize("sparse", [True, False])
def test_equation_9_dgis_step_equals_an_independent_dgi(sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    assert settings_of("dgi", graph).scope == "graph"
    assert_equals_dgi(graph, "graph", mean_pooling)


@pytest.mark.parametrize("regular", [True, False])
def test_equation_9_the_infinite_power_weighs_nodes_by_square_roots_of_degrees(
    regular: bool,
) -> None:
    graph = connected(regular)
    settings = settings_of("dgi", graph, hidden=6, scope="component")
    _, sample, recorder = recorded("dgi", graph, settings)
    ((patch, context),) = recorder.pairs
    hidden, mean = patch.double().numpy(), patch.double().numpy().mean(axis=0)
    degree = graph.adjacency.toarray().astype(float).sum(axis=1) + 1
    root = np.sqrt(degree)
    expected = np.outer(root, root @ hidden / degree.sum())
    np.testing.assert_allclose(context, expected, atol=1e-6)
    a = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    np.testing.assert_allclose(context, np.linalg.matrix_power(a, 10_000) @ hidden, atol=1e-6)
    apart = np.abs(context.numpy() - mean).max() / np.abs(mean).max()
    assert apart < 1e-5 if regular else apart > 0.3
    # Without the square roots on either side nothing but mean pooling is left.
    roots = torch.from_numpy(root).float()[:, None]
    (view,) = sample.views
    undone = Component().on(view.propagation)(patch / roots) / roots * degree.mean()
    np.testing.assert_allclose(undone, np.tile(mean, (24, 1)), atol=1e-6)


def test_equation_9_on_a_regular_connected_graph_the_component_is_mean_pooling() -> None:
    graph = connected(regular=True)
    of_component = assert_equals_dgi(graph, "component", mean_pooling)
    assert of_component == pytest.approx(assert_equals_dgi(graph, "graph", mean_pooling), abs=1e-6)


def test_equation_9_on_another_connected_graph_it_is_pooling_by_square_roots_of_degrees() -> None:
    graph = connected(regular=False)
    root = torch.from_numpy(np.sqrt(graph.adjacency.toarray().sum(axis=1).astype(float) + 1))

    def pooled(hidden: torch.Tensor) -> torch.Tensor:
        return torch.outer(root, root @ hidden / (root**2).sum())

    of_component = assert_equals_dgi(graph, "component", pooled)
    assert abs(of_component - assert_equals_dgi(graph, "graph", mean_pooling)) > 1e-4
