"""UGCL from scratch: the method of the paper in plain PyTorch, to be read from top to bottom.

Zheng et al., "Unifying Graph Contrastive Learning with Flexible Contextual Scopes", ICDM 2022,
Section III. Only the data set comes from ugcl; `ugcl.UGCL("paper")` computes the same.
"""

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

import ugcl


def to_tensor(matrix: Any) -> Tensor:
    """Convert a SciPy matrix to a sparse tensor."""
    coo = sp.coo_array(matrix, dtype=np.float32)
    indices, values = torch.tensor(np.stack(coo.coords)), torch.tensor(coo.data)
    return torch.sparse_coo_tensor(indices, values, coo.shape, check_invariants=True)


def normalise(adjacency: Any) -> Tensor:
    """Return the normalised adjacency D^-1/2 (A + I) D^-1/2."""
    with_loops = adjacency + sp.eye_array(adjacency.shape[0])
    scale = sp.diags_array(1 / np.sqrt(with_loops.sum(axis=1)))
    return to_tensor(scale @ with_loops @ scale)


class GCN(nn.Module):
    """One-layer GCN, H = PReLU(A X W + b)."""

    def __init__(self, num_features: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(num_features, hidden)))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.slope = nn.Parameter(torch.tensor([0.25]))

    def forward(self, adjacency: Tensor, features: Tensor) -> Tensor:
        """Return H."""
        return nn.functional.prelu(adjacency @ (features @ self.weight) + self.bias, self.slope)


def power(adjacency: Tensor, hidden: Tensor, n: int) -> Tensor:
    """Return A^n H: each node's contextual scope, n steps wide."""
    for _ in range(n):
        hidden = adjacency @ hidden
    return hidden


def unit_rows(rows: Tensor) -> Tensor:
    """Divide each row by its norm; rows of zeros (nodes without features) stay zero."""
    norms = rows.norm(dim=1, keepdim=True)
    return rows / torch.where(norms > 0, norms, 1)


def contrast(patch: Tensor, context: Tensor) -> Tensor:
    """Return the loss, Equation 5: nodes are close to their context, far from other nodes."""
    patch, context = unit_rows(patch), unit_rows(context)
    itself = torch.eye(patch.shape[0], dtype=torch.bool)
    others = (patch @ patch.T).masked_fill(itself, -torch.inf)
    return (others.logsumexp(dim=1) - (patch * context).sum(dim=1)).mean()


def train(
    graph: ugcl.Graph, primary: GCN, auxiliary: GCN, n: int, samples: Iterable[Any], lr: float
) -> Iterator[float]:
    """Train both encoders, one step for each sample of nodes; yield the losses."""
    optimizer = torch.optim.Adam([*primary.parameters(), *auxiliary.parameters()], lr=lr)
    for nodes in samples:
        adjacency = normalise(graph.adjacency[nodes][:, nodes])
        features = to_tensor(graph.features[nodes])
        context = power(adjacency, auxiliary(adjacency, features), n)
        loss = contrast(primary(adjacency, features), context)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield loss.item()


@torch.no_grad()
def embed(graph: ugcl.Graph, primary: GCN, n: int) -> Tensor:
    """Return the embeddings of all nodes, H + A^n H."""
    adjacency = normalise(graph.adjacency)
    hidden: Tensor = primary(adjacency, to_tensor(graph.features))
    return hidden + power(adjacency, hidden, n)


def probe(embeddings: Tensor, labels: Tensor, nodes: Tensor) -> Tensor:
    """Train a linear classifier on some nodes; return its predictions for all."""
    classifier = nn.Linear(embeddings.shape[1], int(labels.max()) + 1)
    optimizer = torch.optim.Adam(classifier.parameters(), lr=0.01, weight_decay=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(classifier(embeddings[nodes]), labels[nodes])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return torch.as_tensor(classifier(embeddings).argmax(dim=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=50)
    epochs = parser.parse_args().epochs
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    graph = ugcl.load_graph("citeseer")
    samples = (rng.choice(graph.num_nodes, 1500, replace=False) for _ in range(epochs))
    primary, auxiliary = (GCN(graph.num_features, hidden=512) for _ in range(2))
    for epoch, loss in enumerate(train(graph, primary, auxiliary, 2, samples, lr=0.0005), 1):
        print(f"epoch {epoch}: loss {loss:.4f}")
    labels = torch.tensor(graph.labels)
    training, test = (torch.tensor(graph.splits[part]) for part in ("train", "test"))
    correct = probe(embed(graph, primary, n=2), labels, training) == labels
    print(f"accuracy {100 * correct[test].float().mean():.1f} % on the test nodes")
