# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.scope import Power, WholeGraph, normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views import Corrupter, View, WithEdges, remembered, side_by_side

SEEDS = st.integers(0, 10_000)


def dense(matrix: SparseMatrix) -> np.ndarray:
    found: np.ndarray = matrix.matrix.to_dense().double().numpy()
    return found


def rows_of(graph: Graph) -> np.ndarray:
    held = graph.features
    found: np.ndarray = (held.toarray() if sp.issparse(held) else held).astype(float)
    return found


def random_hidden(size: int, width: int = 5) -> torch.Tensor:
    return torch.randn(size, width, generator=torch.Generator().manual_seed(0))


def two_matrices(graph: Graph) -> tuple[Any, Any]:
    """The normalised adjacency, and another symmetric matrix, which reaches further."""
    other = normalised_adjacency(graph.adjacency, 5.0)
    return normalised_adjacency(graph.adjacency, 2.0), sp.csr_array(other @ other)


def features(sparse: bool) -> Graph:
    """A graph whose X stays as sparse or as dense as it is given."""
    graph: Graph = make_graph(30, sparse=sparse)
    if not sparse:
        return graph
    kept = np.random.default_rng(1).random((30, 12)) < 0.2
    return Graph(graph.adjacency, sp.csr_array(graph.features.toarray() * kept))


@given(seed=SEEDS)
def test_a_product_with_moved_columns_is_one_with_moved_rows(seed: int) -> None:
    """Of matrices that are not square, with rows and columns that are empty."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 9, 2)
    given_matrix = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.4)
    matrix = SparseMatrix.from_scipy(sp.csr_array(given_matrix), dtype=torch.float64)
    order = torch.from_numpy(rng.permutation(columns))
    moved = matrix.of_others(order)
    other = torch.from_numpy(rng.normal(size=(columns, 3))).requires_grad_()
    expected = torch.from_numpy(given_matrix) @ other[order]
    torch.testing.assert_close(moved @ other, expected)
    upstream = torch.from_numpy(rng.normal(size=(rows, 3)))
    found = torch.autograd.grad(moved @ other, other, upstream)
    torch.testing.assert_close(found, torch.autograd.grad(expected, other, upstream))
    torch.testing.assert_close(moved.transpose.to_dense(), moved.matrix.to_dense().T)
    torch.testing.assert_close(matrix.matrix.to_dense(), torch.from_numpy(given_matrix))
    again = moved.of_others(order)
    torch.testing.assert_close(again @ other, torch.from_numpy(given_matrix) @ other[order][order])


@pytest.mark.parametrize("symmetric", [True, False])
def test_moving_columns_does_not_touch_what_was_symmetric(symmetric: bool) -> None:
    graph = make_graph(30)
    matrix = SparseMatrix.from_scipy(graph.adjacency, symmetric=symmetric)
    moved = matrix.of_others(torch.arange(29, -1, -1))
    hidden = random_hidden(30)
    np.testing.assert_array_equal(dense(matrix), graph.adjacency.toarray())
    torch.testing.assert_close(moved @ hidden, matrix @ hidden.flip(0))
    torch.testing.assert_close(moved.transpose @ hidden, (matrix @ hidden).flip(0))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("raw", [True, False])
def test_side_by_side_are_views_by_each_matrix_with_contexts_of_the_first(
    raw: bool, sparse: bool
) -> None:
    graph = features(sparse)
    matrices = two_matrices(graph)
    views = side_by_side(matrices, graph.features, "cpu", raw=raw)
    hidden, weight = random_hidden(30), random_hidden(12)
    first = matrices[0].toarray().astype(float)
    expected = first @ first @ hidden.numpy()
    assert len(views) == 2
    for view, matrix in zip(views, matrices, strict=True):
        convolved = matrix.toarray().astype(float) @ rows_of(graph) @ weight.numpy()
        np.testing.assert_allclose(view.convolve(weight), convolved, atol=1e-4)
        np.testing.assert_allclose(view.contexts(Power(2))(hidden), expected, atol=1e-5)
        assert view.num_features == 12
        assert view.features is views[0].features
        assert (view.features is None) == (not sparse and not raw)
        assert (view.aggregated is None) == sparse
    assert views[0].steps is views[0].adjacency


@given(seed=SEEDS)
def test_with_pieces_the_scope_of_the_graph_is_the_mean_of_each_piece(seed: int) -> None:
    """In whatever order the rows are."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    _, pieces = np.unique(rng.integers(0, 4, size), return_inverse=True)
    hidden = torch.from_numpy(rng.normal(size=(size, 3))).requires_grad_()
    identity = SparseMatrix.from_scipy(sp.eye_array(size, format="csr"), dtype=torch.float64)
    view = View(identity, None, None, identity, pieces=torch.from_numpy(pieces))
    expected = np.empty((size, 3))
    for row in range(size):
        same = [other for other in range(size) if pieces[other] == pieces[row]]
        expected[row] = sum(hidden.detach().numpy()[other] for other in same) / len(same)
    contexts = view.contexts(WholeGraph())
    np.testing.assert_allclose(contexts(hidden).detach(), expected, atol=1e-12)
    assert torch.autograd.gradcheck(contexts, (hidden,))
    for n in (0, 2):
        torch.testing.assert_close(view.contexts(Power(n))(hidden), hidden)


def test_without_pieces_it_is_the_mean_of_all_rows() -> None:
    graph = make_graph(30)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features)
    hidden = random_hidden(30)
    assert view.pieces is None
    expected = hidden.mean(dim=0).expand(30, 5)
    torch.testing.assert_close(view.contexts(WholeGraph())(hidden), expected)


def test_the_rows_compared_are_the_centres_or_all() -> None:
    graph = make_graph(30)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features)
    hidden = random_hidden(30)
    assert view.compared(hidden) is hidden
    some = replace(view, centres=torch.tensor([7, 0, 29]))
    assert torch.equal(some.compared(hidden), torch.stack([hidden[7], hidden[0], hidden[29]]))


@pytest.mark.parametrize("sparse", [True, False])
def test_without_the_graph_there_are_the_features_that_are_not_masked(sparse: bool) -> None:
    graph = features(sparse)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features, raw=True)
    weight = random_hidden(12)
    rows = rows_of(graph)
    np.testing.assert_allclose(view.linear(weight), rows @ weight.numpy(), atol=1e-5)
    mask = (np.arange(12) % 3 > 0).astype(np.float32)
    masked = replace(view, mask=torch.from_numpy(mask))
    np.testing.assert_allclose(masked.linear(weight), (rows * mask) @ weight.numpy(), atol=1e-5)


def orders(views: Corrupter, epoch: int) -> list[list[int]]:
    """For each view whose features each node has in its corrupted one."""
    drawn = views.draw(views.rng(epoch))
    found = []
    for view, corrupted in zip(drawn.views, drawn.corrupted, strict=True):
        moved = np.linalg.solve(dense(view.adjacency), dense(corrupted.adjacency))
        np.testing.assert_allclose(moved, np.rint(moved), atol=1e-2)
        assert (np.rint(moved).sum(axis=1) == 1).all()
        found.append(moved.argmax(axis=1).tolist())
    return found


@pytest.mark.parametrize("sparse", [True, False])
def test_all_corrupted_views_have_one_permutation(sparse: bool) -> None:
    graph = features(sparse)
    matrices = two_matrices(graph)
    views = Corrupter(matrices, graph.features, seed=3)
    first, second = orders(views, 0)
    assert first == second
    assert sorted(first) == list(range(30))
    assert sum(at != node for node, at in enumerate(first)) > 20
    assert orders(views, 0)[0] == first
    assert orders(views, 1)[0] != first
    assert orders(Corrupter(matrices, graph.features, seed=4), 0)[0] != first
    drawn, weight = views.draw(views.rng(0)), random_hidden(12)
    for view, corrupted, matrix in zip(drawn.views, drawn.corrupted, matrices, strict=True):
        rows = rows_of(graph) @ weight.numpy()
        exact = matrix.toarray().astype(float)
        np.testing.assert_allclose(view.convolve(weight), exact @ rows, atol=1e-4)
        np.testing.assert_allclose(corrupted.convolve(weight), exact @ rows[first], atol=1e-4)
        assert corrupted.features is view.features is drawn.views[0].features


def test_contexts_of_all_of_them_are_powers_of_the_first() -> None:
    graph = make_graph(30)
    matrices = two_matrices(graph)
    views = Corrupter(matrices, graph.features, seed=3)
    drawn, hidden = views.draw(views.rng(0)), random_hidden(30)
    first = matrices[0].toarray().astype(float)
    assert len(drawn.views) == len(drawn.corrupted) == 2
    for view in drawn.views + drawn.corrupted:
        for n in (1, 3):
            expected = np.linalg.matrix_power(first, n) @ hidden.numpy()
            np.testing.assert_allclose(view.contexts(Power(n))(hidden), expected, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
def test_a_mask_is_the_same_for_all_views_and_their_corrupted_ones(sparse: bool) -> None:
    graph = features(sparse)
    matrices = two_matrices(graph)
    views = Corrupter(matrices, graph.features, mask_features=0.4, seed=3)
    drawn, weight = views.draw(views.rng(0)), random_hidden(12)
    mask = drawn.views[0].mask
    assert mask is not None
    assert set(mask.tolist()) == {0.0, 1.0}
    rows = (rows_of(graph) * mask.numpy()) @ weight.numpy()
    (order, _) = orders(views, 0)
    for view, corrupted, matrix in zip(drawn.views, drawn.corrupted, matrices, strict=True):
        exact = matrix.toarray().astype(float)
        np.testing.assert_allclose(view.convolve(weight), exact @ rows, atol=1e-4)
        np.testing.assert_allclose(corrupted.convolve(weight), exact @ rows[order], atol=1e-4)


def test_columns_are_masked_with_their_probability() -> None:
    """Within five standard deviations; anew in every epoch and the same in the same."""
    graph, epochs = make_graph(10), 500
    views = Corrupter(
        [normalised_adjacency(graph.adjacency)], graph.features, mask_features=0.3, seed=3
    )
    masks = [views.draw(views.rng(epoch)).views[0].mask for epoch in (*range(epochs), 0)]
    kept = np.array([mask.numpy() for mask in masks if mask is not None])
    np.testing.assert_array_equal(kept[-1], kept[0])
    assert np.abs(0.7 - kept[:-1].mean(axis=0)).max() < 5 * np.sqrt(0.3 * 0.7 / epochs)


def test_probability_0_is_no_mask() -> None:
    graph = make_graph()
    views = Corrupter(two_matrices(graph), graph.features, seed=3)
    drawn = views.draw(views.rng(0))
    assert all(view.mask is None for view in drawn.views + drawn.corrupted)


@pytest.mark.parametrize("sparse", [True, False])
def test_the_whole_graph_is_one_view_with_its_features_and_edges(sparse: bool) -> None:
    graph = features(sparse)
    views = WithEdges(graph.adjacency, graph.features, self_loops=2.0, seed=3)
    drawn = views.draw(views.rng(0))
    (view,) = drawn.views
    joined = graph.adjacency.toarray().astype(float)
    expected = reference.normalised_adjacency(joined, 2.0)
    weight = random_hidden(12)
    rows = rows_of(graph) @ weight.numpy()
    np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
    np.testing.assert_allclose(view.convolve(weight), expected @ rows, atol=1e-4)
    np.testing.assert_allclose(view.linear(weight), rows, atol=1e-5)
    np.testing.assert_allclose(
        view.contexts(Power(1))(random_hidden(30)), expected @ random_hidden(30).numpy(), atol=1e-5
    )
    assert drawn.edges is not None
    found = list(zip(*(ends.tolist() for ends in drawn.edges), strict=True))
    assert found == [(i, j) for i in range(30) for j in range(i + 1, 30) if joined[i, j]]
    assert drawn.corrupted == ()
    assert views.draw(views.rng(7)).views[0] is view


def counted(calls: list[str], name: str) -> Callable[[], str]:
    def make() -> str:
        calls.append(name)
        return name

    return make


def test_what_is_remembered_is_made_once_for_a_matrix_and_a_key() -> None:
    calls: list[str] = []
    matrix, other = (make_graph(seed=seed).adjacency for seed in (0, 1))
    for _ in range(3):
        assert remembered(matrix, ("a", 1), counted(calls, "first")) == "first"
        assert remembered(matrix, ("a", 2), counted(calls, "second")) == "second"
        assert remembered(other, ("a", 1), counted(calls, "third")) == "third"
        assert remembered(matrix.copy(), ("a", 1), counted(calls, "copy")) == "copy"
    assert calls == ["first", "second", "third", "copy", "copy", "copy"]


def test_what_is_remembered_may_be_nothing() -> None:
    calls: list[None] = []
    matrix = make_graph().adjacency
    for _ in range(2):
        assert remembered(matrix, "nothing", lambda: calls.append(None)) is None
    assert len(calls) == 1


class Costly:
    """Something that can be seen to be forgotten."""

    held = 0

    def __init__(self) -> None:
        Costly.held += 1

    def __del__(self) -> None:
        Costly.held -= 1


def test_it_is_forgotten_with_its_matrix() -> None:
    matrix, other = (make_graph(seed=seed).adjacency for seed in (0, 1))
    for key in range(3):
        remembered(matrix, key, Costly)
    kept = remembered(other, 0, Costly)
    gc.collect()
    assert Costly.held == 4
    del matrix
    gc.collect()
    assert Costly.held == 1
    assert remembered(other, 0, Costly) is kept


def test_what_could_not_be_made_is_tried_again() -> None:
    matrix, calls = make_graph().adjacency, list[str]()

    def fails() -> str:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        remembered(matrix, 0, fails)
    assert remembered(matrix, 0, counted(calls, "now")) == "now"
