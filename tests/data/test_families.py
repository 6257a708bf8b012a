from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from ugcl import Graph, UGCLError
from ugcl.data import FAMILIES, split_of, synthetic_graph
from ugcl.evaluation import linear_probe
from ugcl.scope import edge_homophily, normalised_adjacency
from ugcl.typing import Features, FeatureScaling
from ugcl.views import scale_features


def accuracy(graph: Graph, embeddings: Features) -> float:
    assert graph.labels is not None
    return linear_probe(embeddings, graph.labels, split_of(graph, "fraction", 0)[0]).accuracy


def smoothed(graph: Graph, power: int, scaling: FeatureScaling = "none") -> Features:
    adjacency = normalised_adjacency(graph.adjacency, 2)
    features = scale_features(graph.features, scaling)
    for _ in range(power):
        features = adjacency @ features
    return features


def eigenvectors(graph: Graph) -> Features:
    adjacency = normalised_adjacency(graph.adjacency, 0).astype(np.float64)
    return eigsh(adjacency, 16, v0=np.ones(graph.num_nodes))[1]


@pytest.fixture(scope="module")
def graphs() -> dict[str, Graph]:
    return {name: synthetic_graph(name, nodes=2000, seed=1) for name in FAMILIES}


@pytest.mark.parametrize(
    ("name", "homophily"),
    [
        ("homophilous", 0.6),
        ("heterophilous", 0.1),
        ("features-only", 0.2),
        ("structure-only", 0.6),
        ("noise-features", 0.6),
        ("hub-dominated", 0.5),
    ],
)
def test_homophily(name: str, homophily: float, graphs: dict[str, Graph]) -> None:
    graph = graphs[name]
    assert graph.labels is not None
    assert graph.name == name
    assert edge_homophily(graph.adjacency, graph.labels) == pytest.approx(homophily, abs=1e-3)


def test_classes_tell_where_heterophilous_edges_lead(graphs: dict[str, Graph]) -> None:
    graph = graphs["heterophilous"]
    assert graph.labels is not None
    rows, columns = graph.adjacency.nonzero()
    steps = np.bincount((graph.labels[rows] - graph.labels[columns]) % 5) / rows.size
    np.testing.assert_allclose(steps, [0.1, 0.405, 0.045, 0.045, 0.405], atol=0.01)


def test_few_hubs_have_most_edges(graphs: dict[str, Graph]) -> None:
    """Their edges are less homophilous than others; no other family has such hubs."""
    held = {}
    for name, graph in graphs.items():
        degree = np.sort(np.diff(graph.adjacency.indptr))
        held[name] = degree[-graph.num_nodes // 20 :].sum() / degree.sum()
    assert held.pop("hub-dominated") > 0.5
    assert max(held.values()) < 0.2
    graph = graphs["hub-dominated"]
    assert graph.labels is not None
    degree = np.diff(graph.adjacency.indptr)
    rows, columns = graph.adjacency.nonzero()
    same, hub = graph.labels[rows] == graph.labels[columns], degree > np.quantile(degree, 0.95)
    assert same[hub[rows]].mean() < same[~hub[rows]].mean() - 0.1


def test_features_of_noise(graphs: dict[str, Graph]) -> None:
    assert accuracy(graphs["structure-only"], graphs["structure-only"].features) < 25
    deviation = graphs["noise-features"].features.std(axis=0)
    assert (deviation < 1.2).sum() < 20
    assert deviation.max() > 500


@pytest.mark.parametrize("name", FAMILIES)
def test_the_right_information_is_good_but_not_perfect(name: str, graphs: dict[str, Graph]) -> None:
    graph = graphs[name]
    scores = {
        "x": accuracy(graph, graph.features),
        "smooth": accuracy(graph, smoothed(graph, 5)),
        "standard": accuracy(graph, smoothed(graph, 5, "standard")),
        "structure": accuracy(graph, eigenvectors(graph)),
    }
    best = {
        "homophilous": "smooth",
        "heterophilous": "structure",
        "features-only": "x",
        "structure-only": "structure",
        "noise-features": "standard",
        "hub-dominated": "smooth",
    }[name]
    assert 60 < scores[best] < 95
    wrong = {
        "homophilous": ["x"],
        "heterophilous": ["x", "smooth"],
        "features-only": ["smooth", "structure"],
        "structure-only": ["x", "smooth"],
        "noise-features": ["x", "smooth"],
        "hub-dominated": ["x", "structure"],
    }[name]
    assert max(scores[each] for each in wrong) < scores[best] - 8


@pytest.mark.parametrize("name", FAMILIES)
def test_graphs_depend_on_the_arguments_alone(name: str) -> None:
    one, same, other = (synthetic_graph(name, nodes=300, seed=seed) for seed in (1, 1, 2))
    assert one.fingerprint == same.fingerprint != other.fingerprint
    np.testing.assert_array_equal(one.labels, same.labels)


def test_parameters_of_a_family_can_be_changed() -> None:
    graph = synthetic_graph("features-only", nodes=400, classes=4, degree=20, features=7)
    assert graph.labels is not None
    assert (graph.num_classes, graph.num_edges, graph.num_features) == (4, 4000, 7)
    assert edge_homophily(graph.adjacency, graph.labels) == 0.25


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(
        UGCLError, match=r"^there is no family of graphs called 'homophilious'; did"
    ):
        synthetic_graph("homophilious", nodes=100)
    with pytest.raises(UGCLError, match="there are: homophilous, heterophilous, features-only, "):
        synthetic_graph("x", nodes=100)
