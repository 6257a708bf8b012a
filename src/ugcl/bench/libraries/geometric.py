"""PyTorch Geometric: Deep Graph Infomax, with the settings of its example.

Veličković, Fedus, Hamilton, Liò, Bengio and Hjelm, Deep Graph Infomax (2019). The settings are
those of `examples/infomax_transductive.py`; the adjacency is a CSR tensor, which on a CPU is faster
and smaller than messages along edges. Its `Node2Vec` needs compiled extensions and is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ugcl._utils.linalg import dense_rows
from ugcl._utils.random import seed_of
from ugcl.bench.libraries.peer import Peer, Run
from ugcl.graph import Graph
from ugcl.typing import Embeddings

HIDDEN, EPOCHS, LR = 512, 300, 0.001


def prepare(graph: Graph, run: Run) -> tuple[Any, Any]:
    """Return X, dense, and A as a CSR tensor."""
    import torch

    a = graph.adjacency
    starts, columns, values = (
        torch.from_numpy(np.array(part)) for part in (a.indptr, a.indices, a.data)
    )
    features = torch.from_numpy(np.array(dense_rows(graph.features), dtype=np.float32))
    return features, torch.sparse_csr_tensor(starts, columns, values, a.shape)


def embed(data: Any, run: Run) -> Embeddings:
    """Train DGI and return the output of its encoder."""
    import torch
    from torch_geometric.nn import DeepGraphInfomax, GCNConv, Sequential

    features, adjacency = data
    torch.manual_seed(seed_of("bench", run.seed))
    convolution = GCNConv(features.shape[1], HIDDEN, cached=True)
    encoder = Sequential("x, a", [(convolution, "x, a -> x"), torch.nn.PReLU(HIDDEN)])
    model = DeepGraphInfomax(
        HIDDEN,
        encoder=encoder,
        summary=lambda z, *_, **__: z.mean(dim=0).sigmoid(),
        corruption=lambda x, a: (x[torch.randperm(x.shape[0])], a),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    for _ in range(1 if run.brief else EPOCHS):
        optimizer.zero_grad()
        model.loss(*model(features, adjacency)).backward()
        optimizer.step()
    with torch.no_grad():
        rows: Embeddings = encoder(features, adjacency).numpy()
    return rows


PEERS = (
    Peer(
        name="pyg-dgi",
        package="torch-geometric",
        module="torch_geometric",
        about=f"its example of DGI: {EPOCHS} epochs, {HIDDEN} columns",
        prepare=prepare,
        embed=embed,
    ),
)
