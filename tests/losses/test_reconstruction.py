from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric.nn import GAE, VGAE
from ugcl.objectives import PairDecoder, Reconstruction
from ugcl.objectives.reconstruction import random_apart

from conftest import make_graph
from ugcl import Embedder
from ugcl.data import sbm_graph
from ugcl.views import edge_ends

GRAPH = make_graph(12)
EDGES = tuple(torch.from_numpy(ends) for ends in edge_ends(GRAPH.adjacency))


class Drawn:
    """A source of randomness whose draws are known."""

    def __init__(self, pairs: np.ndarray, noise: np.ndarray | None = None) -> None:
        self.pairs, self.noise = pairs, noise

    def integers(self, high: int, size: tuple[int, int]) -> np.ndarray:
        assert size == self.pairs.shape
        assert high == 12
        return self.pairs

    def standard_normal(self, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        assert self.noise is not None
        return self.noise.astype(dtype)


def drawn_pairs() -> np.ndarray:
    return np.random.default_rng(5).integers(12, size=(2, EDGES[0].numel()))


def plainly(patch: torch.Tensor, context: torch.Tensor, pairs: np.ndarray) -> torch.Tensor:
    """The loss pair by pair, as the formula has it."""
    joined = GRAPH.adjacency.toarray() > 0
    ends = np.argwhere(joined)
    together = [-torch.log(torch.sigmoid(patch[v] @ context[k])) for v, k in ends]
    apart = [(v, k) for v, k in pairs.T if v != k and not joined[v, k]]
    apart += [(k, v) for v, k in apart]
    others = [-torch.log(1 - torch.sigmoid(patch[v] @ context[k])) for v, k in apart]
    return torch.stack(together).mean() + torch.stack(others).mean()


def rows(columns: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(12, columns, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("same", [True, False])
def test_the_loss_is_the_formula(same: bool) -> None:
    patch = rows(4)
    context = patch if same else rows(4, 1)
    objective, pairs = (
        Reconstruction(GAE(torch.nn.Identity(), PairDecoder()), variational=False),
        drawn_pairs(),
    )
    loss = objective([(patch, context)], [], Drawn(pairs), EDGES)
    torch.testing.assert_close(loss, plainly(patch, context, pairs))


@pytest.mark.parametrize("same", [True, False])
def test_the_variational_loss_is_the_formula(same: bool) -> None:
    patch = rows(6)
    context = patch if same else rows(6, 1)
    noise = np.random.default_rng(1).standard_normal((12, 3)).astype(np.float32)
    objective, pairs = (
        Reconstruction(VGAE(torch.nn.Identity(), PairDecoder()), variational=True),
        drawn_pairs(),
    )
    loss = objective([(patch, context)], [], Drawn(pairs, noise), EDGES)
    drawn = [each[:, :3] + torch.from_numpy(noise) * each[:, 3:].exp() for each in (patch, context)]
    mean, deviation = patch[:, :3], patch[:, 3:]
    of_nodes = 0.5 * (mean**2 + (2 * deviation).exp() - 1 - 2 * deviation).sum(dim=1)
    expected = plainly(*drawn, pairs) + of_nodes.mean() / 12
    torch.testing.assert_close(loss, expected)


@pytest.mark.parametrize("variational", [False, True])
@pytest.mark.parametrize("same", [True, False])
def test_gradients_are_those_of_finite_differences(variational: bool, same: bool) -> None:
    kind = VGAE if variational else GAE
    objective = Reconstruction(kind(torch.nn.Identity(), PairDecoder()), variational=variational)

    def loss(patch: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        pair = (patch, patch if same else context)
        found: torch.Tensor = objective([pair], [], np.random.default_rng(3), EDGES)
        return found

    assert torch.autograd.gradcheck(
        loss, (rows(4).requires_grad_(), rows(4, 1).requires_grad_(not same))
    )


def test_scores_beyond_the_range_of_a_sigmoid_have_a_loss() -> None:
    objective = Reconstruction(GAE(torch.nn.Identity(), PairDecoder()), variational=False)
    patch = (1e3 * rows(4)).float().requires_grad_()
    loss = objective([(patch, patch)], [], np.random.default_rng(0), EDGES)
    loss.backward()
    assert torch.isfinite(loss)
    assert patch.grad is not None
    assert torch.isfinite(patch.grad).all()
    assert patch.grad.abs().max() > 0


def test_non_edges_are_neither_edges_nor_nodes_with_themselves() -> None:
    joined = torch.stack(EDGES)
    dense = GRAPH.adjacency.toarray() > 0
    for seed in range(30):
        found = random_apart(joined, 12, np.random.default_rng(seed)).numpy()
        assert not dense[found[0], found[1]].any()
        assert (found[0] < found[1]).all()
        assert found.shape[1] > 0.3 * joined.shape[1]


def test_a_graph_without_non_edges_is_taken() -> None:
    full = torch.tensor([[0, 0, 1], [1, 2, 2]])
    objective = Reconstruction(GAE(torch.nn.Identity(), PairDecoder()), variational=False)
    patch = rows(2)[:3]
    loss = objective([(patch, patch)], [], np.random.default_rng(0), tuple(full))
    expected = [-torch.log(torch.sigmoid(patch[a] @ patch[b])) for a, b in full.T]
    torch.testing.assert_close(loss, torch.stack(expected).mean())


def test_the_decoder_gives_what_that_of_pytorch_geometric_gives() -> None:
    ends = torch.stack(EDGES)
    plain, ours = GAE(torch.nn.Identity()), GAE(torch.nn.Identity(), PairDecoder())
    z = rows(5)
    for sigmoid in (True, False):
        expected = plain.decode(z, ends, sigmoid=sigmoid)
        found = ours.decode((z, z), ends, sigmoid=sigmoid)
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("name", ["gae", "vgae"])
def test_two_threads_give_the_same_bits_again(name: str) -> None:
    """On a graph that is large enough for PyTorch to share its sums out."""
    graph = sbm_graph(nodes=3000, degree=12, features=16, seed=0)
    torch.set_num_threads(2)
    options = {"hidden": 128, "inner": 32}
    found = [Embedder(name, epochs=2, options=options).fit(graph).embed(graph) for _ in range(4)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
