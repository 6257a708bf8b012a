from __future__ import annotations

import importlib
from typing import Any, Literal

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
from ugcl.views import SubgraphSampler, View
from ugcl.views.subgraphs import Subgraphs

DIFFUSION = importlib.import_module("ugcl.scope.diffusion")  # as an attribute it is the function
SEEDS = st.integers(0, 10_000)


def random_graph(seed: int) -> np.ndarray:
    """Two to sixteen nodes in a few groups with weighted edges; some nodes are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 17))
    group = rng.integers(0, 3, size)
    connected = (group[:, None] == group[None, :]) & (rng.random((size, size)) < 0.5) & (group > 0)
    weights = np.where(np.triu(connected, k=1), rng.uniform(0.5, 2, (size, size)), 0)
    return np.maximum(weights, weights.T)


def large_graph() -> np.ndarray:
    """Thirty nodes: a ring of 24 with chords, a ring of four, and two isolated nodes."""
    rng = np.random.default_rng(2)
    connected = rng.random((30, 30)) < 0.1
    connected |= np.roll(np.eye(30), 1, axis=1) > 0
    connected[24:], connected[:, 24:] = False, False
    connected[[0, 24, 25, 26, 24], [23, 25, 26, 27, 27]] = True
    weights = np.where(np.triu(connected, k=1), rng.uniform(0.5, 2, (30, 30)), 0)
    return np.maximum(weights, weights.T)


def csr(graph: np.ndarray) -> Any:
    return sp.csr_array(graph.astype(np.float32))


def exact_subgraphs(graph: np.ndarray, size: int, teleport: float = 0.15) -> Subgraphs:
    """By walks that lose nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DIFFUSION, "TOLERANCE", 0.0)
        return Subgraphs.of(csr(graph), size, teleport)


def members(subgraphs: Subgraphs, node: int) -> list[int]:
    nodes: list[int] = subgraphs.nodes[subgraphs.starts[node] : subgraphs.starts[node + 1]].tolist()
    return nodes


def pagerank(graph: np.ndarray, teleport: float) -> np.ndarray:
    """alpha (I - (1 - alpha) A D^-1)^-1, dense."""
    degree = graph.sum(axis=0)
    steps = graph / np.where(degree > 0, degree, 1)
    matrix: np.ndarray = teleport * np.linalg.inv(np.eye(len(graph)) - (1 - teleport) * steps)
    return matrix


def induced(graph: np.ndarray, nodes: list[int]) -> np.ndarray:
    """Edges among some nodes, by loops."""
    return np.array([[graph[i, j] for j in nodes] for i in nodes])


@given(seed=SEEDS, size=st.integers(1, 20), teleport=st.floats(0.05, 0.5))
def test_a_subgraph_is_the_node_and_its_most_important_others(
    seed: int, size: int, teleport: float
) -> None:
    graph = random_graph(seed)
    subgraphs = exact_subgraphs(graph, size, teleport)
    _, labels = connected_components(csr(graph), directed=False)
    importance = pagerank(graph, teleport)
    assert subgraphs.starts[0] == 0
    assert subgraphs.starts[-1] == subgraphs.nodes.size
    for node in range(len(graph)):
        first, *others = nodes = members(subgraphs, node)
        assert first == node
        assert len(set(nodes)) == len(nodes)
        assert (labels[nodes] == labels[node]).all()
        assert len(nodes) == min(size, (labels == labels[node]).sum())
        rest = [j for j in range(len(graph)) if j not in nodes]
        if others and rest:
            assert importance[node, others].min() > importance[node, rest].max() - 1e-6


def test_members_are_those_of_the_largest_pagerank_of_their_row() -> None:
    """Columns of PageRank would choose other nodes."""
    graph = large_graph()
    subgraphs = exact_subgraphs(graph, 6)
    importance = pagerank(graph, 0.15)
    for node in range(24):
        ranked = np.argsort(-importance[node])
        assert importance[node, ranked[5]] - importance[node, ranked[6]] > 1e-5
        assert set(members(subgraphs, node)) == set(ranked[:6])
    columns = [set(np.argsort(-importance[:, node])[:6]) for node in range(24)]
    assert any(set(members(subgraphs, node)) != columns[node] for node in range(24))


def test_members_by_default_have_nearly_all_of_the_importance() -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    for node, row in enumerate(pagerank(graph, 0.15)):
        first, *_ = nodes = members(subgraphs, node)
        assert first == node
        assert row[nodes].sum() > 0.99 * np.sort(row)[-6:].sum()


def test_small_components_have_fewer_members_and_an_isolated_node_only_itself() -> None:
    subgraphs = Subgraphs.of(csr(large_graph()), 6, 0.15)
    assert np.diff(subgraphs.starts).tolist() == [6] * 24 + [4] * 4 + [1] * 2
    for node in range(24, 28):
        assert set(members(subgraphs, node)) == {24, 25, 26, 27}
    for node in (28, 29):
        assert members(subgraphs, node) == [node]
        assert subgraphs.edges[[subgraphs.starts[node]]].nnz == 0


def test_without_edges_every_subgraph_is_one_node() -> None:
    subgraphs = Subgraphs.of(sp.csr_array((3, 3), dtype=np.float32), 5, 0.15)
    assert subgraphs.nodes.tolist() == [0, 1, 2]
    assert subgraphs.edges.shape == (3, 3)
    assert subgraphs.edges.nnz == 0


@given(seed=SEEDS, size=st.integers(1, 20))
def test_slots_are_connected_as_their_nodes_are_within_each_subgraph(seed: int, size: int) -> None:
    graph = random_graph(seed)
    subgraphs = Subgraphs.of(csr(graph), size, 0.15)
    parts = [induced(graph, members(subgraphs, node)) for node in range(len(graph))]
    expected = sp.block_diag(parts).toarray()
    assert subgraphs.edges.format == "csr"
    np.testing.assert_allclose(subgraphs.edges.toarray(), expected, rtol=1e-6)
    assert subgraphs.edges.nnz == np.count_nonzero(expected)


@pytest.mark.parametrize("chunk", [1, 7, 29, 30])
def test_the_size_of_chunks_changes_nothing(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Subgraphs.of(csr(large_graph()), 6, 0.15)
    monkeypatch.setattr("ugcl.views.subgraphs.CHUNK", chunk)
    after = Subgraphs.of(csr(large_graph()), 6, 0.15)
    np.testing.assert_array_equal(after.starts, before.starts)
    np.testing.assert_array_equal(after.nodes, before.nodes)
    np.testing.assert_array_equal(after.edges.toarray(), before.edges.toarray())


@given(seed=SEEDS, size=st.integers(1, 8))
def test_subgraphs_of_some_nodes_are_parts_of_all_subgraphs(seed: int, size: int) -> None:
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
    """X sparse or dense in float32, and dense in float64; the first column identifies nodes."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(len(graph), 12)) * (rng.random((len(graph), 12)) < 0.05)
    if not sparse:
        dense += 1
    dense[:, 0] = np.arange(1, len(graph) + 1) / len(graph)
    return (sp.csr_array(dense.astype(np.float32)) if sparse else dense.astype(np.float32)), dense


def sampler(
    graph: np.ndarray,
    features: Any,
    *,
    count: int | Literal["all"] = 9,
    size: int = 6,
    self_loops: float = 1.5,
) -> SubgraphSampler:
    views = SubgraphSampler(count=count, size=size, teleport=0.15, self_loops=self_loops)
    return views.bind(csr(graph), features)


def sample(views: SubgraphSampler, epoch: int = 0) -> View:
    (view,) = views.sample(np.random.default_rng([3, epoch])).views
    return view


def inference_view(graph: np.ndarray, features: Any, self_loops: float, *, size: int = 4) -> View:
    views = SubgraphSampler(count=9, size=size, teleport=0.15, self_loops=self_loops)
    (view,) = views.inference_views(csr(graph), features, "cpu")
    return view


def nodes_of(view: View) -> np.ndarray:
    """The node of each slot: the columns of the slots' adjacency are mapped to rows of X."""
    slots, to_nodes = (
        matrix.matrix.to_dense().double() for matrix in (view.propagation, view.adjacency)
    )
    places = torch.linalg.solve(slots, to_nodes).numpy()
    np.testing.assert_allclose(places.max(axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(np.abs(places).sum(axis=1), 1, atol=1e-2)
    x = view.features
    assert x is not None
    numbers = x.matrix.to_dense()[:, 0] if isinstance(x, SparseMatrix) else x[:, 0]
    nodes: np.ndarray = np.rint(30 * numbers.numpy()).astype(int)[places.argmax(axis=1)] - 1
    return nodes


def anchors_of(view: View) -> np.ndarray:
    assert view.anchors is not None
    nodes: np.ndarray = nodes_of(view)[view.anchors.numpy()]
    return nodes


def each_normalised(
    graph: np.ndarray, subgraphs: Subgraphs, view: View, self_loops: float = 1.5
) -> list[np.ndarray]:
    """The normalised adjacency of the subgraph of each anchor, dense."""
    return [
        reference.normalised_adjacency(induced(graph, members(subgraphs, node)), self_loops)
        for node in anchors_of(view)
    ]


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_view_convolves_each_subgraph_by_itself(epoch: int, sparse: bool) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = sample(sampler(graph, features), epoch)
    listed = [members(subgraphs, node) for node in anchors_of(view)]
    assert nodes_of(view).tolist() == [node for part in listed for node in part]
    assert view.adjacency.shape[1] == len({node for part in listed for node in part})
    parts = each_normalised(graph, subgraphs, view)
    weight = torch.randn(12, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    gathered = np.concatenate(
        [part @ dense[nodes] for part, nodes in zip(parts, listed, strict=True)]
    )
    convolved = view.convolve(weight)
    expected = gathered @ weight.detach().numpy()
    np.testing.assert_allclose(convolved.detach(), expected, atol=1e-5)
    upstream = torch.randn(convolved.shape, generator=torch.Generator().manual_seed(1))
    (gradient,) = torch.autograd.grad(convolved, weight, upstream)
    np.testing.assert_allclose(gradient, gathered.T @ upstream.numpy(), atol=1e-4)


def test_anchors_are_distinct_random_nodes() -> None:
    graph = large_graph()
    views = sampler(graph, features_of(graph, True)[0])
    seen = []
    for epoch in range(30):
        view = sample(views, epoch)
        assert view.anchors is not None
        anchors = anchors_of(view).tolist()
        assert len(set(anchors)) == len(anchors) == 9
        hidden = torch.randn(
            view.propagation.shape[0], 2, generator=torch.Generator().manual_seed(0)
        )
        rows = view.select_anchors(hidden)
        assert rows.shape == (9, 2)
        assert torch.equal(rows, hidden[view.anchors])
        assert anchors_of(sample(views, epoch)).tolist() == anchors
        seen += anchors
    assert set(seen) == set(range(30))
    assert seen[:9] != seen[9:18]


@pytest.mark.parametrize("count", [30, "all"])
def test_all_nodes_can_be_anchors(count: Any) -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = sample(sampler(graph, features_of(graph, True)[0], count=count))
    assert anchors_of(view).tolist() == list(range(30))
    assert nodes_of(view).tolist() == subgraphs.nodes.tolist()


def slow_contexts(parts: list[np.ndarray], hidden: np.ndarray, scope: Scope) -> np.ndarray:
    """For each graph of the batch: the mean, the limit of the powers, or a power."""
    bounds = np.cumsum([0] + [len(part) for part in parts])
    contexts = []
    for part, start, end in zip(parts, bounds[:-1], bounds[1:], strict=True):
        rows = hidden[start:end]
        if isinstance(scope, WholeGraph):
            contexts.append(np.tile(rows.mean(axis=0), (len(rows), 1)))
        else:
            n = scope.n if isinstance(scope, Power) else 100_000
            contexts.append(np.linalg.matrix_power(part, n) @ rows)
    return np.concatenate(contexts)


SCOPES = [WholeGraph(), Component(), Power(0), Power(1), Power(3)]


@pytest.mark.parametrize("scope", SCOPES)
def test_contexts_are_those_of_each_subgraph(scope: Scope) -> None:
    graph = large_graph()
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = sample(sampler(graph, features_of(graph, True)[0]))
    parts = each_normalised(graph, subgraphs, view)
    assert view.graph_ids is not None
    counts = [len(part) for part in parts]
    assert view.graph_ids.tolist() == [k for k, count in enumerate(counts) for _ in range(count)]
    hidden = torch.randn(sum(counts), 5, generator=torch.Generator().manual_seed(0))
    expected = slow_contexts(parts, hidden.double().numpy(), scope)
    np.testing.assert_allclose(view.contexts(scope)(hidden), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scope", SCOPES)
def test_contexts_of_an_encoder_are_those_of_each_subgraph(scope: Scope, sparse: bool) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 6, 0.15)
    view = sample(sampler(graph, features))
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
def test_for_inference_a_node_is_encoded_within_its_own_subgraph(
    self_loops: float, sparse: bool
) -> None:
    graph = large_graph()
    features, dense = features_of(graph, sparse)
    subgraphs = Subgraphs.of(csr(graph), 4, 0.15)
    view = inference_view(graph, features, self_loops)
    weight = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
    convolved = view.convolve(weight)
    assert convolved.shape == (30, 4)
    for node in range(30):
        nodes = members(subgraphs, node)
        part = reference.normalised_adjacency(induced(graph, nodes), self_loops)
        expected = (part @ dense[nodes] @ weight.numpy())[0]
        np.testing.assert_allclose(convolved[node], expected, atol=1e-5)
    whole = reference.normalised_adjacency(graph, self_loops)
    assert not np.allclose(convolved, whole @ dense @ weight.numpy(), atol=1e-2)


def test_for_inference_a_node_is_encoded_as_in_training() -> None:
    graph = large_graph()
    features, _ = features_of(graph, True)
    view = sample(sampler(graph, features))
    encoder = GCN(12, 5, torch.Generator().manual_seed(0))
    everywhere = encoder(inference_view(graph, features, 1.5, size=6))
    torch.testing.assert_close(view.select_anchors(encoder(view)), everywhere[anchors_of(view)])


@pytest.mark.parametrize("scope", SCOPES)
def test_for_inference_contexts_are_those_of_the_graph(scope: Scope) -> None:
    graph = large_graph()
    view = inference_view(graph, features_of(graph, True)[0], 2.0)
    hidden = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    whole = [reference.normalised_adjacency(graph, 2.0)]
    expected = slow_contexts(whole, hidden.double().numpy(), scope)
    np.testing.assert_allclose(view.contexts(scope)(hidden), expected, atol=1e-5)
    assert view.select_anchors(hidden) is hidden


def test_the_subgraph_of_a_hub_is_complete() -> None:
    nodes = np.arange(1, 6001)
    edges = [np.stack([np.zeros_like(nodes), nodes]), np.stack([nodes, np.roll(nodes, 1)])]
    rows, columns = np.concatenate(edges, axis=1)
    upper = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(6001, 6001))
    subgraphs = Subgraphs.of(sp.csr_array(upper + upper.T), 20, 0.15)
    assert np.diff(subgraphs.starts)[0] == 20
