"""The contract of view samplers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from conftest import make_graph
from ugcl import Graph
from ugcl.scope import normalised_adjacency
from ugcl.typing import CSRMatrix, Device, Features
from ugcl.views import (
    AdaptiveAugmentation,
    Corruption,
    DiffusionViews,
    FullGraph,
    RandomAugmentation,
    Sample,
    SubgraphSampler,
    Subsampler,
    View,
    ViewSampler,
)
from view_helpers import dense, random_hidden

SAMPLERS: dict[str, Callable[[], ViewSampler]] = {
    "full graph": lambda: FullGraph(2.0),
    "corruption": lambda: Corruption(self_loops=2.0, mask_features=0.3),
    "diffusion": lambda: DiffusionViews(
        kind="pagerank", teleport=0.2, heat_time=3.0, neighbours=8, self_loops=2.0
    ),
    "augmentation": lambda: RandomAugmentation(
        drop_edges=(0.3, 0.4), mask_features=(0.2, 0.3), self_loops=2.0
    ),
    "adaptive": lambda: AdaptiveAugmentation(
        kind="degree",
        drop_edges=(0.3, 0.4),
        mask_features=(0.2, 0.3),
        max_drop=0.7,
        self_loops=2.0,
    ),
    "subsampling": lambda: Subsampler(
        size=15, sampling="random", normalisation="subgraph", self_loops=2.0
    ),
    "sliced": lambda: Subsampler(
        size=15, sampling="ball", normalisation="graph", self_loops=2.0, context="lazy"
    ),
    "all nodes": lambda: Subsampler(
        size="all", sampling="random", normalisation="graph", self_loops=2.0
    ),
    "subgraphs": lambda: SubgraphSampler(count=9, size=5, teleport=0.15, self_loops=2.0),
}
EVERY = pytest.mark.parametrize("sampler", [make() for make in SAMPLERS.values()], ids=SAMPLERS)


def bound(sampler: ViewSampler, graph: Graph) -> ViewSampler:
    return sampler.bind(graph.adjacency, graph.features)


def content(sample: Sample) -> list[np.ndarray]:
    """All that encoders see of a sample, as arrays."""
    weight = random_hidden(12)
    arrays = []
    for view in (*sample.views, *sample.corrupted):
        arrays += [dense(view.adjacency), dense(view.propagation), view.convolve(weight).numpy()]
    return arrays + [ends.numpy() for ends in sample.edges or ()]


def assert_same(one: Sample, other: Sample) -> None:
    for first, second in zip(content(one), content(other), strict=True):
        np.testing.assert_array_equal(first, second)


def is_same(one: Sample, other: Sample) -> bool:
    pairs = zip(content(one), content(other), strict=True)
    return all(first.shape == second.shape and (first == second).all() for first, second in pairs)


@EVERY
def test_bind_returns_a_copy_and_leaves_the_sampler_unbound(sampler: ViewSampler) -> None:
    before = dict(vars(sampler))
    copy = bound(sampler, make_graph(30))
    assert copy is not sampler
    assert type(copy) is type(sampler)
    assert vars(sampler) == before
    assert {name: vars(copy)[name] for name in before} == before
    with pytest.raises(AttributeError):
        sampler.sample(np.random.default_rng(0))


@EVERY
def test_samplers_bound_to_two_graphs_do_not_affect_each_other(sampler: ViewSampler) -> None:
    first_graph, second_graph = make_graph(30), make_graph(24, seed=1)
    first = bound(sampler, first_graph)
    alone = first.sample(np.random.default_rng(0))
    second = bound(sampler, second_graph)
    assert not is_same(second.sample(np.random.default_rng(0)), alone)
    assert_same(first.sample(np.random.default_rng(0)), alone)
    again = bound(second, first_graph)  # binding a bound sampler replaces its graph
    assert_same(again.sample(np.random.default_rng(0)), alone)
    assert not is_same(second.sample(np.random.default_rng(0)), alone)


@EVERY
def test_a_sample_is_a_function_of_the_random_generator_alone(sampler: ViewSampler) -> None:
    views = bound(sampler, make_graph(30))
    expected = views.sample(np.random.default_rng(7))
    others = [views.sample(np.random.default_rng(seed)) for seed in range(3)]
    assert_same(views.sample(np.random.default_rng(7)), expected)
    assert_same(bound(sampler, make_graph(30)).sample(np.random.default_rng(7)), expected)
    fixed = isinstance(sampler, FullGraph) or getattr(sampler, "size", None) == "all"
    assert all(is_same(other, expected) for other in others) == fixed


@EVERY
def test_sampling_does_not_change_the_graph(sampler: ViewSampler) -> None:
    graph = make_graph(30)
    adjacency, features = graph.adjacency.copy(), graph.features.copy()
    views = bound(sampler, graph)
    for seed in range(3):
        views.sample(np.random.default_rng(seed))
    for before, after in ((adjacency, graph.adjacency), (features, graph.features)):
        np.testing.assert_array_equal(before.data, after.data)
        np.testing.assert_array_equal(before.indices, after.indices)
        np.testing.assert_array_equal(before.indptr, after.indptr)


@EVERY
def test_corrupted_views_are_none_or_one_for_each_view(sampler: ViewSampler) -> None:
    sample = bound(sampler, make_graph(30)).sample(np.random.default_rng(0))
    expected = len(sample.views) if isinstance(sampler, Corruption) else 0
    assert len(sample.corrupted) == expected
    assert (sample.edges is not None) == isinstance(sampler, FullGraph)


@EVERY
@pytest.mark.parametrize("sparse", [True, False])
def test_views_for_inference_need_no_bound_graph_and_have_all_nodes(
    sampler: ViewSampler, sparse: bool
) -> None:
    graph = make_graph(30, sparse=sparse)
    views = sampler.inference_views(graph.adjacency, graph.features, "cpu")
    assert len(views) == (2 if isinstance(sampler, DiffusionViews) else 1)
    for view in views:
        assert view.convolve(random_hidden(12)).shape == (30, 5)
        assert view.anchors is None
        assert view.feature_mask is None


def test_by_default_the_graph_itself_is_embedded() -> None:
    class Nothing(ViewSampler):
        self_loops = 3.0

        def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
            pass

        def sample(self, rng: np.random.Generator) -> Sample:
            return Sample(())

    graph = make_graph(30)
    (view,) = Nothing().inference_views(graph.adjacency, graph.features, "cpu")
    expected = View.of(normalised_adjacency(graph.adjacency, 3.0), graph.features)
    np.testing.assert_array_equal(dense(view.adjacency), dense(expected.adjacency))
    torch.testing.assert_close(
        view.convolve(random_hidden(12)), expected.convolve(random_hidden(12))
    )
    assert ViewSampler.self_loops == 1.0


def test_a_sampler_has_to_define_setup_and_sample() -> None:
    with pytest.raises(TypeError, match=r"sample.*setup"):
        ViewSampler()  # type: ignore[abstract]
