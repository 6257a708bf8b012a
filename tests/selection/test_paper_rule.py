from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ugcl import Graph, UGCLError
from ugcl.data import sbm_graph
from ugcl.scope import edge_homophily
from ugcl.selection import bound_degree, paper_rule, training_labels_rule
from ugcl.selection.paper_rule import (
    _solve,
    choose_by_homophily,
    last_dominant_n,
    training_homophily,
)


@pytest.mark.parametrize(
    ("bounds", "convention", "expected"),
    [
        ([0.8, 0.6, 0.4], "average", 2),
        ([0.5, 0.4], "average", 0),
        ([0.9, 0.8, 0.7], "average", 3),
        ([0.6, 0.497, 0.48], "average", 1),
        ([0.6, 0.497, 0.48], "paper", 2),
    ],
)
def test_the_last_n_before_the_break(bounds: list[float], convention: str, expected: int) -> None:
    assert last_dominant_n(bounds, convention) == expected  # type: ignore[arg-type]


def test_degree_conventions() -> None:
    path = sp.csr_array(np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1))
    assert bound_degree(path) == pytest.approx(1.8)
    assert bound_degree(path, sample=5) == pytest.approx(0.9)
    assert bound_degree(path, sample=5, convention="paper") == pytest.approx(0.45)
    with pytest.raises(UGCLError, match="`sample` must be from 1 to 10, the nodes, not 11"):
        bound_degree(path, sample=11)


def test_a_sample_is_sparser_and_so_holds_longer() -> None:
    graph = sbm_graph(nodes=400, degree=20, homophily=0.9, features=2)
    whole = paper_rule(graph.adjacency, graph.labels)
    sampled = paper_rule(graph.adjacency, graph.labels, sample=40)
    assert whole.n is not None
    assert sampled.n is not None
    assert sampled.n > whole.n > 0


@given(st.floats(0.0, 1.0), st.integers(2, 50))
def test_two_step_walks_are_solved_for_homophily(share: float, classes: int) -> None:
    h = 1 / classes + share * (1 - 1 / classes)
    q = h**2 + (1 - h) ** 2 / (classes - 1)
    assert _solve(q, classes, True) == pytest.approx(h, abs=1e-6)
    low = (1 - share) / classes
    q = low**2 + (1 - low) ** 2 / (classes - 1)
    assert _solve(q, classes, False) == pytest.approx(low, abs=1e-6)


@pytest.mark.parametrize(
    ("homophily", "train", "classes"),
    [(0.5, 120, 5), (0.8, 120, 5), (0.8, 600, 5), (0.05, 120, 2), (0.9, 120, 2)],
)
def test_homophily_of_training_labels_is_near_that_of_all(
    homophily: float, train: int, classes: int
) -> None:
    graph = sbm_graph(nodes=3000, degree=8, homophily=homophily, features=2, classes=classes)
    assert graph.labels is not None
    nodes = np.random.default_rng(0).choice(3000, train, replace=False)
    found = training_homophily(graph.adjacency, graph.labels, nodes)
    assert found[0] is not None
    assert found[0] == pytest.approx(homophily, abs=0.15 if train < 200 else 0.05)


def test_training_labels_alone_are_looked_at() -> None:
    graph = sbm_graph(nodes=300, degree=8, features=2)
    assert graph.labels is not None
    nodes = np.arange(100)
    others = graph.labels.copy()
    others[100:] = 0
    assert training_labels_rule(graph.adjacency, graph.labels, nodes) == training_labels_rule(
        graph.adjacency, others, nodes
    )


def test_nothing_to_go_by_is_said() -> None:
    lonely = sp.csr_array((6, 6), dtype=np.float32)
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert "0 pairs of training nodes" in training_labels_rule(lonely, labels, np.arange(4)).why
    assert training_labels_rule(lonely, labels, np.arange(4)).n is None
    assert training_labels_rule(lonely, None, None).why == "the graph has no labels"
    assert paper_rule(lonely, None).n is None
    assert "no edge connects" in paper_rule(lonely, labels).why
    assert choose_by_homophily("paper", 0.9, "somebody", lonely).n == 0


@pytest.mark.parametrize(
    ("name", "sample", "n"), [("pubmed", 7000, 10), ("amazon-computers", 10000, 2)]
)
def test_published_choices(
    name: str, sample: int, n: int, real_graph: Callable[[str], Graph]
) -> None:
    graph = real_graph(name)
    assert (
        paper_rule(graph.adjacency, graph.labels, sample=sample, convention="paper", max_n=10).n
        == n
    )
    assert edge_homophily(graph.adjacency, graph.labels) == pytest.approx(
        {"pubmed": 0.802, "amazon-computers": 0.777}[name], abs=1e-3
    )
