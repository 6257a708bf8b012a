from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph
from ugcl.views import Walker

LOLLIPOP = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 4]]


def adjacency_of(
    pairs: list[list[int]], weights: list[float] | None = None, size: int = 5
) -> object:
    return Graph.from_edges(pairs, np.eye(size), weights=weights).adjacency


@given(
    length=st.integers(2, 12),
    p=st.sampled_from([0.1, 1.0, 5.0]),
    q=st.sampled_from([0.2, 1.0, 8.0]),
    seed=st.integers(0, 4),
)
def test_walks_follow_edges_from_every_node_that_has_one(
    length: int, p: float, q: float, seed: int
) -> None:
    graph = make_graph(30, seed=seed)
    walks = Walker(graph.adjacency, p, q).walks(length, np.random.default_rng(seed))
    connected = graph.adjacency.toarray() > 0
    assert all(connected[walks[:, i], walks[:, i + 1]].all() for i in range(length - 1))
    np.testing.assert_array_equal(
        np.sort(walks[:, 0]), np.flatnonzero(np.diff(graph.adjacency.indptr))
    )


def test_an_isolated_node_is_in_no_walk() -> None:
    walks = Walker(adjacency_of([[0, 1], [3, 4]])).walks(6, np.random.default_rng(0))
    assert set(walks.ravel().tolist()) == {0, 1, 3, 4}


@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 0.5, 2.0, 0.25]])
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 0.5), (3.0, 2.0)])
def test_steps_have_the_published_probabilities(
    p: float, q: float, weights: list[float] | None
) -> None:
    """Each step from t over v to x against `alpha(t, x) w(v, x)`, node by node."""
    adjacency = adjacency_of(LOLLIPOP, weights)
    dense = adjacency.toarray()
    copies = sp.block_diag([adjacency] * 100, format="csr")  # walks on all copies at once
    walker, rng = Walker(copies, p, q), np.random.default_rng(0)
    walks = np.concatenate([walker.walks(12, rng) for _ in range(12)]) % 5
    steps = np.lib.stride_tricks.sliding_window_view(walks, 3, axis=1).reshape(-1, 3)
    seen: dict[tuple[int, int], Counter[int]] = {}
    for (t, v, x), count in zip(*np.unique(steps, axis=0, return_counts=True), strict=True):
        seen.setdefault((t, v), Counter())[x] += count
    assert len(seen) == 2 * len(LOLLIPOP)
    for (t, v), counts in seen.items():
        factors = [1 / p if x == t else 1 if dense[t, x] else 1 / q for x in range(5)]
        expected = dense[v] * factors
        expected /= expected.sum()
        total = sum(counts.values())
        for x in range(5):
            error = np.sqrt(max(expected[x] * (1 - expected[x]), 1e-12) / total)
            assert abs(counts[x] / total - expected[x]) < 5 * error + 1e-9, (t, v, x)


def test_large_p_makes_returns_rare_and_small_p_frequent() -> None:
    graph = make_graph(60)
    away, back = (
        Walker(graph.adjacency, p, 1.0).walks(30, np.random.default_rng(0)) for p in (50.0, 0.02)
    )
    returns = [(walks[:, 2:] == walks[:, :-2]).mean() for walks in (away, back)]
    assert returns[0] < 0.1 < 0.8 < returns[1]


@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 0.5, 2.0, 0.25]])
def test_exact_sampling_has_the_same_probabilities(
    weights: list[float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.views.walks.PROPOSALS", 0)
    monkeypatch.setattr("ugcl.views.walks.BLOCK", 7)
    test_steps_have_the_published_probabilities(0.25, 4.0, weights)


@pytest.mark.parametrize(("p", "q"), [(1e6, 1.0), (1e6, 1e6), (1e-6, 1.0), (1.0, 1e-6)])
def test_at_a_leaf_a_walk_goes_back_however_unlikely(p: float, q: float) -> None:
    adjacency = adjacency_of([[0, 1], [1, 2]], size=3)
    walks = Walker(adjacency, p, q).walks(40, np.random.default_rng(0))
    assert walks.shape == (3, 40)


def test_large_numbers_of_nodes_do_not_overflow() -> None:
    size = 70_000  # more than the root of 2^32
    ring = np.arange(size)
    ends = (np.concatenate([ring, (ring + 1) % size]), np.concatenate([(ring + 1) % size, ring]))
    adjacency = sp.csr_array((np.ones(2 * size, np.float32), ends), shape=(size, size))
    adjacency.indices, adjacency.indptr = (
        part.astype(np.int32) for part in (adjacency.indices, adjacency.indptr)
    )
    walks = Walker(adjacency, 1e6, 1.0).walks(5, np.random.default_rng(0))
    assert ((walks[:, 4] - walks[:, 0]) % size != 0).mean() > 0.99


def test_walks_without_nodes_are_those_of_the_graph_without_their_edges() -> None:
    adjacency = make_graph(80, seed=3).adjacency
    held_out = np.array([0, 5, 17, 18, 60])
    kept = ~np.isin(np.arange(80), held_out)
    smaller = sp.csr_array(sp.diags_array(kept * 1.0) @ adjacency @ sp.diags_array(kept * 1.0))
    smaller.eliminate_zeros()
    nodes = np.arange(80).repeat(20)
    one, other = (
        walker.ends(nodes, 4, np.random.default_rng(1))
        for walker in (Walker(adjacency).without(held_out), Walker(smaller))
    )
    np.testing.assert_array_equal(one, other)
