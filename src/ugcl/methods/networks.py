"""The supervised networks, of PyTorch Geometric's layers."""

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
from ugcl.views import rows_on, smoothed

Rows = SparseMatrix | Tensor

Inputs = tuple[Any, ...]
"""Features, sparse or dense, and after them what a network sees of the edges."""


class Network(nn.Module, ABC):
    """From features and edges to the penultimate layer and a score for each class."""

    @abstractmethod
    def inputs(self, adjacency: Any, features: Any, device: torch.device | str) -> Inputs:
        """What of A and X, SciPy or NumPy, the network sees."""

    @abstractmethod
    def forward(self, *inputs: Any) -> tuple[Rows, Tensor]:
        """The penultimate layer, N x D', and the scores, N x C."""

    def decayed(self) -> list[nn.Parameter]:
        """The parameters whose weights decay: by default all."""
        return list(self.parameters())


class TwoLayers(Network):
    """`second(drop(act(first(drop(X)))))`: the two layers of MLP, GCN and GAT.

    A layer of PyTorch Geometric multiplies X by its weights first. Here that product is taken out
    of the first layer, so that X stays sparse, backwards too.

    Args:
        first: from X to the penultimate layer: linear, or with a linear layer `lin` in it.
        second: from there to the scores.
        activation: in between.
        dropout: the share of inputs of each layer that is dropped in training.
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

    def inputs(self, adjacency: Any, features: Any, device: torch.device | str) -> Inputs:
        """Features alone."""
        del adjacency
        return (rows_on(features, device),)

    def forward(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """The penultimate layer and the scores."""
        features, *edges = inputs
        rows = linear(self.linear, self._dropped(features))
        if self.first is not None:
            rows = self.first(rows, *edges)
        hidden = self.activation(rows)
        return hidden, self.second(self._dropped(hidden), *edges)

    def _dropped(self, rows: Any) -> Any:
        if not self.training or self.dropout == 0:
            return rows
        if isinstance(rows, SparseMatrix):
            return rows.with_values(functional.dropout(rows.matrix.values(), self.dropout))
        return functional.dropout(rows, self.dropout)


class MLP(TwoLayers):
    """Two linear layers: features without edges."""

    def __init__(self, features: int, hidden: int, classes: int, *, dropout: float) -> None:
        layer = required("torch_geometric.nn", "mlp").Linear
        first, second = (
            layer(*size, weight_initializer="glorot", bias_initializer="zeros")
            for size in ((features, hidden), (hidden, classes))
        )
        super().__init__(first, second, nn.ReLU(), dropout)

    def decayed(self) -> list[nn.Parameter]:
        """The first layer's."""
        return list(self.linear.parameters())


class GCN(TwoLayers):
    """Two graph convolutions."""

    def __init__(
        self, features: int, hidden: int, classes: int, *, dropout: float, self_loops: float
    ) -> None:
        convolution = required("torch_geometric.nn", "gcn").GCNConv
        first, second = (
            convolution(*size, normalize=False) for size in ((features, hidden), (hidden, classes))
        )
        for layer in (first, second):
            layer.propagate = _product
        super().__init__(first, second, nn.ReLU(), dropout)
        self.self_loops = self_loops

    def inputs(self, adjacency: Any, features: Any, device: torch.device | str) -> Inputs:
        """Features and the normalised adjacency, once for all epochs."""
        normalised = normalised_adjacency(adjacency, self.self_loops)
        product = SparseMatrix.from_scipy(normalised, symmetric=True, device=device)
        return *super().inputs(adjacency, features, device), product

    def decayed(self) -> list[nn.Parameter]:
        """The first layer's."""
        assert self.first is not None
        return [*self.linear.parameters(), *self.first.parameters()]


class GAT(TwoLayers):
    """Two layers of attention over neighbours; edge weights do not count."""

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

    def inputs(self, adjacency: Any, features: Any, device: torch.device | str) -> Inputs:
        """Features and the two ends of each edge, in both directions."""
        ends = torch.from_numpy(np.stack(adjacency.tocoo().coords).astype(np.int64))
        return *super().inputs(adjacency, features, device), ends.to(device)


class SGC(Network):
    """One linear layer on `A^K X`, which is its penultimate layer.

    PyTorch Geometric's `SGConv` in two parts, so that the powers are taken once for all epochs and
    stay sparse where they are.
    """

    def __init__(self, features: int, classes: int, *, steps: int, self_loops: float) -> None:
        super().__init__()
        self.layer = required("torch_geometric.nn", "sgc").Linear(features, classes)
        self.steps, self.self_loops = steps, self_loops

    def inputs(self, adjacency: Any, features: Any, device: torch.device | str) -> Inputs:
        """`A^K X`."""
        normalised = normalised_adjacency(adjacency, self.self_loops)
        ((_, powers),) = smoothed(normalised, features, [self.steps])
        return (rows_on(powers, device),)

    def forward(self, *inputs: Any) -> tuple[Rows, Tensor]:
        """`A^K X` and the scores."""
        (powers,) = inputs
        return powers, linear(self.layer, powers)


def _product(edge_index: SparseMatrix, x: Tensor, edge_weight: None = None) -> Tensor:
    """What a convolution of PyTorch Geometric propagates, as one product, backwards too."""
    del edge_weight
    return edge_index @ x


def linear(layer: Any, rows: Rows) -> Tensor:
    """A linear layer of rows, sparse or dense."""
    if isinstance(rows, Tensor):
        product: Tensor = layer(rows)
        return product
    product = rows @ layer.weight.T.contiguous()
    return product if layer.bias is None else product + layer.bias
