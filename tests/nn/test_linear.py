from __future__ import annotations

import numpy as np
import pytest
import torch

from ugcl.nn import LinearEncoder
from ugcl.scope import Power, normalised_adjacency
from ugcl.views import View
from view_helpers import dense_features, graph_of


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_contexts_are_powers_of_the_adjacency_times_the_mapped_features(
    n: int, sparse: bool
) -> None:
    graph = graph_of(sparse)
    adjacency = normalised_adjacency(graph.adjacency)
    view = View.of(adjacency, graph.features, keep_features=True)
    encoder = LinearEncoder(12, 4, torch.Generator().manual_seed(0))
    mapped = dense_features(graph) @ encoder.weight.detach().numpy()
    power = np.linalg.matrix_power(adjacency.toarray().astype(float), n)
    np.testing.assert_allclose(encoder(view).detach(), mapped, atol=1e-5)
    np.testing.assert_allclose(encoder.context(view, Power(n)).detach(), power @ mapped, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_the_gradient_is_that_of_the_formula(sparse: bool) -> None:
    graph = graph_of(sparse)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features, keep_features=True)
    encoder = LinearEncoder(12, 4, torch.Generator().manual_seed(0))
    upstream = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    (gradient,) = torch.autograd.grad(encoder(view), encoder.weight, upstream)
    expected = dense_features(graph).T @ upstream.numpy()
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_is_initialised_with_xavier_weights() -> None:
    encoder = LinearEncoder(40, 30, torch.Generator().manual_seed(0))
    bound = (6 / 70) ** 0.5
    assert encoder.width == 30
    assert 0.95 * bound < encoder.weight.abs().max().item() <= bound
    assert [name for name, _ in encoder.named_parameters()] == ["weight"]
