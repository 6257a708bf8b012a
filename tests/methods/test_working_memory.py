"""What a training step saves for its gradient, in arrays of N x width; no array is N x N."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ugcl import Graph, fit
from ugcl.data import sbm_graph, split_of
from ugcl.engine import Trainer
from ugcl.methods import METHODS

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


class LargestTensor(TorchDispatchMode):
    """Keeps the number of elements of the largest dense tensor that an operation returns."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor) and each.layout == torch.strided:
                self.numel = max(self.numel, each.untyped_storage().nbytes() // each.itemsize)
        return result


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].trained])
def test_no_matrix_of_all_pairs_of_nodes(name: str) -> None:
    """Neither in training nor in embedding, neither of PyTorch nor of NumPy."""
    small = {"hidden": 8, "epochs": 2, "inner": 8, "walk_length": 5, "num_walks": 1, "heads": 2}
    params = {key: value for key, value in small.items() if key in METHODS[name].params}
    sizes, peaks = (1500, 3000), []
    for num_nodes in (100, *sizes):  # the first imports modules and fills caches
        graph = sbm_graph(nodes=num_nodes, degree=4, features=16)
        graph = replace(graph, splits=split_of(graph, "per-class", 0)[0])
        tracemalloc.start()
        with LargestTensor() as largest:
            fit(name, graph, device="cpu", **params).embed(graph)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert 0 < largest.numel < num_nodes**2 / 4
    assert peaks[2] < 2.5 * peaks[1] or peaks[2] < num_nodes**2
