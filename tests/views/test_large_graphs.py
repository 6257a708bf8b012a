"""What samples of large graphs say is what the whole of PubMed and Physics says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ugcl import Graph
from ugcl.selection import choose_scope, label_free, masked
from ugcl.views import auto_scaling, reliability, scale_features, split_half_reliability, structure

GRAPHS = ("pubmed", "coauthor-physics")


def as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reliability, "LARGE_GRAPH", 1000)
    monkeypatch.setattr(reliability, "SAMPLE", 10_000)
    monkeypatch.setattr(reliability, "MAX_ROWS", 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_the_reliability_of_a_sample_is_that_of_the_graph(
    name: str, real_graph: Callable[[str], Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structure, "MAX_WALKED", 1000)  # as large graphs are factorised
    graph = real_graph(name)
    scaled = scale_features(graph.features, "l2")
    whole = split_half_reliability(graph.adjacency, scaled)
    as_if_large(monkeypatch)
    sample = split_half_reliability(graph.adjacency, scaled)
    np.testing.assert_allclose(sample, whole, atol=0.05)
    np.testing.assert_allclose(sample.weights(), whole.weights(), atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_a_sample_chooses_the_scaling_of_the_graph(
    name: str, real_graph: Callable[[str], Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = real_graph(name)
    whole = auto_scaling(graph.adjacency, graph.features)
    as_if_large(monkeypatch)
    assert auto_scaling(graph.adjacency, graph.features) == whole


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_a_sample_chooses_nearly_the_scope_of_the_graph(
    name: str, real_graph: Callable[[str], Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score is flat near its maximum: what is chosen may differ, but hardly its score."""
    graph = real_graph(name)
    whole = choose_scope(graph)
    label_free._cache.clear()
    monkeypatch.setattr(masked, "LARGE_GRAPH", 1000)
    sample = choose_scope(graph)
    label_free._cache.clear()
    assert whole.n is not None
    assert sample.n is not None
    assert whole.scores is not None
    last = len(whole.scores) - 1
    loss = max(whole.scores) - whole.scores[min(sample.n, last)]
    print(name, whole, sample)
    assert abs(sample.n - whole.n) <= 1 or loss < 0.02
