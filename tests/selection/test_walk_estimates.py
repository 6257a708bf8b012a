from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from ugcl import Graph
from ugcl.selection.walk_estimates import WalkEstimates


def random_graph(seed: int, *, weighted: bool = False, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(14, size=(30, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    features = rng.normal(size=(15, 6)).astype(np.float32)  # node 14 has no edges
    weights = rng.uniform(0.2, 3, len(pairs)) if weighted else None
    return Graph.from_edges(pairs, sp.csr_array(features) if sparse else features, weights=weights)


def dense(graph: Graph) -> np.ndarray:
    return graph.features.toarray() if sp.issparse(graph.features) else graph.features


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("projected", [False, True])
def test_walks_estimate_the_powers(weighted: bool, sparse: bool, projected: bool) -> None:
    graph = random_graph(0, weighted=weighted, sparse=sparse)
    projection = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    nodes = np.array([3, 0, 14, 7])
    estimates = WalkEstimates(graph, nodes, projection if projected else None)
    features = dense(graph) @ projection if projected else dense(graph)
    a = reference.normalised_adjacency(graph.adjacency.toarray(), 2.0)
    np.testing.assert_allclose(estimates.own(), features[nodes], atol=1e-6)
    np.testing.assert_allclose(estimates.smoothed(), (a @ features)[nodes], atol=1e-5)
    powers = estimates.powers(20_000, np.random.default_rng(2))
    for m, both in enumerate(islice(powers, 4), 2):
        expected = (np.linalg.matrix_power(a, m) @ features)[nodes]
        for estimate in both:
            np.testing.assert_allclose(estimate, expected, atol=0.08)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_the_leading_eigenvector_is_estimated_without_error(seed: int, weighted: bool) -> None:
    graph = random_graph(seed, weighted=weighted)
    degrees = graph.adjacency.sum(axis=1) + 2
    root = np.sqrt(degrees).astype(np.float32)[:, None]  # A root = root
    nodes = np.arange(graph.num_nodes)
    estimates = WalkEstimates(Graph(graph.adjacency, root, weighted=graph.weighted), nodes)
    np.testing.assert_allclose(estimates.smoothed(), root, rtol=1e-5)
    for both in islice(estimates.powers(3, np.random.default_rng(seed)), 5):
        np.testing.assert_allclose(both, [root, root], rtol=1e-5)


def test_the_two_estimates_are_different_and_repeat() -> None:
    estimates = WalkEstimates(random_graph(0), np.arange(10))
    first, again = (next(estimates.powers(4, np.random.default_rng(seed))) for seed in (0, 0))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[0], first[1])
