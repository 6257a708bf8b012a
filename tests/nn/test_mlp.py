from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from steps import shake
from ugcl.nn import MLP
from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views import View, rows_view
from view_helpers import dense_features, graph_of

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])
any_widths = pytest.mark.parametrize("widths", [(5,), (7, 5), (7, 6, 5)])


def encoder_of(widths: tuple[int, ...], *, activation: bool = True) -> MLP:
    """An encoder whose parameters are all random, also biases and slopes."""
    encoder = MLP(12, widths, torch.Generator().manual_seed(0), activation=activation)
    shake(encoder)
    return encoder


def torch_layers(encoder: MLP) -> nn.Sequential:
    """The same encoder made of PyTorch's own layers, in float64."""
    layers: list[nn.Module] = []
    for index, (weight, bias) in enumerate(zip(encoder.weights, encoder.biases, strict=True)):
        linear = nn.Linear(*weight.shape)
        linear.load_state_dict({"weight": weight.T, "bias": bias})
        layers.append(linear)
        if index < len(encoder.norms):
            norm = nn.LayerNorm(weight.shape[1])
            norm.load_state_dict(encoder.norms[index].state_dict())
            layers.append(norm)
        if len(encoder.slopes):
            activation = nn.PReLU()
            activation.load_state_dict({"weight": encoder.slopes[index]})
            layers.append(activation)
    return nn.Sequential(*layers).double()


@sparse_or_dense
@any_widths
@pytest.mark.parametrize("activation", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_equals_layers_of_pytorch(
    widths: tuple[int, ...], sparse: bool, activation: bool, masked: bool
) -> None:
    graph, encoder = graph_of(sparse), encoder_of(widths, activation=activation)
    mask = torch.linspace(0, 2, 12) if masked else None
    view = replace(rows_view(graph.features, "cpu"), feature_mask=mask)
    assert isinstance(view.features, SparseMatrix) == sparse
    x = torch.from_numpy(dense_features(graph))
    expected = torch_layers(encoder)(x if mask is None else x * mask.double())
    hidden = encoder(view)
    assert hidden.shape == (30, encoder.width) == (30, 5)
    torch.testing.assert_close(hidden.double(), expected, atol=1e-5, rtol=1e-5)


@sparse_or_dense
@any_widths
def test_gradients_equal_those_of_layers_of_pytorch(widths: tuple[int, ...], sparse: bool) -> None:
    graph, encoder = graph_of(sparse), encoder_of(widths)
    layers, mask = torch_layers(encoder), torch.linspace(0, 2, 12)
    upstream = torch.randn(30, 5, generator=torch.Generator().manual_seed(1))
    view = replace(rows_view(graph.features, "cpu"), feature_mask=mask)
    (encoder(view) * upstream).sum().backward()
    x = torch.from_numpy(dense_features(graph)) * mask.double()
    (layers(x) * upstream.double()).sum().backward()
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    slopes = [layer for layer in layers if isinstance(layer, nn.PReLU)]
    expected = [layer.weight.grad.T for layer in linear]
    expected += [layer.bias.grad for layer in linear]
    expected += [layer.weight.grad for layer in slopes]
    parameters = [*encoder.weights, *encoder.biases, *encoder.slopes]
    for ours, theirs in zip(parameters, expected, strict=True):
        assert ours.grad is not None
        assert theirs.abs().max() > 1e-3
        torch.testing.assert_close(ours.grad.double(), theirs, atol=1e-4, rtol=1e-4)


@sparse_or_dense
@any_widths
def test_does_not_depend_on_edges(widths: tuple[int, ...], sparse: bool) -> None:
    graph, encoder = graph_of(sparse), encoder_of(widths)
    adjacency = normalised_adjacency(graph.adjacency)
    with_edges = View.of(adjacency, graph.features, keep_features=True)
    torch.testing.assert_close(
        encoder(with_edges), encoder(rows_view(graph.features, "cpu")), rtol=0, atol=0
    )


@sparse_or_dense
@any_widths
def test_each_node_is_encoded_alone(widths: tuple[int, ...], sparse: bool) -> None:
    """Nodes that arrive later have the rows that they would have had in the graph."""
    graph, encoder = graph_of(sparse), encoder_of(widths)
    nodes = np.array([17, 3, 3, 29])
    together = encoder(rows_view(graph.features, "cpu"))[nodes]
    torch.testing.assert_close(encoder(rows_view(graph.features[nodes], "cpu")), together)


def test_a_masked_feature_has_no_effect() -> None:
    graph, encoder = graph_of(False), encoder_of((7, 5))
    mask = torch.ones(12)
    mask[3] = 0
    view = replace(rows_view(graph.features, "cpu"), feature_mask=mask)
    changed = np.array(graph.features)
    changed[:, 3] += 100
    other = replace(view, features=torch.from_numpy(changed))
    torch.testing.assert_close(encoder(view), encoder(other), rtol=0, atol=0)
    assert (encoder(replace(other, feature_mask=None)) - encoder(view)).abs().max() > 1


def test_is_initialised_with_xavier_weights() -> None:
    encoder = MLP(40, (30, 20), torch.Generator().manual_seed(0))
    for weight, bound in zip(encoder.weights, ((6 / 70) ** 0.5, (6 / 50) ** 0.5), strict=True):
        assert 0.95 * bound < weight.abs().max().item() <= bound
    assert all(bias.abs().max() == 0 for bias in encoder.biases)
    assert [slope.item() for slope in encoder.slopes] == [0.25, 0.25]
    again = MLP(40, (30, 20), torch.Generator().manual_seed(0))
    torch.testing.assert_close(again.state_dict(), encoder.state_dict(), rtol=0, atol=0)


def test_without_activation_one_layer_is_linear() -> None:
    encoder = encoder_of((5,), activation=False)
    assert [name for name, _ in encoder.named_parameters()] == ["weights.0", "biases.0"]
    generator = np.random.default_rng(0)
    one, two = (generator.standard_normal((4, 12)).astype(np.float32) for _ in range(2))
    hidden = [encoder(rows_view(rows, "cpu")) for rows in (one, two, one + two, 0 * one)]
    torch.testing.assert_close(hidden[0] + hidden[1], hidden[2] + hidden[3])


def test_nodes_without_features_have_the_row_of_zeros() -> None:
    encoder = encoder_of((5,))
    empty = sp.csr_array((3, 12), dtype=np.float32)
    expected = nn.functional.prelu(encoder.biases[0], encoder.slopes[0])
    torch.testing.assert_close(encoder(rows_view(empty, "cpu")), expected.expand(3, 5))
