from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import GAE, VGAE

from batches import random_rows
from conftest import make_graph
from ugcl.data import sbm_graph
from ugcl.engine import fit
from ugcl.losses import Batch, PairDecoder, ReconstructionLoss
from ugcl.losses.reconstruction import sample_non_edges
from ugcl.views import undirected_edges

GRAPH = make_graph(12)
EDGES = tuple(torch.from_numpy(ends) for ends in undirected_edges(GRAPH.adjacency))


class FixedGenerator:
    """A random generator that returns given values."""

    def __init__(self, pairs: np.ndarray, noise: np.ndarray | None = None) -> None:
        self.pairs, self.noise = pairs, noise

    def integers(self, high: int, size: tuple[int, int]) -> np.ndarray:
        assert size == self.pairs.shape
        assert high == 12
        return self.pairs

    def standard_normal(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        assert self.noise is not None
        return self.noise.astype(dtype)


def random_pairs() -> np.ndarray:
    return np.random.default_rng(5).integers(12, size=(2, EDGES[0].numel()))


def slow(patch: torch.Tensor, context: torch.Tensor, pairs: np.ndarray) -> torch.Tensor:
    """The edge term pair by pair."""
    connected = GRAPH.adjacency.toarray() > 0
    edges = np.argwhere(connected)
    positive = [-torch.log(torch.sigmoid(patch[v] @ context[k])) for v, k in edges]
    non_edges = [(v, k) for v, k in pairs.T if v != k and not connected[v, k]]
    non_edges += [(k, v) for v, k in non_edges]
    negative = [-torch.log(1 - torch.sigmoid(patch[v] @ context[k])) for v, k in non_edges]
    return torch.stack(positive).mean() + torch.stack(negative).mean()


def rows(columns: int, seed: int = 0) -> torch.Tensor:
    return random_rows(1, 12, columns, seed)[0].detach()


def loss_module(variational: bool) -> ReconstructionLoss:
    autoencoder = (VGAE if variational else GAE)(torch.nn.Identity(), PairDecoder())
    return ReconstructionLoss(autoencoder, variational=variational)


def batch_of(
    patch: torch.Tensor,
    context: torch.Tensor | None,
    rng: np.random.Generator | FixedGenerator,
    edges: tuple[torch.Tensor, ...] = EDGES,
) -> Batch:
    """One view, whose contexts are its patches where `context` is None."""
    return Batch([patch], None if context is None else [context], rng, edges=edges)


@pytest.mark.parametrize("same", [True, False])
def test_the_loss_equals_the_formula_pair_by_pair(same: bool) -> None:
    patch, pairs = rows(4), random_pairs()
    context = None if same else rows(4, 1)
    loss = loss_module(variational=False)(batch_of(patch, context, FixedGenerator(pairs)))
    torch.testing.assert_close(loss, slow(patch, patch if context is None else context, pairs))


@pytest.mark.parametrize("same", [True, False])
def test_the_variational_loss_equals_the_formula_pair_by_pair(same: bool) -> None:
    patch, pairs = rows(6), random_pairs()
    context = None if same else rows(6, 1)
    noise = np.random.default_rng(1).standard_normal((12, 3)).astype(np.float32)
    loss = loss_module(variational=True)(batch_of(patch, context, FixedGenerator(pairs, noise)))
    samples = [
        view[:, :3] + torch.from_numpy(noise) * view[:, 3:].exp()
        for view in (patch, patch if context is None else context)
    ]
    mean, log_std = patch[:, :3], patch[:, 3:]
    divergence = 0.5 * (mean**2 + (2 * log_std).exp() - 1 - 2 * log_std).sum(dim=1)
    torch.testing.assert_close(loss, slow(*samples, pairs) + divergence.mean() / 12)


@pytest.mark.parametrize("variational", [False, True])
def test_patches_as_contexts_give_the_same_loss_as_equal_contexts(variational: bool) -> None:
    """The first scores each edge once, the second in both directions."""
    patch, loss = rows(6), loss_module(variational)
    noise = np.random.default_rng(1).standard_normal((12, 3)).astype(np.float32)
    values = [
        loss(batch_of(patch, context, FixedGenerator(random_pairs(), noise)))
        for context in (None, patch.clone())
    ]
    torch.testing.assert_close(*values)


@pytest.mark.parametrize("variational", [False, True])
@pytest.mark.parametrize("same", [True, False])
def test_gradients_equal_finite_differences(variational: bool, same: bool) -> None:
    module = loss_module(variational)

    def loss(patch: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        batch = batch_of(patch, None if same else context, np.random.default_rng(3))
        value: torch.Tensor = module(batch)
        return value

    assert torch.autograd.gradcheck(
        loss, (rows(4).requires_grad_(), rows(4, 1).requires_grad_(not same))
    )


def test_is_finite_where_scores_are_beyond_the_range_of_a_sigmoid() -> None:
    patch = (1e3 * rows(4)).float().requires_grad_()
    loss = loss_module(variational=False)(batch_of(patch, None, np.random.default_rng(0)))
    loss.backward()
    assert torch.isfinite(loss)
    assert patch.grad is not None
    assert torch.isfinite(patch.grad).all()
    assert patch.grad.abs().max() > 0


def test_non_edges_are_neither_edges_nor_self_loops() -> None:
    edges = torch.stack(EDGES)
    connected = GRAPH.adjacency.toarray() > 0
    for seed in range(30):
        source, target = sample_non_edges(edges, 12, np.random.default_rng(seed)).numpy()
        assert not connected[source, target].any()
        assert (source < target).all()
        assert source.size > 0.3 * edges.shape[1]


def test_a_complete_graph_has_the_loss_of_its_edges() -> None:
    full = torch.tensor([[0, 0, 1], [1, 2, 2]])
    patch = rows(2)[:3]
    batch = batch_of(patch, None, np.random.default_rng(0), tuple(full))
    loss = loss_module(variational=False)(batch)
    expected = [-torch.log(torch.sigmoid(patch[a] @ patch[b])) for a, b in full.T]
    torch.testing.assert_close(loss, torch.stack(expected).mean())


def test_the_decoder_equals_that_of_pytorch_geometric() -> None:
    edges, z = torch.stack(EDGES), rows(5)
    plain, ours = GAE(torch.nn.Identity()), GAE(torch.nn.Identity(), PairDecoder())
    for sigmoid in (True, False):
        expected = plain.decode(z, edges, sigmoid=sigmoid)
        torch.testing.assert_close(ours.decode((z, z), edges, sigmoid=sigmoid), expected)
    torch.testing.assert_close(ours.decode((z, z), edges), plain.decode(z, edges))


@pytest.mark.parametrize("name", ["gae", "vgae"])
def test_two_threads_give_the_same_bits_every_time(name: str) -> None:
    """On a graph that is large enough for PyTorch to divide its sums among threads."""
    graph = sbm_graph(nodes=3000, degree=12, features=16, seed=0)
    torch.set_num_threads(2)
    params = {"hidden": 128, "inner": 32, "epochs": 2}
    first, *others = (fit(name, graph, device="cpu", **params).embed(graph) for _ in range(4))
    for other in others:
        np.testing.assert_array_equal(first, other)
