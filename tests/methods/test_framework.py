"""Section IV of the paper: GRACE, GMI, DGI and MVGRL as one framework with different scopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch.nn import functional

import reference
from conftest import make_graph
from steps import (
    Recorder,
    assert_equals_an_independent_step,
    augmented,
    bound_views,
    build_of,
    connected,
    convolution,
    edges_left,
    gcn,
    grace_loss,
    model_of,
    recorded,
    sample_of,
    scaled_features,
    settings_of,
)
from ugcl import Graph, UGCLError
from ugcl.engine import Callback, Trainer, TrainingState
from ugcl.methods import METHODS
from ugcl.methods.bgrl import BGRLSettings
from ugcl.methods.models.ssl import SSLModel
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


def component_limit(edges: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """sqrt(d_i) sum_j sqrt(d_j) h_j / sum_j d_j over j in i's component, d counting self-loops."""
    degree = edges.sum(axis=1) + 1
    _, labels = connected_components(edges)
    rows = np.empty_like(hidden)
    for i in range(len(edges)):
        same = labels == labels[i]
        root = np.sqrt(degree[same])
        rows[i] = np.sqrt(degree[i]) * (root @ hidden[same]) / degree[same].sum()
    return rows


# Equation 6: MI(H, A^n H).


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
    nodes = sample_nodes(graph.adjacency, 25, settings.sampling, np.random.default_rng([3, 0]))
    edges = graph.adjacency.toarray().astype(float)[np.ix_(nodes, nodes)]
    a = reference.normalised_adjacency(edges)
    x = scaled_features(graph, settings)[nodes]
    walk = (np.eye(25) + a) / 2 if context == "lazy" else a
    np.testing.assert_allclose(patch, gcn(model.encoder, a, x), atol=1e-5)
    hidden = gcn(model.context_encoder or model.encoder, a, x)
    np.testing.assert_allclose(contexts, np.linalg.matrix_power(walk, n) @ hidden, atol=1e-5)
    assert recorder.negatives == [None]


# Equation 7, GRACE: MI(H of view 1, A^0 H of view 2).


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("activation", ["relu", "prelu"])
def test_equation_7_graces_step_equals_an_independent_grace(activation: str, sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    model = model_of("grace", graph, hidden=8, projector=5, activation=activation)
    assert model.scope == Power(0)
    sample, rng = sample_of(model, graph, 4)
    same_views = augmented(sample, torch.from_numpy(scaled_features(graph, model.settings)))
    temperature = model.settings.temperature
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: grace_loss(parameters, same_views, activation, temperature),
    )


def test_equation_7_each_views_context_is_the_other_view() -> None:
    graph = make_graph()
    settings = settings_of("grace", graph, hidden=6)
    model, sample, recorder = recorded("grace", graph, settings)
    first, second = (model.encoder(view).detach() for view in sample.views)
    assert not torch.allclose(first, second, atol=1e-3)
    (one, other) = recorder.pairs
    torch.testing.assert_close((*one, *other), (first, second, second, first))


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


# Equation 8, GMI: MI(H, A X).


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
        nodes = sample_nodes(graph.adjacency, 25, "random", np.random.default_rng([3, 0]))
    edges = graph.adjacency.toarray().astype(float)[np.ix_(nodes, nodes)]
    a, x = reference.normalised_adjacency(edges), graph.features.toarray()[nodes]
    ((patch, context),) = recorder.pairs
    np.testing.assert_allclose(context, a @ x, atol=1e-6)
    np.testing.assert_allclose(patch, gcn(model.encoder, a, x), atol=1e-5)


# Equation 9, DGI: MI(H, A^inf H).


def dgi_loss(
    parameters: dict[str, torch.Tensor],
    a: torch.Tensor,
    x: torch.Tensor,
    shuffled: torch.Tensor,
    summary_of: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """DGI as in the authors' code: a convolution, a readout, logits of real and shuffled nodes."""
    real, fake = (convolution(parameters, a, features) for features in (x, shuffled))
    summary = torch.sigmoid(summary_of(real))
    weight, bias = parameters["loss.weight"], parameters["loss.bias"]
    logits = torch.cat([((h @ weight) * summary).sum(dim=1) + bias for h in (real, fake)])
    labels = torch.cat([torch.ones(len(x)), torch.zeros(len(x))]).double()
    return functional.binary_cross_entropy_with_logits(logits, labels)


def mean_pooling(hidden: torch.Tensor) -> torch.Tensor:
    return hidden.mean(dim=0)


def assert_equals_dgi(
    graph: Graph, scope: str, summary_of: Callable[[torch.Tensor], torch.Tensor]
) -> float:
    """Compare the step with an independent DGI and return the loss."""
    model = model_of("dgi", graph, hidden=8, scope=scope, feature_scaling="none")
    with torch.no_grad():  # at the start the discriminator hardly sees the summary
        model.loss.weight.mul_(5)
    views = bound_views(model, graph)
    x = scaled_features(graph, model.settings)
    order = np.random.default_rng([3, 2]).permutation(graph.num_nodes)
    a = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    dense_parts = [torch.from_numpy(part) for part in (a, x, x[order])]
    rng = model.rng(2)
    loss = model.step_loss(views.sample(rng), rng)
    assert_equals_an_independent_step(
        model, loss, lambda parameters: dgi_loss(parameters, *dense_parts, summary_of)
    )
    return loss.item()


@pytest.mark.parametrize("sparse", [True, False])
def test_equation_9_dgis_step_equals_an_independent_dgi(sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    assert settings_of("dgi", graph).scope == "graph"
    assert_equals_dgi(graph, "graph", mean_pooling)


@pytest.mark.parametrize("regular", [True, False])
def test_equation_9_the_infinite_power_weighs_nodes_by_square_roots_of_degrees(
    regular: bool,
) -> None:
    graph = connected(regular)
    settings = settings_of("dgi", graph, hidden=6, scope="component")
    _, sample, recorder = recorded("dgi", graph, settings)
    ((patch, context),) = recorder.pairs
    hidden, mean = patch.double().numpy(), patch.double().numpy().mean(axis=0)
    degree = graph.adjacency.toarray().astype(float).sum(axis=1) + 1
    root = np.sqrt(degree)
    expected = np.outer(root, root @ hidden / degree.sum())
    np.testing.assert_allclose(context, expected, atol=1e-6)
    a = reference.normalised_adjacency(graph.adjacency.toarray().astype(float))
    np.testing.assert_allclose(context, np.linalg.matrix_power(a, 10_000) @ hidden, atol=1e-6)
    apart = np.abs(context.numpy() - mean).max() / np.abs(mean).max()
    assert apart < 1e-5 if regular else apart > 0.3
    # Without the square roots on either side nothing but mean pooling is left.
    roots = torch.from_numpy(root).float()[:, None]
    (view,) = sample.views
    undone = Component().on(view.propagation)(patch / roots) / roots * degree.mean()
    np.testing.assert_allclose(undone, np.tile(mean, (24, 1)), atol=1e-6)


def test_equation_9_on_a_regular_connected_graph_the_component_is_mean_pooling() -> None:
    graph = connected(regular=True)
    of_component = assert_equals_dgi(graph, "component", mean_pooling)
    assert of_component == pytest.approx(assert_equals_dgi(graph, "graph", mean_pooling), abs=1e-6)


def test_equation_9_on_another_connected_graph_it_is_pooling_by_square_roots_of_degrees() -> None:
    graph = connected(regular=False)
    root = torch.from_numpy(np.sqrt(graph.adjacency.toarray().sum(axis=1).astype(float) + 1))

    def pooled(hidden: torch.Tensor) -> torch.Tensor:
        return torch.outer(root, root @ hidden / (root**2).sum())

    of_component = assert_equals_dgi(graph, "component", pooled)
    assert abs(of_component - assert_equals_dgi(graph, "graph", mean_pooling)) > 1e-4


# Equation 10, MVGRL: MI(H of view 1, A^inf H of view 2).


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


# BGRL: schedules and the target.


def bgrl_settings(graph: Graph, **params: Any) -> BGRLSettings:
    settings = settings_of("bgrl", graph, **params)
    assert isinstance(settings, BGRLSettings)
    return settings


@pytest.mark.parametrize("params", [{}, {"epochs": 50, "momentum": 0.9}])
def test_bgrls_momentum_goes_from_its_setting_towards_1(params: dict[str, Any]) -> None:
    """As published, from 99 percent on."""
    settings = bgrl_settings(make_graph(), **params)
    start = params.get("momentum", 0.99)
    momentum = SSLModel(build_of("bgrl"), 12, settings, seed=3).momentum
    assert momentum is not None
    values = [momentum(epoch) for epoch in range(settings.epochs)]
    assert values[0] == pytest.approx(start)
    assert values[settings.epochs // 2] == pytest.approx((1 + start) / 2)
    assert 0.999 < values[-1] < 1
    assert (np.diff(values) > 0).all()


def test_bgrls_learning_rate_warms_up_and_falls_by_half_a_cosine() -> None:
    settings = bgrl_settings(make_graph(), epochs=110, warmup=10, lr=0.5)
    rates = np.array([settings.lr_at(epoch) for epoch in range(110)])
    np.testing.assert_allclose(rates[:10], 0.05 * np.arange(1, 11))
    assert rates[10] == pytest.approx(0.5)
    assert rates[10 + 25] == pytest.approx(0.5 * (1 + np.sqrt(0.5)) / 2)
    assert rates[10 + 50] == pytest.approx(0.25)
    assert (np.diff(rates[10:]) < 0).all()
    assert 0 < rates[-1] < 0.001


@pytest.mark.parametrize("params", [{"warmup": 0}, {"warmup": 3}, {"warmup": 2}, {"warmup": 10}])
def test_bgrls_learning_rate_is_above_0_in_every_epoch(params: dict[str, int]) -> None:
    settings = bgrl_settings(make_graph(), epochs=3, lr=0.5, **params)
    assert all(0 < settings.lr_at(epoch) <= 0.5 for epoch in range(3))


def parameters_of(encoder: torch.nn.Module | None) -> list[torch.Tensor]:
    assert encoder is not None
    return [value.detach().clone() for value in encoder.parameters()]


def test_bgrls_target_is_a_moving_average_of_the_encoder() -> None:
    graph = make_graph()
    settings = bgrl_settings(
        graph, hidden=4, predictor=6, epochs=4, warmup=1, lr=0.05, momentum=0.6
    )
    trainer = Trainer("bgrl", graph, settings=settings, seed=3, device="cpu")
    model = trainer.model
    assert isinstance(model, SSLModel)
    averages = parameters_of(model.context_encoder)
    for average, value in zip(averages[:2], parameters_of(model.encoder)[:2], strict=True):
        assert not torch.equal(average, value)  # it starts from weights of its own
    momenta = []

    class Check(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            kept = 1 - 0.4 * (1 + np.cos(np.pi * len(momenta) / 4)) / 2
            values = parameters_of(model.encoder)
            averages[:] = [kept * a + (1 - kept) * v for a, v in zip(averages, values, strict=True)]
            momenta.append(kept)
            torch.testing.assert_close(parameters_of(model.context_encoder), averages)

    trainer.run([Check()])
    assert len(momenta) == 4
    assert momenta[0] == pytest.approx(0.6)


def test_bgrls_target_is_not_trained_by_the_optimizer() -> None:
    graph = make_graph()
    settings = bgrl_settings(graph, hidden=4, predictor=6, lr=0.05)
    trainer = Trainer("bgrl", graph, settings=settings, seed=3, device="cpu")
    model, optimizer = trainer.model, trainer.state.optimizer
    assert isinstance(model, SSLModel)
    assert model.context_encoder is not None
    assert optimizer is not None
    trained = {id(value) for group in optimizer.param_groups for value in group["params"]}
    assert trained == {
        id(value) for part in (model.encoder, model.loss) for value in part.parameters()
    }
    before = parameters_of(model.encoder), parameters_of(model.context_encoder)
    model.loss_fn(graph, "cpu")(0).backward()
    optimizer.step()
    assert all(value.grad is None for value in model.context_encoder.parameters())
    torch.testing.assert_close(parameters_of(model.context_encoder), before[1], rtol=0, atol=0)
    assert not torch.equal(parameters_of(model.encoder)[0], before[0][0])


def test_bgrls_contexts_are_the_targets_representations_of_the_other_view() -> None:
    graph = make_graph()
    settings = bgrl_settings(graph, hidden=4, predictor=6)
    model, sample, recorder = recorded("bgrl", graph, settings)
    assert model.context_encoder is not None
    online, target = (
        [encoder(view).detach() for view in sample.views]
        for encoder in (model.encoder, model.context_encoder)
    )
    (one, other) = recorder.pairs
    expected = online[0], target[1], online[1], target[0]
    torch.testing.assert_close((*one, *other), expected)


def test_other_methods_have_no_moving_average() -> None:
    graph = make_graph()
    for name in ("ugcl", "grace", "dgi"):
        model = model_of(name, graph, hidden=4, scope=0)
        before = parameters_of(model)
        model.on_step_end(0)
        torch.testing.assert_close(parameters_of(model), before, rtol=0, atol=0)
        assert all(value.requires_grad for value in model.parameters())


# The ablations.


@pytest.mark.parametrize("preset", METHODS["ugcl"].presets)
@pytest.mark.parametrize("name", UGCL_FAMILY)
def test_an_ablation_differs_from_ugcl_by_its_one_change_on_every_graph(
    name: str, preset: str
) -> None:
    change = {
        "ugcl-mean": {"scope": "graph"},
        "ugcl-smooth": {"scope": 100},
        "ugcl-no-power": {"scope": 0},
        "ugcl-no-sample": {"sample": "all"},
    }.get(name, {})
    ours, theirs = METHODS[name].presets[preset], METHODS["ugcl"].presets[preset]
    assert set(ours.graphs) == set(theirs.graphs)
    for graph in ("", *theirs.graphs):
        assert ours.values(graph) == {**theirs.values(graph), **change}


def test_the_ablations_scopes() -> None:
    graph = make_graph()
    expected = {
        "ugcl-mean": WholeGraph(),
        "ugcl-smooth": Power(100),
        "ugcl-no-power": Power(0),
    }
    for name, scope in expected.items():
        model = model_of(name, graph, hidden=4)
        assert model.scope == scope
        assert model.readout_scope == scope


def test_ugcl_sig_has_no_context_encoder_and_the_other_ablations_have_one() -> None:
    graph = make_graph()
    for name in UGCL_FAMILY:
        model = model_of(name, graph, hidden=4, scope=2)
        assert (model.context_encoder is None) == (name == "ugcl-sig")
        assert any(key.startswith("context_encoder") for key in model.state_dict()) == (
            name != "ugcl-sig"
        )


@pytest.mark.parametrize("preset", METHODS["ugcl"].presets)
def test_ugcl_no_sample_sees_all_nodes(preset: str) -> None:
    size = 3100  # more than the presets sample
    nodes = np.arange(size)
    features = sp.csr_array((np.ones(size), (nodes, nodes % 7)), shape=(size, 7))
    graph = Graph.from_edges(np.stack([nodes, (nodes + 1) % size], axis=1), features)
    for name, seen in (("ugcl", 3000), ("ugcl-no-sample", size)):
        model = model_of(name, graph, preset=preset, hidden=4, scope=1)
        (view,) = sample_of(model, graph, 0)[0].views
        assert view.adjacency.shape == (seen, seen)


# The readout.


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
