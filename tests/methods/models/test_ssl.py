"""Scopes, contexts and readouts of self-supervised models: Section IV of the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

import reference
from conftest import make_graph
from steps import (
    Recorder,
    bound_views,
    build_of,
    component_limit,
    edges_left,
    gcn,
    model_of,
    recorded,
    scaled_features,
    settings_of,
)
from ugcl import Graph, UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.methods import METHODS
from ugcl.methods.parts import Parts
from ugcl.nn import Encoder
from ugcl.scope import Component, Power, WholeGraph, normalised_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.views import View, sample_nodes

UGCL_FAMILY = ("ugcl", "ugcl-mean", "ugcl-smooth", "ugcl-sig", "ugcl-no-sample", "ugcl-no-power")

OTHERS = ("grace", "dgi", "bgrl")


class RawFeatures(Encoder):
    """H = X, without parameters."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.width = num_features

    def forward(self, view: View) -> torch.Tensor:
        assert isinstance(view.features, SparseMatrix)
        return view.features.matrix.to_dense()


@pytest.mark.parametrize("context", ["power", "lazy"])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 30])
@pytest.mark.parametrize("name", ["ugcl", "ugcl-sig"])
def test_equation_6_contexts_are_powers_of_a_times_representations(
    name: str, n: int, context: str
) -> None:
    """Those of the context encoder, or of the encoder where there is none."""
    graph = make_graph()
    settings = settings_of(
        name, graph, scope=n, hidden=6, sample=25, context=context, feature_scaling="l2"
    )
    model, _, recorder = recorded(name, graph, settings)
    ((patch, contexts),) = recorder.pairs
    nodes = sample_nodes(graph.adjacency, 25, settings.sampling, numpy_generator("views", 3, 0))
    edges = graph.adjacency.toarray().astype(float)[np.ix_(nodes, nodes)]
    a = reference.normalised_adjacency(edges)
    x = scaled_features(graph, settings)[nodes]
    walk = (np.eye(25) + a) / 2 if context == "lazy" else a
    np.testing.assert_allclose(patch, gcn(model.encoder, a, x), atol=1e-5)
    hidden = gcn(model.context_encoder or model.encoder, a, x)
    np.testing.assert_allclose(contexts, np.linalg.matrix_power(walk, n) @ hidden, atol=1e-5)
    assert recorder.negatives == [None]


def test_a_method_may_have_more_than_two_views() -> None:
    graph = make_graph()
    model = model_of("grace", graph, hidden=6)
    views = bound_views(model, graph)
    sample = views.sample(model.rng(0))
    third = views.sample(model.rng(1)).views[0]
    model.loss = recorder = Recorder()
    model.step_loss(replace(sample, views=(*sample.views, third)), model.rng(0))
    first, second, third = (model.encoder(view).detach() for view in (*sample.views, third))
    expected = [(first, second), (second, third), (third, first)]
    torch.testing.assert_close(recorder.pairs, expected)


@pytest.mark.parametrize("sample", [25, "all"])
def test_equation_8_raw_features_as_representations_are_contrasted_as_a_x(
    sample: int | str,
) -> None:
    graph = Graph.from_edges(
        np.argwhere(np.triu(make_graph().adjacency.toarray())),
        sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(0), format="csr"),
    )
    settings = settings_of("ugcl", graph, scope=1, hidden=30, sample=sample)

    def build(num_features: int, settings: Any, generator: torch.Generator) -> Parts:
        parts = build_of("ugcl")(num_features, settings, generator)
        return replace(parts, context_encoder=RawFeatures(num_features))

    model, _, recorder = recorded(build, graph, settings)
    nodes = np.arange(40)
    if sample != "all":
        nodes = sample_nodes(graph.adjacency, 25, "random", numpy_generator("views", 3, 0))
    edges = graph.adjacency.toarray().astype(float)[np.ix_(nodes, nodes)]
    a, x = reference.normalised_adjacency(edges), graph.features.toarray()[nodes]
    ((patch, context),) = recorder.pairs
    np.testing.assert_allclose(context, a @ x, atol=1e-6)
    np.testing.assert_allclose(patch, gcn(model.encoder, a, x), atol=1e-5)


def test_equation_10_contexts_are_component_limits_in_the_other_view() -> None:
    graph = make_graph(classes=12)
    settings = settings_of(
        "grace", graph, hidden=6, scope="component", drop_edges_1=0.6, drop_edges_2=0.7
    )
    model, sample, recorder = recorded("grace", graph, settings)
    edges = [edges_left(view) for view in sample.views]
    assert all(1 < connected_components(left)[0] < 40 for left in edges)
    hidden = [model.encoder(view).detach().double().numpy() for view in sample.views]
    limits = [component_limit(left, rows) for left, rows in zip(edges, hidden, strict=True)]
    (first, of_second), (second, of_first) = recorder.pairs
    np.testing.assert_allclose(first, hidden[0], atol=1e-6)
    np.testing.assert_allclose(of_second, limits[1], atol=1e-5)
    np.testing.assert_allclose(second, hidden[1], atol=1e-6)
    np.testing.assert_allclose(of_first, limits[0], atol=1e-5)
    far = np.linalg.matrix_power(reference.normalised_adjacency(edges[1]), 100_000) @ hidden[1]
    np.testing.assert_allclose(of_second, far, atol=1e-5)


@pytest.mark.parametrize("scope", [0, 3, "component", "graph"])
def test_the_scope_of_the_readout_follows_that_of_training_in_the_ugcl_family(
    scope: int | str,
) -> None:
    graph = make_graph()
    for name in UGCL_FAMILY:
        for preset in METHODS[name].presets:
            assert METHODS[name].readout_follows_scope(preset)
            assert settings_of(name, graph, preset, scope=scope).readout_scope == scope
            both = settings_of(name, graph, preset, scope=scope, readout_scope=7)
            assert (both.scope, both.readout_scope) == (scope, 7)


@pytest.mark.parametrize("scope", [0, 3, "component", "graph"])
def test_the_scope_of_the_readout_stays_0_in_other_methods(scope: int | str) -> None:
    graph = make_graph()
    for name in OTHERS:
        for preset in METHODS[name].presets:
            assert not METHODS[name].readout_follows_scope(preset)
            alone = settings_of(name, graph, preset, scope=scope)
            assert (alone.scope, alone.readout_scope) == (scope, 0)
            assert settings_of(name, graph, preset, readout_scope=2).readout_scope == 2


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", ["ugcl", *OTHERS])
def test_a_mean_readout_of_scope_0_is_the_representation_bit_for_bit(
    name: str, sparse: bool
) -> None:
    graph = make_graph(sparse=sparse)
    params = {"preset": "fast", "hidden": 20, "scope": 1, "readout_scope": 0}
    model = model_of(name, graph, **params, readout="mean")
    model.loss_fn(graph, "cpu")(0)  # so that statistics and TF-IDF weights are not as they were
    bare = model_of(name, graph, **params, readout="hidden")
    bare.load_state_dict(model.state_dict())
    embeddings = model.embed(graph, "cpu")
    np.testing.assert_array_equal(embeddings, bare.embed(graph, "cpu"))
    assert model.training
    adjacency = normalised_adjacency(graph.adjacency, model.settings.self_loops)
    model.eval()
    hidden = model.encoder(View.of(adjacency, model.scaled(graph))).detach()
    np.testing.assert_allclose(embeddings, hidden, atol=1e-6)
    assert np.abs(embeddings).max() > 0.01


@pytest.mark.parametrize("scope", [3, "component", "graph"])
@pytest.mark.parametrize("readout", ["sum", "mean", "concat", "context", "context-l2"])
@pytest.mark.parametrize("name", ["ugcl", "bgrl"])
def test_embeddings_join_the_representation_and_its_context(
    name: str, readout: str, scope: int | str
) -> None:
    graph = make_graph(classes=12)
    params = {"hidden": 6, "scope": 0, "self_loops": 1.0}
    hidden = model_of(name, graph, **params, readout="hidden").embed(graph, "cpu").astype(float)
    edges = graph.adjacency.toarray().astype(float)
    a = reference.normalised_adjacency(edges)
    context = {
        3: np.linalg.matrix_power(a, 3) @ hidden,
        "component": component_limit(edges, hidden),
        "graph": np.tile(hidden.mean(axis=0), (40, 1)),
    }[scope]
    expected = {
        "sum": hidden + context,
        "mean": (hidden + context) / 2,
        "concat": np.hstack([hidden, context]),
        "context": context,
        "context-l2": context / np.linalg.norm(context, axis=1, keepdims=True),
    }[readout]
    model = model_of(name, graph, **params, readout=readout, readout_scope=scope)
    np.testing.assert_allclose(model.embed(graph, "cpu"), expected, atol=1e-5)


@pytest.mark.parametrize("scope", [0, 1, 2, 3, 7, "component", "graph"])
@pytest.mark.parametrize("name", ["ugcl", "bgrl", "mvgrl"])
def test_blocks_are_powers_and_the_context_with_rows_of_norm_1(name: str, scope: int | str) -> None:
    """`[H | A H | A^2 H | context]` without those above the scope; MVGRL has two encoders."""
    graph = make_graph(classes=12)
    params = {"hidden": 6, "scope": 0, "self_loops": 1.0}
    hidden = model_of(name, graph, **params, readout="hidden").embed(graph, "cpu").astype(float)
    edges = graph.adjacency.toarray().astype(float)
    a = reference.normalised_adjacency(edges)
    smaller = range(min(3, scope) if isinstance(scope, int) else 3)
    parts = [np.linalg.matrix_power(a, n) @ hidden for n in smaller]
    if isinstance(scope, int):
        parts.append(np.linalg.matrix_power(a, scope) @ hidden)
    elif scope == "component":
        parts.append(component_limit(edges, hidden))
    else:
        parts.append(np.tile(hidden.mean(axis=0), (40, 1)))
    expected = np.hstack([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts])
    model = model_of(name, graph, **params, readout="blocks", readout_scope=scope)
    embeddings = model.embed(graph, "cpu")
    assert embeddings.dtype == np.float32
    assert embeddings.shape == (40, 6 * {0: 1, 1: 2, 2: 3}.get(scope, 4))
    np.testing.assert_allclose(embeddings, expected, atol=1e-5)
    assert model.training


def test_blocks_of_rows_of_zeros_are_zeros() -> None:
    graph = replace(make_graph(), features=sp.csr_array((40, 12), dtype=np.float32))
    model = model_of("grace", graph, hidden=6, readout="blocks", readout_scope=3)
    for value in model.parameters():
        torch.nn.init.zeros_(value)
    np.testing.assert_array_equal(model.embed(graph, "cpu"), np.zeros((40, 24)))


def test_scopes_by_their_settings() -> None:
    graph = make_graph()
    expected = {0: Power(0), 4: Power(4), "component": Component(), "graph": WholeGraph()}
    for setting, scope in expected.items():
        assert model_of("dgi", graph, hidden=4, scope=setting).scope == scope
        assert model_of("dgi", graph, hidden=4, readout_scope=setting).readout_scope == scope


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if "readout_scope" in method.params]
)
@pytest.mark.parametrize("which", ["scope", "readout_scope"])
def test_the_component_needs_self_loops(name: str, which: str) -> None:
    with pytest.raises(UGCLError, match="needs `self_loops` above 0"):
        METHODS[name].resolve("fast", make_graph(), {which: "component", "self_loops": 0})
