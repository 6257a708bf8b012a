from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from ugcl import Graph, UGCLError
from ugcl.scope import Decay, component, measured_decay, normalised_adjacency, second_eigenvalue
from ugcl.sparse import SparseMatrix

SEEDS = st.integers(0, 10_000)
LOOPS = st.sampled_from([0.3, 1.0, 2.0])


def random_graph(seed: int, largest: int = 10, joined: float = 0.6) -> np.ndarray:
    """Nodes in a few groups, weighted edges within groups; some nodes are isolated."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, largest + 1))
    group = rng.integers(0, 4, size)
    edges = (group[:, None] == group[None, :]) & (rng.random((size, size)) < joined) & (group > 0)
    upper = np.triu(rng.uniform(0.2, 3, (size, size)) * edges, k=1)
    return upper + upper.T


def complete_bipartite(side: int) -> np.ndarray:
    return np.kron([[0, 1], [1, 0]], np.ones((side, side)))


def blocks(block: np.ndarray, count: int) -> sp.csr_array:
    return sp.csr_array(sp.block_diag([block] * count))


def held(adjacency: np.ndarray | sp.csr_array, self_loops: float = 1.0) -> SparseMatrix:
    if isinstance(adjacency, np.ndarray):
        matrix = sp.csr_array(reference.normalised_adjacency(adjacency, self_loops))
    else:
        matrix = normalised_adjacency(adjacency, self_loops)
    return SparseMatrix.from_scipy(matrix, symmetric=True, dtype=torch.float64)


def number_of_components(graph: np.ndarray) -> int:
    left, count = set(range(len(graph))), 0
    while left:
        border = {left.pop()}
        while border:
            border = {j for i in border for j in left if graph[i, j]}
            left -= border
        count += 1
    return count


def others(graph: np.ndarray, self_loops: float) -> tuple[np.ndarray, np.ndarray]:
    """Lambda and F of the appendix: all but the K largest eigenvalues, and their eigenvectors."""
    values, vectors = np.linalg.eigh(reference.normalised_adjacency(graph, self_loops))
    rest = len(graph) - number_of_components(graph)
    return values[:rest], vectors[:, :rest]


def distance(graph: np.ndarray, self_loops: float, hidden: np.ndarray) -> float:
    """||F^T H||_F."""
    return float(np.linalg.norm(others(graph, self_loops)[1].T @ hidden))


@given(seed=SEEDS, self_loops=LOOPS)
def test_second_eigenvalue_is_the_largest_modulus_of_the_others(
    seed: int, self_loops: float
) -> None:
    graph = random_graph(seed)
    expected = np.abs(others(graph, self_loops)[0]).max(initial=0)
    assert second_eigenvalue(held(graph, self_loops)) == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 100), self_loops=LOOPS)
def test_lanczos_finds_the_same_as_all_eigenvalues(seed: int, self_loops: float) -> None:
    graph = random_graph(seed, largest=90, joined=0.1)
    assume(len(graph) > 20)
    adjacency = held(graph, self_loops)
    expected = np.abs(others(graph, self_loops)[0]).max(initial=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.scope.spectrum.MAX_DENSE_NODES", 0)
        first = second_eigenvalue(adjacency)
        assert first == pytest.approx(expected, abs=1e-6)
        assert second_eigenvalue(adjacency) == first


def test_a_large_graph_of_many_components() -> None:
    """Of a path with p nodes and one loop at each; the longest has the largest eigenvalue."""
    path = np.eye(12, k=1) + np.eye(12, k=-1)
    long = np.eye(30, k=1) + np.eye(30, k=-1)
    many = sp.csr_array(sp.block_diag([path] * 60 + [long] + [np.zeros((1, 1))] * 20))
    expected = np.sort(np.linalg.eigvalsh(reference.normalised_adjacency(long)))[-2]
    assert second_eigenvalue(held(many)) == pytest.approx(expected, abs=1e-6)


def test_the_most_negative_eigenvalue_may_be_the_one() -> None:
    """K_{3,3}: the second largest is 1/4, the paper's lambda, but the rate is 1/2."""
    graph = complete_bipartite(3)
    assert others(graph, 1)[0].max() == pytest.approx(1 / 4)
    assert second_eigenvalue(held(graph)) == pytest.approx(1 / 2)
    hidden = torch.tensor([[1.0]] * 3 + [[-1.0]] * 3, dtype=torch.float64)
    (decay,) = measured_decay(held(graph), hidden, [1])
    assert decay.measured == pytest.approx(1 / 2)


@pytest.mark.parametrize("graph", [np.zeros((1, 1)), np.zeros((9, 9)), np.ones((6, 6)) - np.eye(6)])
def test_zero_where_nothing_is_left(graph: np.ndarray) -> None:
    assert second_eigenvalue(held(graph)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "graph",
    [
        blocks(np.zeros((1, 1)), 600),
        blocks(np.ones((2, 2)) - np.eye(2), 300),
        blocks(np.ones((3, 3)) - np.eye(3), 200),
        blocks(np.ones((4, 4)) - np.eye(4), 150),
        sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(600, 600)),
    ],
)
def test_zero_where_nothing_is_left_of_a_large_graph(graph: sp.csr_array) -> None:
    assert second_eigenvalue(held(graph)) == pytest.approx(0, abs=1e-12)


def test_without_an_image_of_the_start_lanczos_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ARPACK fails on a matrix of zeros, and rounding decides whether this is one."""
    monkeypatch.setattr("scipy.sparse.linalg.eigsh", None)
    assert second_eigenvalue(held(blocks(np.ones((4, 4)) - np.eye(4), 150))) == 0


@given(seed=SEEDS, self_loops=LOOPS, n=st.integers(0, 60))
def test_theorem_1(seed: int, self_loops: float, n: int) -> None:
    """Against the powers and the distance as the paper writes them."""
    graph = random_graph(seed)
    hidden = np.random.default_rng(seed).normal(size=(len(graph), 3))
    adjacency = reference.normalised_adjacency(graph, self_loops)
    before = np.linalg.matrix_power(adjacency, n) @ hidden
    eigenvalue = second_eigenvalue(held(graph, self_loops))
    step = distance(graph, self_loops, adjacency @ before)
    assert step <= eigenvalue * distance(graph, self_loops, before) + 1e-12
    start = distance(graph, self_loops, hidden)
    assert distance(graph, self_loops, before) <= eigenvalue**n * start + 1e-12


@given(seed=SEEDS, self_loops=LOOPS)
def test_theorem_1_is_sharp(seed: int, self_loops: float) -> None:
    """The eigenvector of lambda decays by lambda at every step, so no smaller one would do."""
    graph = random_graph(seed)
    values, vectors = others(graph, self_loops)
    assume(np.abs(values).max(initial=0) > 0.01)
    slowest = vectors[:, [np.abs(values).argmax()]]
    for decay in measured_decay(held(graph, self_loops), torch.from_numpy(slowest), [0, 1, 5]):
        assert decay.measured == pytest.approx(decay.bound, rel=1e-9)


@given(seed=SEEDS, self_loops=LOOPS)
def test_spectral_properties_of_the_appendix(seed: int, self_loops: float) -> None:
    graph = random_graph(seed)
    matrix = normalised_adjacency(sp.csr_array(graph), self_loops).toarray().astype(np.float64)
    values = np.linalg.eigvalsh(matrix)
    components = number_of_components(graph)
    np.testing.assert_allclose(values[-components:], 1, atol=1e-6)
    assert (values[:-components] < 1 - 1e-4).all()
    assert values[0] > -1 + 1e-4
    marked = torch.eye(len(graph), dtype=torch.float64)
    limit = component(held(graph, self_loops), marked).numpy()
    np.testing.assert_allclose(matrix @ limit, limit, atol=1e-6)  # the eigenvalue 1, K times
    assert np.linalg.matrix_rank(limit, tol=1e-6) == components


def test_without_self_loops_there_is_no_second_eigenvalue() -> None:
    matrix = normalised_adjacency(sp.csr_array(complete_bipartite(2)), 0)
    assert np.linalg.eigvalsh(matrix.toarray())[0] == pytest.approx(-1)
    with pytest.raises(UGCLError, match="self_loops above 0"):
        second_eigenvalue(SparseMatrix.from_scipy(matrix))


@given(seed=SEEDS, self_loops=LOOPS)
def test_measured_decay_equals_the_formula(seed: int, self_loops: float) -> None:
    graph = random_graph(seed)
    values = others(graph, self_loops)[0]
    assume(values.size)
    hidden = np.random.default_rng(seed).normal(size=(len(graph), 3))
    adjacency = reference.normalised_adjacency(graph, self_loops)
    decays = measured_decay(held(graph, self_loops), torch.from_numpy(hidden), [7, 0, 2, 2])
    assert [decay.n for decay in decays] == [0, 2, 7]
    for decay in decays:
        after = np.linalg.matrix_power(adjacency, decay.n) @ hidden
        measured = distance(graph, self_loops, after) / distance(graph, self_loops, hidden)
        assert decay.measured == pytest.approx(measured, abs=1e-12)
        assert decay.bound == pytest.approx(np.abs(values).max() ** decay.n, abs=1e-12)
        assert decay.measured <= decay.bound + 1e-12


def test_small_distances_are_not_lost_in_rounding() -> None:
    """With a limit a thousand times larger, in float32, down to 2^-60."""
    adjacency = SparseMatrix.from_scipy(
        normalised_adjacency(sp.csr_array(complete_bipartite(3))), symmetric=True
    )
    hidden = torch.tensor([[1001.0]] * 3 + [[999.0]] * 3)
    for decay in measured_decay(adjacency, hidden, [10, 30, 60]):
        assert decay.measured == pytest.approx(0.5**decay.n, rel=1e-3)


def test_all_scopes_are_measured_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency, products = held(complete_bipartite(3)), []
    multiply = SparseMatrix.__matmul__

    def count(matrix: SparseMatrix, dense: torch.Tensor) -> torch.Tensor:
        if matrix is adjacency:
            products.append(dense)
        return multiply(matrix, dense)

    monkeypatch.setattr(SparseMatrix, "__matmul__", count)
    hidden = torch.eye(6, dtype=torch.float64)
    assert len(measured_decay(adjacency, hidden, range(9))) == 9
    assert len(products) == 8


@pytest.mark.parametrize("size", [2, 3, 4])
def test_all_eigenvalues_are_computed_of_small_graphs_only(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matrix of all pairs of nodes is made up to the limit, here 6 nodes."""
    shapes: list[tuple[int, int]] = []
    eigenvalues = np.linalg.eigvalsh

    def record(matrix: np.ndarray) -> np.ndarray:
        shapes.append(matrix.shape)
        return eigenvalues(matrix)

    monkeypatch.setattr("ugcl.scope.spectrum.MAX_DENSE_NODES", 6)
    monkeypatch.setattr(np.linalg, "eigvalsh", record)
    second_eigenvalue(held(complete_bipartite(size)))
    assert shapes == ([(2 * size, 2 * size)] if 2 * size <= 6 else [])


def test_no_scopes_no_decays() -> None:
    assert measured_decay(held(complete_bipartite(2)), torch.eye(4, dtype=torch.float64), []) == ()


def test_scope_zero_is_where_it_starts() -> None:
    hidden = torch.eye(4, dtype=torch.float64)
    complete = np.ones((4, 4)) - np.eye(4)
    assert measured_decay(held(complete), hidden, [0]) == (Decay(0, 1.0, 1.0),)


def test_a_scope_below_zero_is_refused() -> None:
    with pytest.raises(UGCLError, match="scopes must be at least 0, not -2"):
        measured_decay(held(complete_bipartite(2)), torch.eye(4, dtype=torch.float64), [3, -2])


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_representations_that_are_in_the_subspace_are_refused(
    dtype: torch.dtype, scale: float
) -> None:
    """All others are not, whatever their size."""
    matrix = normalised_adjacency(sp.csr_array(random_graph(5, largest=60)))
    adjacency = SparseMatrix.from_scipy(matrix, symmetric=True, dtype=dtype)
    hidden = torch.from_numpy(np.random.default_rng(0).normal(size=(adjacency.shape[0], 3))).to(
        dtype
    )
    with pytest.raises(UGCLError, match="no distance to decay"):
        measured_decay(adjacency, scale * component(adjacency, hidden), [1])
    (decay,) = measured_decay(adjacency, scale * hidden, [1])
    assert 0 < decay.measured <= decay.bound


@pytest.mark.parametrize(
    ("name", "published"), [("cora", 0.996), ("citeseer", 0.999), ("pubmed", 0.991)]
)
def test_second_eigenvalues_of_real_graphs(
    name: str, published: float, real_graph: Callable[[str], Graph]
) -> None:
    graph = real_graph(name)
    assert round(second_eigenvalue(held(graph.adjacency)), 3) == published
