"""The networks of supervised methods against PyTorch Geometric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn.functional import elu, relu
from torch_geometric.nn import GATConv, GCNConv, SGConv

from conftest import make_graph
from ugcl import Graph
from ugcl.methods.models import networks as nets

GRAPH = make_graph(40)

DENSE = torch.from_numpy(GRAPH.features.toarray())

ENDS = torch.from_numpy(np.stack(GRAPH.adjacency.tocoo().coords).astype(np.int64))


def outputs(network: nets.Network) -> tuple[Any, torch.Tensor]:
    network.eval()
    return network(*network.inputs(GRAPH.adjacency, GRAPH.features, "cpu"))


def test_the_mlp_is_two_linear_layers() -> None:
    network = nets.MLPNetwork(12, 5, 3, dropout=0.5)
    hidden, scores = outputs(network)
    expected = relu(DENSE @ network.linear.weight.T + network.linear.bias)
    torch.testing.assert_close(hidden, expected)
    torch.testing.assert_close(scores, network.second(expected))


def test_the_gcn_is_two_convolutions_of_pytorch_geometric() -> None:
    network = nets.GCNNetwork(12, 5, 3, dropout=0.5, self_loops=1.0)
    first, second = GCNConv(12, 5), GCNConv(5, 3)
    first.load_state_dict(
        {"lin.weight": network.linear.weight, "bias": network.first.bias}  # type: ignore[union-attr]
    )
    second.load_state_dict(network.second.state_dict())
    hidden, scores = outputs(network)
    expected = relu(first(DENSE, ENDS))
    torch.testing.assert_close(hidden, expected)
    torch.testing.assert_close(scores, second(expected, ENDS))


def test_the_gcn_sees_edge_weights_as_pytorch_geometric_does() -> None:
    scale = sp.diags_array(np.linspace(0.2, 3, 40))
    graph = Graph(scale @ GRAPH.adjacency @ scale, GRAPH.features)
    network = nets.GCNNetwork(12, 5, 3, dropout=0.5, self_loops=1.0)
    first = GCNConv(12, 5)
    first.load_state_dict(
        {"lin.weight": network.linear.weight, "bias": network.first.bias}  # type: ignore[union-attr]
    )
    hidden, _ = network.eval()(*network.inputs(graph.adjacency, graph.features, "cpu"))
    weights = torch.from_numpy(graph.adjacency.tocoo().data.copy())
    torch.testing.assert_close(hidden, relu(first(DENSE, ENDS, weights)))


def test_the_gat_is_two_layers_of_attention_of_pytorch_geometric() -> None:
    network = nets.GATNetwork(12, 6, 3, dropout=0.6, heads=2, out_heads=4)
    first = GATConv(12, 3, heads=2)
    second = GATConv(6, 3, heads=4, concat=False)
    state = network.first.state_dict()  # type: ignore[union-attr]
    first.load_state_dict({**state, "lin.weight": network.linear.weight})
    second.load_state_dict(network.second.state_dict())
    hidden, scores = outputs(network)
    expected = elu(first(DENSE, ENDS))
    torch.testing.assert_close(hidden, expected)
    torch.testing.assert_close(scores, second(expected, ENDS))


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_sgc_is_the_layer_of_pytorch_geometric(steps: int) -> None:
    network = nets.SGCNetwork(12, 3, steps=steps, self_loops=1.0)
    layer = SGConv(12, 3, K=steps)
    layer.lin.load_state_dict(network.layer.state_dict())
    _, scores = outputs(network)
    torch.testing.assert_close(scores, layer(DENSE, ENDS))


@pytest.mark.parametrize("kind", [sp.csr_array, np.array])
def test_dropout_drops_its_fraction_and_keeps_the_mean(kind: type) -> None:
    network = nets.MLPNetwork(50, 5, 3, dropout=0.4).train()
    features = np.ones((200, 50), dtype=np.float32)
    (rows,) = network.inputs(None, kind(features), "cpu")
    torch.manual_seed(0)
    dropped = network._drop(rows)
    dense = torch.from_numpy(
        dropped.to_scipy().toarray() if kind is sp.csr_array else dropped.numpy()
    )
    assert (dense == 0).float().mean() == pytest.approx(0.4, abs=0.02)
    assert dense.mean() == pytest.approx(1, abs=0.05)
    if kind is sp.csr_array:
        torch.testing.assert_close(dropped.transpose.to_dense(), dense.T)
