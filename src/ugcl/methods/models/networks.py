"""The supervised networks, made of PyTorch Geometric's layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ugcl._utils.extras import required
from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.typing import CSRMatrix, Device, Features
from ugcl.views import rows_to, smooth_features

Rows = SparseMatrix | Tensor

Inputs = tuple[Any, ...]
"""Features, sparse or dense, then what a network needs of the edges."""


class Network(nn.Module, ABC):
    """Base class for networks: from features and edges to hidden layer and logits."""

    @abstractmethod
    def inputs(self, adjacency: CSRMatrix, features: Features, device: Device) -> Inputs:
        """Prepare the arguments of `forward` from A and X."""

    @abstractmethod
    def forward(self, *inputs: Any) -> tuple[Rows, Tensor]:
        """Return the penultimate layer, N x D', and the logits, N x C."""

    def decayed(self) -> list[nn.Parameter]:
        """Return the parameters with weight decay; by default all."""
        return list(self.parameters())


class TwoLayerNetwork(Network):
    """Base class for MLP, GCN and GAT: `second(drop(act(first(drop(X)))))`.

    A layer of PyTorch Geometric multiplies X by its weights first. That product is taken out of the
    first layer here, so that X stays sparse, in the backward pass, too.

    Args:
        first: from X to the penultimate layer: linear, or with a linear layer `lin`.
        second: from there to the logits.
        activation: between the layers.
        dropout: fraction of inputs of each layer that is dropped in training.
    """

    def __init__(
        self, first: nn.Module, second: nn.Module, activation: nn.Module, dropout: float
    ) -> None:
        super().__init__()
        self.linear: Any = first
        self.first: nn.Module | None = None
        if hasattr(first, "lin"):
            self.linear, self.first = first.lin, first
            first.lin = nn.Identity()
        self.second, self.activation, self.dropout = second, activation, dropout

    def inputs(self, adjacency: CSRMatrix, features: Features, device: Device) -> Inputs:
        """Return the features alone."""
        return (rows_to(features, device),)

    def forward(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """Return the penultimate layer and the logits."""
        features, *edges = inputs
        rows = linear(self.linear, self._drop(features))
        if self.first is not None:
            rows = self.first(rows, *edges)
        hidden = self.activation(rows)
        return hidden, self.second(self._drop(hidden), *edges)

    def _drop(self, rows: Any) -> Any:
        if not self.training or self.dropout == 0:
            return rows
        if isinstance(rows, SparseMatrix):
            return rows.with_values(functional.dropout(rows.matrix.values(), self.dropout))
        return functional.dropout(rows, self.dropout)


class MLPNetwork(TwoLayerNetwork):
    """Two linear layers, which ignore the edges."""

    def __init__(self, features: int, hidden: int, classes: int, *, dropout: float) -> None:
        layer = required("torch_geometric.nn", "mlp").Linear
        first, second = (
            layer(*size, weight_initializer="glorot", bias_initializer="zeros")
            for size in ((features, hidden), (hidden, classes))
        )
        super().__init__(first, second, nn.ReLU(), dropout)

    def decayed(self) -> list[nn.Parameter]:
        """Return the parameters of the first layer."""
        return list(self.linear.parameters())


class GCNNetwork(TwoLayerNetwork):
    """Two graph convolutions."""

    def __init__(
        self, features: int, hidden: int, classes: int, *, dropout: float, self_loops: float
    ) -> None:
        convolution = required("torch_geometric.nn", "gcn").GCNConv
        first, second = (
            convolution(*size, normalize=False) for size in ((features, hidden), (hidden, classes))
        )
        for layer in (first, second):
            layer.propagate = _propagate
        super().__init__(first, second, nn.ReLU(), dropout)
        self.self_loops = self_loops

    def inputs(self, adjacency: CSRMatrix, features: Features, device: Device) -> Inputs:
        """Return the features and the normalised adjacency."""
        normalised = normalised_adjacency(adjacency, self.self_loops)
        matrix = SparseMatrix.from_scipy(normalised, symmetric=True, device=device)
        return *super().inputs(adjacency, features, device), matrix

    def decayed(self) -> list[nn.Parameter]:
        """Return the parameters of the first layer."""
        assert self.first is not None
        return [*self.linear.parameters(), *self.first.parameters()]


class GATNetwork(TwoLayerNetwork):
    """Two graph attention layers, which ignore edge weights."""

    def __init__(
        self,
        features: int,
        hidden: int,
        classes: int,
        *,
        dropout: float,
        heads: int,
        out_heads: int,
    ) -> None:
        attention = required("torch_geometric.nn", "gat").GATConv
        first = attention(features, hidden // heads, heads=heads, dropout=dropout)
        second = attention(hidden, classes, heads=out_heads, concat=False, dropout=dropout)
        super().__init__(first, second, nn.ELU(), dropout)

    def inputs(self, adjacency: CSRMatrix, features: Features, device: Device) -> Inputs:
        """Return the features and the edge index, in both directions."""
        edge_index = torch.from_numpy(np.stack(adjacency.tocoo().coords).astype(np.int64))
        return *super().inputs(adjacency, features, device), edge_index.to(device)


class SGCNetwork(Network):
    """One linear layer on `A^K X`, which is its penultimate layer.

    PyTorch Geometric's `SGConv` in two parts, so that the power is computed once for all epochs and
    stays sparse.
    """

    def __init__(self, features: int, classes: int, *, steps: int, self_loops: float) -> None:
        super().__init__()
        self.layer = required("torch_geometric.nn", "sgc").Linear(features, classes)
        self.steps, self.self_loops = steps, self_loops

    def inputs(self, adjacency: CSRMatrix, features: Features, device: Device) -> Inputs:
        """Return `A^K X`."""
        normalised = normalised_adjacency(adjacency, self.self_loops)
        ((_, smoothed),) = smooth_features(normalised, features, [self.steps])
        return (rows_to(smoothed, device),)

    def forward(self, *inputs: Any) -> tuple[Rows, Tensor]:
        """Return `A^K X` and the logits."""
        (smoothed,) = inputs
        return smoothed, linear(self.layer, smoothed)


def _propagate(edge_index: SparseMatrix, x: Tensor, edge_weight: None = None) -> Tensor:
    """Replace PyTorch Geometric's message passing by one sparse product."""
    return edge_index @ x


def linear(layer: Any, rows: Rows) -> Tensor:
    """Apply a linear layer to sparse or dense rows."""
    if isinstance(rows, Tensor):
        product: Tensor = layer(rows)
        return product
    product = rows @ layer.weight.T.contiguous()
    return product if layer.bias is None else product + layer.bias
