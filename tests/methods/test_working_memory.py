"""What a training step saves for its gradient, in arrays of N x width."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ugcl import Graph
from ugcl.engine import Trainer

WIDTH = 64


def wide_graph(dense: bool) -> Graph:
    """A cycle of 300 nodes with few features, most of them zero unless X is dense."""
    rng, nodes = np.random.default_rng(0), np.arange(300)
    features = rng.random((300, 9)) * (dense | (rng.random((300, 9)) < 0.1))
    return Graph.from_edges(np.stack([nodes, (nodes + 1) % 300], axis=1), features)


def saved_arrays(method: str, graph: Graph, **params: Any) -> float:
    """Memory that the gradients of a step need, without parameters, in arrays of N x width."""
    trainer = Trainer(method, graph, preset="paper", device="cpu", hidden=WIDTH, **params)
    storages: dict[int, int] = {}
    own = {value.untyped_storage().data_ptr() for value in trainer.model.parameters()}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if tensor.shape[:1] == (graph.num_nodes,) and storage.data_ptr() not in own:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    loss_fn = trainer.setup()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss_fn(0).backward()  # type: ignore[no-untyped-call]
    return sum(storages.values()) / (4 * graph.num_nodes * WIDTH)


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    ("method", "arrays"),
    [
        ("dgi", 2),  # H of the graph and of the corrupted graph
        ("cca-ssg", 4),  # for each view the first layer and the standardised columns
    ],
)
def test_saved_arrays(method: str, arrays: int, dense: bool) -> None:
    narrow = 0.5  # scores, signs and the 9 columns of a dense X
    assert arrays <= saved_arrays(method, wide_graph(dense)) <= arrays + narrow
