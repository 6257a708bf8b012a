# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import reference
from ugcl.nn import GCN
from ugcl.scope import Component, Power, Scope, WholeGraph
from ugcl.sparse import SparseMatrix
from ugcl.views import Subgraphs, SubgraphSampler, View, centre_view

DIFFUSION = importlib.import_module("ugcl.scope.diffusion")  # as an attribute it is the function
SEEDS = st.integers(0, 10_000)


def random_graph(seed: int) -> np.ndarray:
    """Two to sixteen nodes in a few groups, weighted edges within groups; some are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 17))
    group = rng.integers(0, 3, size)
    joined = (group[:, None] == group[None, :]) & (rng.random((size, size)) < 0.5) & (group > 0)
    weights = np.where(np.triu(joined, k=1), rng.uniform(0.5, 2, (size, size)), 0)
    return np.maximum(weights, weights.T)


def large_graph() -> np.ndarray:
    """Thirty nodes: a ring of 24 with chords, four more in a ring, and two alone."""
    rng = np.random.default_rng(2)
    joined = rng.random((30, 30)) < 0.1
    joined |= np.roll(np.eye(30), 1, axis=1) > 0
    joined[24:], joined[:, 24:] = False, False
    joined[[0, 24, 25, 26, 24], [23, 25, 26, 27, 27]] = True
    weights = np.where(np.triu(joined, k=1), rng.uniform(0.5, 2, (30, 30)), 0)
    return np.maximum(weights, weights.T)


def csr(graph: np.ndarray) -> Any:
    return sp.csr_array(graph.astype(np.float32))


def exact_subgraphs(graph: np.ndarray, size: int, teleport: float = 0.15) -> Subgraphs:
    """By walks that lose nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DIFFUSION, "LOST", 0.0)
        return Subgraphs.of(csr(graph), size, teleport)


def members(subgraphs: Subgraphs, node: int) -> list[int]:
    found: list[int] = subgraphs.nodes[subgraphs.starts[node] : subgraphs.starts[node + 1]].tolist()
    return found


def pagerank(graph: np.ndarray, teleport: float) -> np.ndarray:
    """alpha (I - (1 - alpha) A D^-1)^-1, dense; nothing leaves an isolated node."""
    degree = graph.sum(axis=0)
    steps = graph / np.where(degree > 0, degree, 1)
    found: np.ndarray = teleport * np.linalg.inv(np.eye(len(graph)) - (1 - teleport) * steps)
    return found


def induced(graph: np.ndarray, nodes: list[int]) -> np.ndarray:
    """Edges among some nodes, by loops."""
    return np.array([[graph[i, j] for j in nodes] for i in nodes])


@given(seed=SEEDS, size=st.integers(1, 20), teleport=st.floats(0.05, 0.5))
def test_a_subgraph_is_the_node_and_those_that_matter_most_to_it(
    seed: int, size: int, teleport: float
) -> None:
    graph = random_graph(seed)
    subgraphs = exact_subgraphs(graph, size, teleport)
    _, labels = connected_components(csr(graph), directed=False)
    matters = pagerank(graph, teleport)
    assert subgraphs.starts[0] == 0
    assert subgraphs.starts[-1] == subgraphs.nodes.size
    for node in range(len(graph)):
        first, *others = found = members(subgraphs, node)
        assert first == node
        assert len(set(found)) == len(found)
        assert (labels[found] == labels[node]).all()
        assert len(found) == min(size, (labels == labels[node]).sum())
        rest = [j for j in range(len(graph)) if j not in found]
        if others and rest:
            assert matters[node, others].min() > matters[node, rest].max() - 1e-6


def test_members_that_differ_enough_are_told_apart_one_by_one() -> None:
    """By rows of PageRank, not by its columns, which would choose others."""
    graph = large_graph()
    subgraphs = exact_subgraphs(graph, 6)
    matters = pagerank(graph, 0.15)
    for node in range(24):
        ranked = np.argsort(-matters[node])
        assert matters[node, ranked[5]] - matters[node, ranked[6]] > 1e-5
        assert set(members(subgraphs, node)) == set(ranked[:6])
    columns = [set(np.argsort(-matters[:, node])[:6]) for node in range(24)]
    assert any(set(members(subgraphs, node)) != columns[node] for node in range(24))


def test_members_found_by_default_have_nearly_all_that_matters() -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    for node, row in enumerate(pagerank(graph, 0.15)):
        first, *_ = found = members(subgraphs, node)
        assert first == node
        assert row[found].sum() > 0.99 * np.sort(row)[-6:].sum()


def test_small_components_have_fewer_members_and_an_isolated_node_is_alone() -> None:
    subgraphs = Subgraphs.of(csr(large_graph()), 6, 0.15)
    assert np.diff(subgraphs.starts).tolist() == [6] * 24 + [4] * 4 + [1] * 2
    for node in range(24, 28):
        assert set(members(subgraphs, node)) == {24, 25, 26, 27}
    for node in (28, 29):
        assert members(subgraphs, node) == [node]
        assert subgraphs.edges[[subgraphs.starts[node]]].nnz == 0


def test_without_edges_every_node_is_alone() -> None:
    subgraphs = Subgraphs.of(sp.csr_array((3, 3), dtype=np.float32), 5, 0.15)
    assert subgraphs.nodes.tolist() == [0, 1, 2]
    assert subgraphs.edges.shape == (3, 3)
    assert subgraphs.edges.nnz == 0


@given(seed=SEEDS, size=st.integers(1, 20))
def test_slots_are_joined_as_their_nodes_are_within_each_subgraph(seed: int, size: int) -> None:
    graph = random_graph(seed)
    subgraphs = Subgraphs.of(csr(graph), size, 0.15)
    parts = [induced(graph, members(subgraphs, node)) for node in range(len(graph))]
    expected = sp.block_diag(parts).toarray()
    assert subgraphs.edges.format == "csr"
    np.testing.assert_allclose(subgraphs.edges.toarray(), expected, rtol=1e-6)
    assert subgraphs.edges.nnz == np.count_nonzero(expected)


@pytest.mark.parametrize("chunk", [1, 7, 29, 30])
def test_chunks_change_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Subgraphs.of(csr(large_graph()), 6, 0.15)
    monkeypatch.setattr("ugcl.views.subgraphs.CHUNK", chunk)
    after = Subgraphs.of(csr(large_graph()), 6, 0.15)
    np.testing.assert_array_equal(after.starts, before.starts)
    np.testing.assert_array_equal(after.nodes, before.nodes)
    np.testing.assert_array_equal(after.edges.toarray(), before.edges.toarray())


@given(seed=SEEDS, size=st.integers(1, 8))
def test_around_some_nodes_is_a_part_of_all(seed: int, size: int) -> None:
    """In any order, and a node more than once."""
    graph = random_graph(seed)
    subgraphs = Subgraphs.of(csr(graph), size, 0.15)
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, len(graph), int(rng.integers(1, 8)))
    nodes, edges, begins = subgraphs.around(centres)
    bounds = [(subgraphs.starts[node], subgraphs.starts[node + 1]) for node in centres]
    expected = [member for node in centres for member in members(subgraphs, node)]
    assert nodes.tolist() == expected
    parts = [subgraphs.edges[start:end, start:end].toarray() for start, end in bounds]
    np.testing.assert_array_equal(edges.toarray(), sp.block_diag(parts).toarray())
    assert begins.tolist() == [sum(len(part) for part in parts[:k]) for k in range(len(parts))]
    assert nodes[begins].tolist() == centres.tolist()


def features_of(graph: np.ndarray, sparse: bool) -> tuple[Any, np.ndarray]:
    """X as it is given, and dense in float64; the first column tells nodes apart."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(len(graph), 12)) * (rng.random((len(graph), 12)) < 0.05)
    if not sparse:
        dense += 1
    dense[:, 0] = np.arange(1, len(graph) + 1) / len(graph)
    return (sp.csr_array(dense.astype(np.float32)) if sparse else dense.astype(np.float32)), dense


def sampler(
    subgraphs: Subgraphs, features: Any, count: int = 9, self_loops: float = 1.5
) -> SubgraphSampler:
    return SubgraphSampler(subgraphs, features, count=count, self_loops=self_loops, seed=3)


def drawn(views: SubgraphSampler, epoch: int = 0) -> View:
    (view,) = views.draw(views.rng(epoch)).views
    return view


def nodes_of(view: View) -> np.ndarray:
    """The node of each slot: the adjacency is that of slots, its columns moved to rows of X."""
    slots, to_nodes = (held.matrix.to_dense().double() for held in (view.steps, view.adjacency))
    places = torch.linalg.solve(slots, to_nodes).numpy()
    np.testing.assert_allclose(places.max(axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(np.abs(places).sum(axis=1), 1, atol=1e-2)
    held = view.features
    assert held is not None
    numbers = held.matrix.to_dense()[:, 0] if isinstance(held, SparseMatrix) else held[:, 0]
    nodes: np.ndarray = np.rint(30 * numbers.numpy()).astype(int)[places.argmax(axis=1)] - 1
    return nodes


def centres_of(view: View) -> np.ndarray:
    assert view.centres is not None
    nodes: np.ndarray = nodes_of(view)[view.centres.numpy()]
    return nodes


def each_normalised(
    graph: np.ndarray, subgraphs: Subgraphs, view: View, self_loops: float = 1.5
) -> list[np.ndarray]:
    """The normalised adjacency of the subgraph of each centre, dense."""
    return [
        reference.normalised_adjacency(induced(graph, members(subgraphs, node)), self_loops)
        for node in centres_of(view)
    ]


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_view_convolves_each_subgraph_by_itself(epoch: int, sparse: bool) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = drawn(sampler(subgraphs, features), epoch)
    centres = centres_of(view)
    listed = [members(subgraphs, node) for node in centres]
    assert nodes_of(view).tolist() == [node for part in listed for node in part]
    assert view.adjacency.shape[1] == len({node for part in listed for node in part})
    parts = each_normalised(graph, subgraphs, view)
    weight = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    gathered = np.concatenate(
        [part @ dense[nodes] for part, nodes in zip(parts, listed, strict=True)]
    )
    found = view.convolve(weight)
    np.testing.assert_allclose(found.detach(), gathered @ weight.detach().numpy(), atol=1e-5)
    upstream = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    (gradient,) = torch.autograd.grad(found, weight, upstream)
    np.testing.assert_allclose(gradient, gathered.T @ upstream.numpy(), atol=1e-4)


def test_centres_are_distinct_random_nodes_and_the_rows_that_are_compared() -> None:
    graph = large_graph()
    views = sampler(Subgraphs.of(csr(graph), 6, 0.15), features_of(graph, True)[0])
    seen = []
    for epoch in range(30):
        view = drawn(views, epoch)
        assert view.centres is not None
        centres = centres_of(view).tolist()
        assert len(set(centres)) == len(centres) == 9
        hidden = torch.randn(view.steps.shape[0], 2, generator=torch.Generator().manual_seed(0))
        compared = view.compared(hidden)
        assert compared.shape == (9, 2)
        assert torch.equal(compared, hidden[view.centres])
        again = drawn(views, epoch)
        assert again.centres is not None
        assert centres_of(again).tolist() == centres
        seen += centres
    assert set(seen) == set(range(30))
    assert seen[:9] != seen[9:18]


def test_all_nodes_can_be_centres() -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = drawn(sampler(subgraphs, features_of(graph, True)[0], count=30))
    assert centres_of(view).tolist() == list(range(30))
    assert nodes_of(view).tolist() == subgraphs.nodes.tolist()


def slow_contexts(parts: list[np.ndarray], hidden: np.ndarray, scope: Scope) -> np.ndarray:
    """Of each graph alone: the mean, the limit of the powers, or a power."""
    bounds = np.cumsum([0] + [len(part) for part in parts])
    found = []
    for part, start, end in zip(parts, bounds[:-1], bounds[1:], strict=True):
        rows = hidden[start:end]
        if isinstance(scope, WholeGraph):
            found.append(np.tile(rows.mean(axis=0), (len(rows), 1)))
        else:
            n = scope.n if isinstance(scope, Power) else 100_000
            found.append(np.linalg.matrix_power(part, n) @ rows)
    return np.concatenate(found)


SCOPES = [WholeGraph(), Component(), Power(0), Power(1), Power(3)]


@pytest.mark.parametrize("scope", SCOPES)
def test_contexts_are_of_each_subgraph_alone(scope: Scope) -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = drawn(sampler(subgraphs, features_of(graph, True)[0]))
    parts = each_normalised(graph, subgraphs, view)
    assert view.pieces is not None
    counts = [len(part) for part in parts]
    assert view.pieces.tolist() == [k for k, count in enumerate(counts) for _ in range(count)]
    hidden = torch.randn(sum(counts), 5, generator=torch.Generator().manual_seed(0))
    expected = slow_contexts(parts, hidden.double().numpy(), scope)
    np.testing.assert_allclose(view.contexts(scope)(hidden), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scope", SCOPES)
def test_the_encoders_contexts_are_too(scope: Scope, sparse: bool) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = drawn(sampler(subgraphs, features))
    parts = each_normalised(graph, subgraphs, view)
    encoder = GCN(12, 5, torch.Generator().manual_seed(0))
    weight, bias = encoder.weight.detach().numpy(), encoder.bias.detach().numpy()
    gathered = dense[nodes_of(view)]
    hidden = reference.gcn(sp.block_diag(parts).toarray(), gathered, weight, bias, 0.25)
    np.testing.assert_allclose(encoder(view).detach(), hidden, atol=1e-5)
    expected = slow_contexts(parts, hidden, scope)
    np.testing.assert_allclose(encoder.context(view, scope).detach(), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("self_loops", [0.5, 1.0, 2.0])
def test_in_the_view_of_centres_a_node_sees_what_it_sees_in_its_own_subgraph(
    self_loops: float, sparse: bool
) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 4, 0.15)
    view = centre_view(subgraphs, csr(graph), features, self_loops)
    weight = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
    found = view.convolve(weight)
    assert found.shape == (30, 4)
    for node in range(30):
        nodes = members(subgraphs, node)
        part = reference.normalised_adjacency(induced(graph, nodes), self_loops)
        expected = (part @ dense[nodes] @ weight.numpy())[0]
        np.testing.assert_allclose(found[node], expected, atol=1e-5)
    whole = reference.normalised_adjacency(graph, self_loops)
    assert not np.allclose(found, whole @ dense @ weight.numpy(), atol=1e-2)


def test_it_sees_what_it_sees_among_the_sampled_subgraphs() -> None:
    graph = large_graph()
    features, _ = features_of(graph, True)
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = drawn(sampler(subgraphs, features))
    encoder = GCN(12, 5, torch.Generator().manual_seed(0))
    everywhere = encoder(centre_view(subgraphs, csr(graph), features, 1.5))
    torch.testing.assert_close(view.compared(encoder(view)), everywhere[centres_of(view)])


@pytest.mark.parametrize("scope", SCOPES)
def test_contexts_in_the_view_of_centres_are_those_of_the_graph(scope: Scope) -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 4, 0.15)
    view = centre_view(subgraphs, csr(graph), features_of(graph, True)[0], 2.0)
    hidden = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    whole = [reference.normalised_adjacency(graph, 2.0)]
    expected = slow_contexts(whole, hidden.double().numpy(), scope)
    np.testing.assert_allclose(view.contexts(scope)(hidden), expected, atol=1e-5)
    assert view.compared(hidden) is hidden


def test_a_hub_has_a_subgraph_too() -> None:
    nodes = np.arange(1, 6001)
    edges = [np.stack([np.zeros_like(nodes), nodes]), np.stack([nodes, np.roll(nodes, 1)])]
    rows, columns = np.concatenate(edges, axis=1)
    upper = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(6001, 6001))
    found = Subgraphs.of(sp.csr_array(upper + upper.T), 20, 0.15)
    assert np.diff(found.starts)[0] == 20
