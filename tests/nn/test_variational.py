from __future__ import annotations

import numpy as np
import torch

from ugcl.nn import VariationalGCN
from ugcl.scope import normalised_adjacency
from ugcl.views import View
from view_helpers import dense_features, graph_of


def test_equals_the_dense_formula_in_training_and_in_evaluation() -> None:
    """A ReLU layer, then linear layers for means and log standard deviations."""
    graph = graph_of(sparse=True)
    adjacency = normalised_adjacency(graph.adjacency)
    view = View.of(adjacency, graph.features)
    encoder = VariationalGCN(12, (6, 4), torch.Generator().manual_seed(0))
    with torch.no_grad():
        for bias in encoder.layers.biases:
            bias.normal_(generator=torch.Generator().manual_seed(1))
    a = adjacency.toarray().astype(float)
    first, second = (weight.detach().double().numpy() for weight in encoder.layers.weights)
    bias, shift = (value.detach().double().numpy() for value in encoder.layers.biases)
    hidden = np.maximum(a @ dense_features(graph) @ first + bias, 0)
    expected = a @ hidden @ second + shift
    assert encoder.width == 4
    assert expected.shape == (30, 8)
    np.testing.assert_allclose(encoder.train()(view).detach(), expected, atol=1e-5)
    np.testing.assert_allclose(encoder.eval()(view).detach(), expected[:, :4], atol=1e-5)


def test_both_halves_of_the_last_layer_are_initialised_as_layers_of_their_own() -> None:
    encoder = VariationalGCN(40, (30, 20), torch.Generator().manual_seed(0))
    bound = (6 / 50) ** 0.5
    means, log_stds = encoder.layers.weights[-1].detach().chunk(2, dim=1)
    for half in (means, log_stds):
        assert half.shape == (30, 20)
        assert 0.95 * bound < half.abs().max().item() <= bound
    assert not torch.equal(means, log_stds)
