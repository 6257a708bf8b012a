"""Small graphs and dense copies, for tests of views and encoders."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from conftest import make_graph
from ugcl import Graph
from ugcl.sparse import SparseMatrix


def dense(matrix: SparseMatrix) -> np.ndarray:
    """A dense copy in float64."""
    array: np.ndarray = matrix.matrix.to_dense().double().numpy()
    return array


def dense_features(graph: Graph) -> np.ndarray:
    """X, dense in float64."""
    x = graph.features
    array: np.ndarray = (x.toarray() if sp.issparse(x) else x).astype(float)
    return array


def graph_of(sparse: bool) -> Graph:
    """A graph of 30 nodes with 12 features, so few of them that X stays sparse, or dense."""
    graph: Graph = make_graph(30, sparse=sparse)
    if not sparse:
        return graph
    kept = np.random.default_rng(1).random((30, 12)) < 0.2
    return Graph(graph.adjacency, sp.csr_array(graph.features.toarray() * kept))


def random_hidden(size: int, width: int = 5) -> torch.Tensor:
    """Random representations."""
    return torch.randn(size, width, generator=torch.Generator().manual_seed(0))
