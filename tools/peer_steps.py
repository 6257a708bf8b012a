"""Training steps of other implementations of DGI and CCA-SSG, to compare their memory with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from ugcl._utils.linalg import dense_rows
from ugcl.graph import Graph

Inputs = tuple[Tensor, Tensor]
"""Dense X and the adjacency as a sparse CSR tensor."""

Step = tuple[nn.Module, Callable[[], Tensor]]
"""The model and its loss function."""


def inputs_of(graph: Graph) -> Inputs:
    """Return what a peer has loaded before it trains."""
    features = np.array(dense_rows(graph.features), dtype=np.float32)
    return torch.from_numpy(features), _csr(graph.adjacency)


def dgi(inputs: Inputs, hidden: int) -> Step:
    """DGI of PyTorch Geometric, as in its example `infomax_transductive.py`, with CSR adjacency.

    Like ours, it keeps the normalised adjacency.
    """
    from torch_geometric.nn import DeepGraphInfomax, GCNConv, Sequential

    features, adjacency = inputs
    convolution = GCNConv(features.shape[1], hidden, cached=True)
    model = DeepGraphInfomax(
        hidden,
        encoder=Sequential("x, a", [(convolution, "x, a -> x"), nn.PReLU(hidden)]),
        summary=lambda z, *_, **__: z.mean(dim=0).sigmoid(),
        corruption=lambda x, a: (x[torch.randperm(x.shape[0])], a),
    )
    return model, lambda: model.loss(*model(features, adjacency))


def cca_ssg(
    inputs: Inputs, hidden: int, *, drop: float = 0.3, mask: float = 0.2, weight: float = 1e-3
) -> Step:
    """CCA-SSG as in the authors' code, with the buffers of DGL's `GraphConv` in plain PyTorch.

    Each view has a masked copy of X and a graph without the dropped edges, by rows and by columns.
    DGL's 64-bit indices and lists of edges are left out: this is a lower bound of its memory.
    """
    features, adjacency = inputs
    size = features.shape[0]
    columns = adjacency.col_indices().long()
    rows = torch.repeat_interleave(torch.arange(size), adjacency.crow_indices().diff())
    model = nn.ModuleList([_Conv(features.shape[1], hidden), _Conv(hidden, hidden)])

    def standardised_view() -> Tensor:
        kept, loops = torch.rand(rows.numel()) >= drop, torch.arange(size)
        source, target = (torch.cat([ends[kept], loops]).numpy() for ends in (rows, columns))
        ones = np.ones(source.size, np.float32)
        matrix = sp.csr_array((ones, (target, source)), shape=(size, size))
        scales = [
            torch.bincount(torch.from_numpy(ends), minlength=size)[:, None] ** -0.5
            for ends in (source, target)
        ]
        view = _csr(matrix), _csr(matrix.T.tocsr()), *scales
        masked = features.clone()
        masked[:, torch.rand(features.shape[1]) < mask] = 0
        h: Tensor = model[1](view, functional.relu(model[0](view, masked)))
        return (h - h.mean(0)) / h.std(0)

    def loss() -> Tensor:
        z1, z2 = standardised_view(), standardised_view()
        c, c1, c2 = z1.T @ z2 / size, z1.T @ z1 / size, z2.T @ z2 / size
        identity = torch.eye(hidden)
        redundancy = (identity - c1).pow(2).sum() + (identity - c2).pow(2).sum()
        return -torch.diagonal(c).sum() + weight * redundancy

    return model, loss


class _Conv(nn.Module):
    """`GraphConv` of DGL with `norm="both"`: the narrower of X and `X W` is propagated."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, out)))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, view: tuple[Tensor, ...], rows: Tensor) -> Tensor:
        matrix, transpose, of_source, of_target = view
        rows = rows * of_source
        first = self.weight.shape[0] > self.weight.shape[1]
        product: Tensor = _Propagate.apply(  # type: ignore[no-untyped-call]
            matrix, transpose, rows @ self.weight if first else rows
        )
        product = product if first else product @ self.weight
        return product * of_target + self.bias


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, rows: Tensor) -> Tensor:
        ctx.transpose = transpose
        return _multiply(matrix, rows)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        needed = ctx.needs_input_grad[2]
        return None, None, _multiply(ctx.transpose, grads[0]) if needed else None


def _multiply(matrix: Tensor, rows: Tensor) -> Tensor:
    out = rows.new_empty(matrix.shape[0], rows.shape[1])
    return torch.addmm(out, matrix, rows, beta=0, out=out)


def _csr(matrix: Any) -> Tensor:
    starts, columns = (
        torch.from_numpy(part.astype(np.int32)) for part in (matrix.indptr, matrix.indices)
    )
    values = torch.from_numpy(matrix.data.copy())
    return torch.sparse_csr_tensor(
        starts, columns, values, size=matrix.shape, check_invariants=False
    )


PEERS: dict[str, tuple[str, Callable[[Inputs, int], Step]]] = {
    "dgi": ("PyTorch Geometric, CSR", dgi),
    "cca-ssg": ("DGL's buffers in PyTorch", cca_ssg),
}
"""The peer of each method: its name, and its training step."""
