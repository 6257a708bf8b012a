from __future__ import annotations

from typing import get_args

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl._utils.rows import row_entries
from ugcl.typing import Sampling
from ugcl.views import sample_nodes

SAMPLINGS = get_args(Sampling)


@given(sampling=st.sampled_from(SAMPLINGS), size=st.integers(1, 60), seed=st.integers(0, 1000))
def test_samples_are_distinct_sorted_and_of_the_given_size(
    sampling: str, size: int, seed: int
) -> None:
    graph = make_graph(60)
    nodes = sample_nodes(graph.adjacency, size, sampling, np.random.default_rng(seed))
    assert nodes.size == size
    assert (np.diff(nodes) > 0).all()
    assert nodes[0] >= 0
    assert nodes[-1] < 60


def test_random_samples_reach_every_node_equally() -> None:
    adjacency = make_graph(20).adjacency
    counts = np.zeros(20)
    for seed in range(2000):
        counts[sample_nodes(adjacency, 5, "random", np.random.default_rng(seed))] += 1
    assert counts.min() > 0.85 * 500
    assert counts.max() < 1.15 * 500


def test_windows_are_consecutive_and_reach_both_ends() -> None:
    adjacency = make_graph(20).adjacency
    samples = [sample_nodes(adjacency, 6, "window", np.random.default_rng(s)) for s in range(200)]
    assert all((np.diff(nodes) == 1).all() for nodes in samples)
    assert {int(nodes[0]) for nodes in samples} == set(range(15))


def test_balls_contain_whole_neighbourhoods() -> None:
    """Balls have more edges among their nodes than random samples."""
    graph = make_graph(400, seed=1, classes=40)
    ball, random = (
        np.mean(
            [
                graph.adjacency[nodes][:, nodes].nnz
                for seed in range(10)
                for nodes in [
                    sample_nodes(graph.adjacency, 80, sampling, np.random.default_rng(seed))
                ]
            ]
        )
        for sampling in ("ball", "random")
    )
    assert ball > 1.2 * random


def test_a_ball_around_one_node_is_its_neighbourhood() -> None:
    star = sp.csr_array(np.pad(np.ones((1, 9)), ((0, 9), (1, 0))))
    star = (star + star.T).tocsr()
    nodes = sample_nodes(star, 10, "ball", np.random.default_rng(0))
    assert nodes.tolist() == list(range(10))


def test_at_most_one_neighbourhood_of_a_hop_is_cut() -> None:
    """On a graph so dense that the first hop is cut, other neighbourhoods stay whole."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((1000, 1000)) < 0.03, k=1)
    dense = sp.csr_array((upper | upper.T).astype(np.float32))
    nodes = sample_nodes(dense, 400, "ball", np.random.default_rng(1))
    inside = np.isin(np.arange(1000), nodes)
    whole = [node for node in nodes if inside[dense[[node]].indices].all()]
    assert len(whole) >= 12


def test_balls_continue_in_other_components_where_needed() -> None:
    pairs = sp.block_diag([np.array([[0, 1], [1, 0]])] * 10, format="csr")
    for seed in range(20):
        assert sample_nodes(pairs, 17, "ball", np.random.default_rng(seed)).size == 17


@given(seed=st.integers(0, 1000))
def test_row_entries_are_the_positions_of_the_rows(seed: int) -> None:
    """In any order, and a row more than once."""
    rng = np.random.default_rng(seed)
    adjacency = make_graph(20, seed=seed % 7).adjacency
    nodes = rng.integers(0, 20, int(rng.integers(0, 9)))
    positions, counts = row_entries(adjacency, nodes)
    starts = adjacency.indptr
    expected = [entry for node in nodes for entry in range(starts[node], starts[node + 1])]
    assert positions.tolist() == expected
    assert counts.tolist() == [starts[node + 1] - starts[node] for node in nodes]
