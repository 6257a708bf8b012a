from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from ugcl import Graph, UGCLError
from ugcl.scope import (
    ComponentSubspace,
    component,
    distance_to_component_subspace,
    mean,
    normalised_adjacency,
    power,
)
from ugcl.sparse import SparseMatrix

SEEDS = st.integers(0, 10_000)
LOOPS = st.sampled_from([0.3, 1.0, 2.0])


def random_graph(seed: int) -> np.ndarray:
    """One to ten nodes in a few groups, weighted edges within groups; some nodes are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 11))
    group = rng.integers(0, 4, size)
    joined = (group[:, None] == group[None, :]) & (rng.random((size, size)) < 0.6) & (group > 0)
    upper = np.triu(rng.uniform(0.2, 3, (size, size)) * joined, k=1)
    return upper + upper.T


def random_hidden(size: int, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(size, 3)))


def held(dense: np.ndarray) -> SparseMatrix:
    return SparseMatrix.from_scipy(sp.csr_array(dense), symmetric=True, dtype=torch.float64)


def ball(graph: np.ndarray, start: int, hops: float = np.inf) -> set[int]:
    """Breadth-first: the nodes at most so many hops away."""
    reached, border, hop = {start}, {start}, 0
    while border and hop < hops:
        border = {j for i in border for j in range(len(graph)) if graph[i, j]} - reached
        reached |= border
        hop += 1
    return reached


def eigenvectors(graph: np.ndarray, self_loops: float) -> np.ndarray:
    """D^1/2 u_k of the appendix, a column for each component, not scaled."""
    degree = (graph + self_loops * np.eye(len(graph))).sum(axis=1)
    parts = sorted({min(ball(graph, node)) for node in range(len(graph))})
    columns = [
        [np.sqrt(degree[i]) if i in ball(graph, part) else 0.0 for i in range(len(graph))]
        for part in parts
    ]
    return np.array(columns).T


def projection(graph: np.ndarray, self_loops: float) -> np.ndarray:
    vectors = eigenvectors(graph, self_loops)
    unit = vectors / np.linalg.norm(vectors, axis=0)
    return unit @ unit.T


@given(seed=SEEDS, self_loops=LOOPS)
def test_projection_equals_the_formula(seed: int, self_loops: float) -> None:
    graph = random_graph(seed)
    subspace = ComponentSubspace.from_adjacency(
        held(reference.normalised_adjacency(graph, self_loops))
    )
    hidden = random_hidden(len(graph), seed)
    expected = projection(graph, self_loops) @ hidden.numpy()
    np.testing.assert_allclose(subspace.project(hidden), expected, atol=1e-12)
    np.testing.assert_allclose(subspace.residual(hidden), hidden.numpy() - expected, atol=1e-12)

    assert subspace.num_components == eigenvectors(graph, self_loops).shape[1]
    for i in range(len(graph)):
        same = (subspace.labels == subspace.labels[i]).nonzero().flatten()
        assert set(same.tolist()) == ball(graph, i)
        assert subspace.vector[same].norm().item() == pytest.approx(1)


@given(seed=SEEDS, self_loops=LOOPS)
def test_projection_invariants(seed: int, self_loops: float) -> None:
    adjacency = held(reference.normalised_adjacency(random_graph(seed), self_loops))
    identity = torch.eye(adjacency.shape[0], dtype=torch.float64)
    subspace = ComponentSubspace.from_adjacency(adjacency)
    projected = subspace.project(identity)
    torch.testing.assert_close(projected, projected.T)
    torch.testing.assert_close(subspace.project(projected), projected)
    torch.testing.assert_close(adjacency @ projected, projected)
    torch.testing.assert_close(subspace.project(adjacency @ identity), projected)
    assert projected.trace().item() == pytest.approx(subspace.num_components)


@given(seed=SEEDS, self_loops=LOOPS)
def test_component_is_the_limit_of_the_powers(seed: int, self_loops: float) -> None:
    adjacency = held(reference.normalised_adjacency(random_graph(seed), self_loops))
    hidden = random_hidden(adjacency.shape[0], seed)
    limit = component(adjacency, hidden)
    torch.testing.assert_close(power(adjacency, hidden, 3000), limit, rtol=0, atol=1e-9)


@given(seed=SEEDS, self_loops=LOOPS)
def test_distance_is_the_least_over_the_subspace(seed: int, self_loops: float) -> None:
    """The paper's infimum of ||H - V M||_F, found by least squares."""
    graph = random_graph(seed)
    hidden = random_hidden(len(graph), seed)
    vectors = eigenvectors(graph, self_loops)
    best = np.linalg.lstsq(vectors, hidden.numpy())[0]
    expected = np.linalg.norm(hidden.numpy() - vectors @ best)
    adjacency = held(reference.normalised_adjacency(graph, self_loops))
    distance = distance_to_component_subspace(adjacency, hidden)
    assert distance == pytest.approx(expected, abs=1e-12)
    projected = component(adjacency, hidden)
    assert distance_to_component_subspace(adjacency, projected) == pytest.approx(0, abs=1e-12)


def test_gradients() -> None:
    graph = random_graph(5)
    assert 1 < eigenvectors(graph, 1).shape[1] < len(graph)
    subspace = ComponentSubspace.from_adjacency(held(reference.normalised_adjacency(graph)))
    hidden = random_hidden(len(graph), 5).requires_grad_()
    assert torch.autograd.gradcheck(subspace.project, (hidden,))
    assert torch.autograd.gradcheck(subspace.distance, (hidden,))
    assert torch.autograd.gradcheck(mean, (hidden,))


def test_an_isolated_node_keeps_its_row() -> None:
    graph = np.zeros((4, 4))
    graph[1, 2] = graph[2, 1] = 5
    hidden = random_hidden(4, 0)
    result = component(held(reference.normalised_adjacency(graph)), hidden)
    torch.testing.assert_close(result[[0, 3]], hidden[[0, 3]])
    assert not torch.allclose(result[[1, 2]], hidden[[1, 2]])


@pytest.mark.parametrize("size", [1, 5])
def test_without_edges_nothing_changes(size: int) -> None:
    adjacency = held(np.eye(size))
    hidden = random_hidden(size, 0)
    torch.testing.assert_close(component(adjacency, hidden), hidden)
    assert distance_to_component_subspace(adjacency, hidden) == 0


def test_component_and_mean_agree_where_all_degrees_are_equal() -> None:
    cycle = np.roll(np.eye(7), 1, axis=1) + np.roll(np.eye(7), -1, axis=1)
    hidden = random_hidden(7, 0)
    expected = np.tile(hidden.numpy().mean(axis=0), (7, 1))
    np.testing.assert_allclose(mean(hidden), expected)
    result = component(held(reference.normalised_adjacency(cycle)), hidden)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_component_weighs_by_the_square_roots_of_the_degrees() -> None:
    """A weighted path: sqrt(d_i) sum_j sqrt(d_j) h_j / sum_j d_j, as the docstring says."""
    path = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0.0]])
    degree = np.array([2, 4, 3.0])
    hidden = random_hidden(3, 0)
    pooled = np.sqrt(degree) @ hidden.numpy() / degree.sum()
    result = component(held(reference.normalised_adjacency(path)), hidden)
    np.testing.assert_allclose(result, np.outer(np.sqrt(degree), pooled), atol=1e-12)
    assert not torch.allclose(result, mean(hidden), atol=0.01)


def test_an_entry_that_is_zero_joins_nothing_and_is_left_in_place() -> None:
    entries = np.array([1, 0, 0, 1.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])
    adjacency = SparseMatrix.from_scipy(sp.csr_array(entries, (2, 2)), dtype=torch.float64)
    hidden = random_hidden(2, 0)
    torch.testing.assert_close(component(adjacency, hidden), hidden)
    assert adjacency.matrix.values().tolist() == [1, 0, 0, 1]
    assert adjacency.matrix.col_indices().tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_subspace_has_the_precision_of_the_adjacency(dtype: torch.dtype) -> None:
    graph = random_graph(5)
    matrix = normalised_adjacency(sp.csr_array(graph), 2)
    adjacency = SparseMatrix.from_scipy(matrix, symmetric=True, dtype=dtype)
    hidden = random_hidden(len(graph), 5).to(dtype)
    result = component(adjacency, hidden)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, projection(graph, 2) @ hidden.numpy(), atol=1e-6)


def test_distances_of_large_float32_arrays_are_exact() -> None:
    pairs = sp.block_diag([np.ones((2, 2)) - np.eye(2)] * 2500)
    adjacency = SparseMatrix.from_scipy(normalised_adjacency(sp.csr_array(pairs)), symmetric=True)
    hidden = torch.randn(5000, 512, generator=torch.Generator().manual_seed(0))
    half = (hidden[::2].double() - hidden[1::2].double()) / 2
    expected = np.sqrt(2) * np.linalg.norm(half.numpy())
    assert distance_to_component_subspace(adjacency, hidden) == pytest.approx(expected, rel=1e-6)


@given(seed=SEEDS, n=st.integers(0, 5))
def test_the_power_reaches_the_ball_of_n_hops(seed: int, n: int) -> None:
    graph = random_graph(seed)
    matrix = normalised_adjacency(sp.csr_array(graph))
    adjacency = SparseMatrix.from_scipy(matrix, symmetric=True, dtype=torch.float64)
    reach = power(adjacency, torch.eye(len(graph), dtype=torch.float64), n)
    for node in range(len(graph)):
        assert set(reach[node].nonzero().flatten().tolist()) == ball(graph, node, n)


@pytest.mark.parametrize("loops", [[0, 0, 0], [0, 0, 1], [1, 0, 1]])
def test_an_adjacency_without_self_loops_is_refused(loops: list[int]) -> None:
    path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) + np.diag(loops))
    adjacency = SparseMatrix.from_scipy(normalised_adjacency(path, 0), symmetric=True)
    with pytest.raises(UGCLError, match=r"bipartite component do not converge.*self_loops above 0"):
        component(adjacency, torch.ones(3, 1))


def test_an_adjacency_that_is_not_normalised_by_its_own_sums_is_refused() -> None:
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    whole = reference.normalised_adjacency(star)
    walk = (star + np.eye(4)) / (star + np.eye(4)).sum(axis=1, keepdims=True)
    for matrix in (whole[:3, :3], walk, star + np.eye(4)):
        adjacency = SparseMatrix.from_scipy(sp.csr_array(matrix))
        with pytest.raises(UGCLError, match="not normalised by its own row sums"):
            ComponentSubspace.from_adjacency(adjacency)


def test_the_hundredth_power_of_cora_is_far_from_the_limit(
    real_graph: Callable[[str], Graph],
) -> None:
    graph = real_graph("cora")
    adjacency = SparseMatrix.from_scipy(normalised_adjacency(graph.adjacency), symmetric=True)
    hidden = torch.randn(graph.num_nodes, 64, generator=torch.Generator().manual_seed(0))
    subspace = ComponentSubspace.from_adjacency(adjacency)
    assert subspace.num_components == 78
    limit = subspace.project(hidden)
    residual = (power(adjacency, hidden, 100) - limit).norm() / limit.norm()
    assert residual.item() == pytest.approx(0.135, abs=0.02)
