from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph, UGCLError
from ugcl.data import hold_out_edges, non_edges


def pairs_of(graph: Graph) -> set[tuple[int, int]]:
    return set(map(tuple, np.argwhere(sp.triu(graph.adjacency).toarray()).tolist()))


@given(fraction=st.floats(0.05, 0.9), seed=st.integers(0, 5), weighted=st.booleans())
def test_seen_and_held_out_edges_are_those_of_the_graph(
    fraction: float, seed: int, weighted: bool
) -> None:
    graph = make_graph(30)
    if weighted:
        scale = sp.diags_array(np.linspace(0.5, 2, 30))
        graph = Graph(scale @ graph.adjacency @ scale, graph.features, labels=graph.labels)
    seen, held_out = hold_out_edges(graph, fraction, seed)
    held = set(map(tuple, held_out.tolist()))
    assert len(held) == len(held_out) == round(fraction * graph.num_edges)
    assert held | pairs_of(seen) == pairs_of(graph)
    assert not held & pairs_of(seen)
    rows, columns = seen.adjacency.tocoo().coords
    kept = graph.adjacency[rows, columns]
    np.testing.assert_array_equal(kept, seen.adjacency.tocoo().data)
    assert seen.weighted == graph.weighted
    assert seen.name == graph.name
    assert seen.notes == graph.notes
    np.testing.assert_array_equal(seen.labels, graph.labels)


def test_the_seed_decides_which_edges() -> None:
    graph = make_graph(30)
    one, again, other = (hold_out_edges(graph, 0.3, seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("seed", range(5))
def test_held_out_edges_are_independent_of_edges_sampled_with_the_same_seed(seed: int) -> None:
    """By `default_rng(seed)` exactly the edges that a user has sampled would be held out."""
    pairs = np.stack([np.arange(9_999), np.arange(1, 10_000)], axis=1)
    sampled = np.zeros(9_999, dtype=bool)
    sampled[np.random.default_rng(seed).choice(9_999, 1_000, replace=False)] = True
    graph = Graph.from_edges(pairs, np.ones((10_000, 1)))
    _, held_out = hold_out_edges(graph, 1_000 / 9_999, seed)
    assert len(held_out) == 1_000
    assert sampled[held_out[:, 0]].mean() == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("seed", range(5))
def test_non_edges_are_independent_of_pairs_sampled_with_the_same_seed(seed: int) -> None:
    """By `default_rng(seed)` the non-edges would be pairs that a user has sampled."""
    mine = np.sort(np.random.default_rng(seed).integers(10_000, size=(2_008, 2)), axis=1)
    found = non_edges(sp.csr_array((10_000, 10_000)), 1_000, seed)
    assert not set(map(tuple, found.tolist())) & set(map(tuple, mine.tolist()))


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_too_few_edges_to_score_or_to_train_on_are_refused(fraction: float) -> None:
    with pytest.raises(UGCLError, match=r"change `hold_out_edges` to leave at least 2 and 1$"):
        hold_out_edges(make_graph(30), fraction)


@given(count=st.integers(0, 200), seed=st.integers(0, 5))
def test_non_edges_are_distinct_pairs_without_an_edge(count: int, seed: int) -> None:
    graph = make_graph(30)
    found = non_edges(graph.adjacency, count, seed)
    assert found.shape == (count, 2)
    assert (found[:, 0] < found[:, 1]).all()
    assert len(set(map(tuple, found.tolist())) - pairs_of(graph)) == count


def test_all_pairs_without_an_edge_can_be_asked_for_but_no_more() -> None:
    graph = make_graph(12)
    there = 12 * 11 // 2 - graph.num_edges
    assert len(set(map(tuple, non_edges(graph.adjacency, there).tolist()))) == there
    with pytest.raises(
        UGCLError, match=rf"but the graph has {there}: hold out fewer edges \(`hold_out_edges`\)$"
    ):
        non_edges(graph.adjacency, there + 1)


def test_every_pair_is_as_likely_as_any_other() -> None:
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))
    drawn = [tuple(non_edges(adjacency, 1, seed)[0].tolist()) for seed in range(1500)]
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert counts.size == 5
    assert np.abs(counts - 300).max() < 5 * np.sqrt(300)
