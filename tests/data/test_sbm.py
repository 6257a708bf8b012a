from __future__ import annotations

import re
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from ugcl import Graph, UGCLError
from ugcl.data import sbm_graph, split_of
from ugcl.data.sbm_edges import Blocks, sample_edges


def degrees(graph: Graph) -> np.ndarray:
    return np.diff(graph.adjacency.indptr)


def nearest_mean_accuracy(graph: Graph) -> float:
    assert graph.labels is not None
    means = np.stack(
        [graph.features[graph.labels == c].mean(axis=0) for c in range(graph.num_classes)]
    )
    distances = ((graph.features[:, None, :] - means[None]) ** 2).sum(axis=2)
    return float((distances.argmin(axis=1) == graph.labels).mean())


def check(graph: Graph, arguments: dict) -> None:
    """Everything that the arguments fix is as they say, found by other means."""
    nodes, edges = arguments["nodes"], round(arguments["nodes"] * arguments["degree"] / 2)
    assert graph.labels is not None
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert graph.features.shape == (nodes, arguments["features"])
    assert graph.features.dtype == np.float32
    assert connected_components(graph.adjacency)[0] == arguments["components"]
    sizes = np.bincount(graph.labels, minlength=arguments["classes"])
    assert sizes.size == arguments["classes"]
    assert sizes.max() - sizes.min() <= 1
    rows, columns = graph.adjacency.nonzero()
    inside = int((graph.labels[rows] == graph.labels[columns]).sum()) // 2
    assert inside == round(arguments["homophily"] * edges)
    assert graph.notes == ()
    assert graph.name == "sbm"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"homophily": 0.0},
        {"homophily": 0.05},
        {"homophily": 0.99},
        {"classes": 1, "homophily": 1.0},
        {"classes": 400, "homophily": 0.0, "degree": 12.0},
        {"degree": 1.995},  # a tree
        {"degree": 2.2, "degree_spread": 2.0},
        {"degree": 300.0, "homophily": 0.3, "degree_spread": 2.0},
        {"degree": 399.0, "homophily": 4 * 100 * 99 / (400 * 399)},  # the complete graph
        {"components": 7},
        {"components": 400, "degree": 0.0},
        {"components": 100, "degree": 2.0, "homophily": 0.0},
        {"features": 1},
        {"degree_spread": 0.0},
        {"classes": 8, "ring": 50.0},
        {"classes": 8, "ring": 50.0, "degree": 300.0, "homophily": 0.1},
        {"classes": 8, "ring": 2.0, "homophily": 0.1, "components": 3},
        {"degree_spread": 2.0, "hub_mixing": 2.0, "degree": 20.0},
        {"hub_mixing": 0.0},
        {"noise_features": 0.5},
        {"noise_features": 1.0},
    ],
    ids=str,
)
def test_edges_homophily_components_and_classes_are_exact(change: dict) -> None:
    arguments = {
        "nodes": 400,
        "degree": 6.0,
        "homophily": 0.7,
        "classes": 4,
        "features": 3,
        "components": 1,
    } | change
    check(sbm_graph(**arguments), arguments)


@given(
    nodes=st.integers(1, 50),
    classes=st.integers(1, 5),
    components=st.integers(1, 6),
    density=st.floats(0, 1),
    homophily=st.floats(0, 1),
    spread=st.sampled_from([0.0, 0.5, 2.0]),
    mixing=st.sampled_from([0.0, 1.0, 2.0]),
    ring=st.sampled_from([1, 100]),
    seed=st.integers(0, 100),
)
def test_whatever_is_possible_is_met(
    nodes: int,
    classes: int,
    components: int,
    density: float,
    homophily: float,
    spread: float,
    mixing: float,
    ring: float,
    seed: int,
) -> None:
    assume(max(classes, components) <= nodes)
    arguments = {
        "nodes": nodes,
        "classes": classes,
        "components": components,
        "degree": density * (nodes - 1),
        "homophily": homophily,
        "features": 2,
    }
    for _ in range(3):
        try:
            graph = sbm_graph(
                **arguments, degree_spread=spread, hub_mixing=mixing, ring=ring, seed=seed
            )
            break
        except UGCLError as error:
            low, high = possible_range(str(error))
            name = "degree" if "average degree" in str(error) else "homophily"
            arguments[name] = float(np.clip(arguments[name], low, high))
    check(graph, arguments)


def possible_range(sentence: str) -> tuple[float, float]:
    """The range that an error says is possible."""
    found = re.search(r"from ([\d.e-]+) to ([\d.e-]+),? ", sentence)
    assert found is not None
    return float(found[1]), float(found[2])


def test_links_do_not_make_hubs() -> None:
    """Nodes of a sparse graph of equal weights stay nearly Poisson when they are connected."""
    for seed in range(5):
        graph = sbm_graph(
            nodes=3000, degree=2.5, classes=1, homophily=1, features=1, degree_spread=0, seed=seed
        )
        assert degrees(graph).max() < 15


def test_is_a_function_of_the_seed() -> None:
    one, same, other = (sbm_graph(nodes=300, seed=seed) for seed in (1, 1, 2))
    assert one.fingerprint == same.fingerprint
    np.testing.assert_array_equal(one.labels, same.labels)
    assert one.fingerprint != other.fingerprint


def test_degrees_spread() -> None:
    variation = []
    for spread in (0.0, 0.5, 1.0, 2.0):
        degree = degrees(sbm_graph(nodes=3000, degree=20, features=1, degree_spread=spread))
        assert degree.mean() == 20
        variation.append(degree.std() / degree.mean())
    assert variation == sorted(variation)
    assert variation[0] == pytest.approx(20**-0.5, rel=0.1)  # Poisson
    assert variation[2] == pytest.approx((np.e - 1 + 1 / 20) ** 0.5, rel=0.2)  # and lognormal


def test_few_edges_are_moved_to_connect() -> None:
    """Of the plain model's nodes exp(-d) have no edge; here they have one, the others as ever."""
    degree = degrees(sbm_graph(nodes=20_000, degree=4, features=1, degree_spread=0))
    poisson = [0.0183, 0.0733, 0.1465, 0.1954, 0.1954, 0.1563, 0.1042, 0.0595]
    found = np.bincount(degree) / degree.size
    assert found[0] == 0
    assert found[1] == pytest.approx(poisson[0] + poisson[1], abs=0.01)
    np.testing.assert_allclose(found[2:8], poisson[2:], atol=0.01)


def test_every_pair_is_as_likely_as_its_weight() -> None:
    """Samples of one edge, against w_u w_v; the sparse and the dense way of sampling agree."""
    rng = np.random.default_rng(0)
    blocks = Blocks(
        block=np.array([0, 0, 0, 1, 1, 2, 2]),
        component=np.array([0, 0, 0, 0, 0, 1, 1]),
        weights=np.array([1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 6.0]),
    )
    nothing = np.empty(0, dtype=np.int64)
    for same, block_pairs in ((True, {(0, 0), (1, 1), (2, 2)}), (False, {(0, 1)})):
        weights = {
            u * 7 + v: float(blocks.weights[u] * blocks.weights[v])
            for u in range(7)
            for v in range(u + 1, 7)
            if (blocks.block[u], blocks.block[v]) in block_pairs
        }
        total = sum(weights.values())
        assert blocks.num_pairs(same) == len(weights)
        sampled = [int(sample_edges(blocks, nothing, 1, same, rng)[0]) for _ in range(2000)]
        for key, weight in weights.items():
            assert sampled.count(key) / 2000 == pytest.approx(weight / total, abs=0.04)
        dense = sample_edges(blocks, nothing, len(weights), same, rng)
        assert sorted(dense.tolist()) == sorted(weights)


def test_given_edges_stay() -> None:
    rng = np.random.default_rng(0)
    component = np.repeat([0, 1], 30)
    blocks = Blocks(np.repeat(np.arange(6), 10), component, rng.lognormal(size=60))
    for same in (True, False):
        given_edges = sample_edges(blocks, np.empty(0, dtype=np.int64), 40, same, rng)
        for count in (40, 80, blocks.num_pairs(same)):
            edges = sample_edges(blocks, given_edges, count, same, rng)
            assert np.unique(edges).size == edges.size == count
            assert np.isin(given_edges, edges).all()


def test_a_heavy_tail_of_weights_does_not_stop_sampling() -> None:
    """Half of all pairs are needed, and nearly all samples are of the two heaviest nodes."""
    blocks = Blocks(np.zeros(40, dtype=int), np.zeros(40, dtype=int), 10.0 ** -np.arange(40))
    rng = np.random.default_rng(0)
    edges = sample_edges(blocks, np.empty(0, dtype=np.int64), 390, True, rng)
    assert np.unique(edges).size == 390


@pytest.mark.parametrize("degree", [20.0, 90.0])  # the sparse and the dense way of sampling
def test_consecutive_classes_have_more_edges_in_a_ring(degree: float) -> None:
    graph = sbm_graph(
        nodes=600 if degree == 20 else 120, degree=degree, homophily=0, classes=6, ring=4, seed=1
    )
    assert graph.labels is not None
    rows, columns = graph.adjacency.nonzero()
    steps = (graph.labels[rows] - graph.labels[columns]) % 6
    counts = np.bincount(steps, minlength=6)
    if degree == 20:  # few of all pairs, so that the odds are those of the model
        assert (counts[1] + counts[5]) / 2 / (counts[2:5].mean()) == pytest.approx(4, rel=0.1)
    else:
        assert min(counts[1], counts[5]) > max(counts[2:5])
    assert counts[2:5].max() < 1.2 * counts[2:5].min()


def test_a_ring_of_three_classes_is_no_pattern() -> None:
    one, other = (sbm_graph(nodes=300, classes=3, ring=ring) for ring in (1, 100))
    assert one.fingerprint == other.fingerprint


def test_hub_mixing_takes_homophily_from_hubs() -> None:
    differences = []
    for mixing in (0.5, 1.0, 1.5):
        graph = sbm_graph(nodes=2000, homophily=0.5, degree_spread=1, hub_mixing=mixing, seed=1)
        assert graph.labels is not None
        rows, columns = graph.adjacency.nonzero()
        same, degree = graph.labels[rows] == graph.labels[columns], degrees(graph)
        hub = degree[rows] > np.quantile(degree, 0.9)
        differences.append(same[hub].mean() - same[~hub].mean())
    assert differences[0] > 0.1
    assert abs(differences[1]) < 0.05
    assert differences[2] < -0.1


def test_noise_features_are_noise_in_unlike_units() -> None:
    graph = sbm_graph(nodes=3000, features=40, noise_features=0.75, signal=4.0, seed=1)
    assert graph.labels is not None
    deviation, classes = graph.features.std(axis=0), range(graph.num_classes)
    means = np.stack([graph.features[graph.labels == c].mean(axis=0) for c in classes])
    informative = means.std(axis=0) / deviation > 0.15
    assert informative.sum() == pytest.approx(10, abs=2)
    assert deviation[informative].max() < 3
    assert np.median(deviation[~informative]) > 10
    assert deviation.max() == pytest.approx(1000, rel=0.5)


def test_features_separate_classes_as_the_signal_says() -> None:
    accuracy = [
        nearest_mean_accuracy(sbm_graph(nodes=2000, classes=2, features=4, signal=signal))
        for signal in (0.0, 1.0, 2.0, 4.0)
    ]
    phi = [0.5, 0.691, 0.841, 0.977]  # Phi(t/2), the best possible
    np.testing.assert_allclose(accuracy, phi, atol=0.06)
    many = sbm_graph(nodes=2000, classes=6, features=2, signal=20.0)
    assert nearest_mean_accuracy(many) > 0.5


def test_node_numbers_tell_nothing() -> None:
    graph = sbm_graph(nodes=2000, classes=4, components=2)
    assert graph.labels is not None
    halves = np.bincount(graph.labels[:1000]), np.bincount(graph.labels[1000:])
    assert np.abs(halves[0] - halves[1]).max() < 100
    assert (graph.labels[:-1] == graph.labels[1:]).mean() == pytest.approx(0.25, abs=0.05)


def test_a_split_by_the_same_seed_has_all_classes() -> None:
    for seed in (0, 1):
        graph = sbm_graph(nodes=500, seed=seed)
        assert graph.labels is not None
        split, _ = split_of(graph, "fraction", seed)
        assert np.bincount(graph.labels[split["train"]]).min() > 0


def test_twenty_thousand_nodes_take_a_moment() -> None:
    before = time.process_time()
    sbm_graph(nodes=20_000, degree=20, components=3, degree_spread=1.0)
    assert time.process_time() - before < 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": 0}, "`nodes` must be an integer from 1 to .*, not 0"),
        ({"nodes": 2.5}, "`nodes` must be an integer .*, not 2.5"),
        ({"nodes": True}, "`nodes` must be an integer .*, not True"),
        ({"nodes": 2**40}, "`nodes` must be an integer from 1 to 2,147,483,647"),
        ({"classes": 101}, "`classes` must be an integer from 1 to 100, not 101"),
        ({"components": 0}, "`components` must be an integer from 1 to 100, not 0"),
        ({"features": 0}, "`features` must be an integer from 1"),
        ({"seed": -1}, "`seed` must be an integer from 0"),
        ({"degree": -1}, "`degree` must be a number of at least 0, not -1"),
        ({"degree": "8"}, "`degree` must be a number of at least 0, not '8'"),
        ({"degree": 100}, "`degree` must be at most 99, not 100"),
        ({"degree": 1}, "have an average degree from 1.98 to 99, not 1: change `degree`"),
        ({"degree": 60, "components": 2}, "in 2 connected .* from 1.96 to 49, not 60"),
        ({"homophily": 1.1}, "`homophily` must be at most 1, not 1.1"),
        ({"homophily": float("nan")}, "`homophily` must be a number of at least 0, not nan"),
        (
            {"homophily": 1},
            "`homophily` must be from 0 to 0.992 .*, not 1: a component must be",
        ),
        ({"classes": 1}, "`homophily` must be from 1 to 1 .*, not 0.8"),
        ({"degree": 40}, "`homophily` must be from 0 to 0.475 .* two nodes have one edge at most"),
        ({"signal": -1}, "`signal` must be a number of at least 0, not -1"),
        ({"signal": float("inf")}, "`signal` must be a number of at least 0, not inf"),
        ({"signal": 1e7}, "`signal` must be at most 1e\\+06, not 1"),
        ({"degree_spread": 3}, "`degree_spread` must be at most 2, not 3"),
        ({"noise_features": 2}, "`noise_features` must be at most 1, not 2"),
        ({"hub_mixing": -1}, "`hub_mixing` must be a number of at least 0, not -1"),
        ({"ring": 0.5}, "`ring` must be a number of at least 1, not 0.5"),
        ({"ring": 101}, "`ring` must be at most 100, not 101"),
    ],
)
def test_refuses(change: dict, message: str) -> None:
    with pytest.raises(UGCLError, match=message):
        sbm_graph(**{"nodes": 100} | change)
