from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from conftest import make_graph
from steps import (
    model_of,
    sample_of,
)
from ugcl import Graph, load_graph
from ugcl._utils.random import numpy_generator
from ugcl.bench.naive import naive_loss
from ugcl.methods import METHODS
from ugcl.methods.models.ssl import SSLModel
from ugcl.methods.ugcl import UGCLSettings, build
from ugcl.nn import plain_formulas
from ugcl.scope import Power, WholeGraph
from ugcl.views import sample_nodes

PRESETS = tuple(METHODS["ugcl"].presets)
UGCL_FAMILY = ("ugcl", "ugcl-mean", "ugcl-smooth", "ugcl-sig", "ugcl-no-sample", "ugcl-no-power")


def settings_of(preset: str, graph: Graph, **params: Any) -> UGCLSettings:
    settings = METHODS["ugcl"].resolve(preset, graph, params)
    assert isinstance(settings, UGCLSettings)
    return settings


def scaled(features: np.ndarray, scaling: str) -> np.ndarray:
    result = features.astype(float).copy()
    for row in result:
        if scaling == "row" and row.any():
            row /= row.sum()
        if scaling == "l2" and row.any():
            row /= np.linalg.norm(row)
    return result


def naive_step(
    graph: Graph, model: SSLModel, epoch: int
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Loss and gradients of one step in dense float64: every line is a line of the paper."""
    chosen = model.settings
    assert isinstance(chosen, UGCLSettings)
    adjacency = graph.adjacency.toarray().astype(float)
    features = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    rng = numpy_generator("views", model.seed, epoch)
    nodes = sample_nodes(graph.adjacency, chosen.sample, chosen.sampling, rng)
    if chosen.normalisation == "graph":
        whole = reference.normalised_adjacency(adjacency, chosen.self_loops)
        sampled = whole[np.ix_(nodes, nodes)]
    else:
        sampled = reference.normalised_adjacency(adjacency[np.ix_(nodes, nodes)], chosen.self_loops)
    a = torch.from_numpy(sampled)
    x = torch.from_numpy(scaled(features, chosen.feature_scaling)[nodes])
    parameters = {
        name: value.detach().double().requires_grad_() for name, value in model.named_parameters()
    }

    negatives = None
    if chosen.negatives != "all":
        negatives = torch.from_numpy(rng.choice(len(nodes), chosen.negatives, False, shuffle=False))
    loss = naive_loss(a, x, parameters, chosen, negatives)
    grads = torch.autograd.grad(loss, list(parameters.values()))
    return loss, dict(zip(parameters, grads, strict=True))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_step_equals_the_naive_one(preset: str, sparse: bool, plain: bool) -> None:
    graph = make_graph(60, sparse=sparse)
    params: dict[str, Any] = {"hidden": 16, "sample": 40, "scope": 3}
    if preset == "fast":
        params["negatives"] = 10
    model = SSLModel(build, graph.num_features, settings_of(preset, graph, **params), seed=3)
    loss_of = model.loss_fn(graph, "cpu")
    for epoch in (0, 5):
        model.zero_grad()
        with plain_formulas(plain):
            loss = loss_of(epoch)
        loss.backward()
        expected, gradients = naive_step(graph, model, epoch)
        assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None
            torch.testing.assert_close(parameter.grad.double(), gradients[name], atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_a_step_on_citeseer_equals_the_naive_one(preset: str) -> None:
    graph = load_graph("citeseer")
    model = SSLModel(
        build, graph.num_features, settings_of(preset, graph, hidden=32, sample=900), 0
    )
    loss = model.loss_fn(graph, "cpu")(0)
    loss.backward()
    expected, gradients = naive_step(graph, model, 0)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad.double(), gradients[name], atol=1e-5, rtol=0)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("readout", ["sum", "mean", "concat", "hidden", "context", "context-l2"])
def test_embeddings_equal_the_formula(
    monkeypatch: pytest.MonkeyPatch, readout: str, sparse: bool
) -> None:
    monkeypatch.setattr("ugcl.nn.blocked.WIDTH", 5)
    graph = make_graph(30, sparse=sparse)
    settings = settings_of("paper", graph, hidden=12, readout=readout, scope=2, readout_scope=4)
    model = SSLModel(build, graph.num_features, settings, seed=1)
    features = graph.features.toarray() if sparse else graph.features
    a = reference.normalised_adjacency(graph.adjacency.toarray())
    weights = {name: value.detach().numpy() for name, value in model.encoder.named_parameters()}
    hidden = reference.gcn(
        a, features, weights["weight"], weights["bias"], float(weights["slope"][0])
    )
    context = np.linalg.matrix_power(a, 4) @ hidden
    expected = {
        "sum": hidden + context,
        "mean": (hidden + context) / 2,
        "concat": np.hstack([hidden, context]),
        "hidden": hidden,
        "context": context,
        "context-l2": context / np.linalg.norm(context, axis=1, keepdims=True),
    }[readout]
    embeddings = model.embed(graph, "cpu")
    assert embeddings.dtype == np.float32
    np.testing.assert_allclose(embeddings, expected, atol=1e-5)


def test_the_context_encoder_has_its_own_weights(graph: Graph) -> None:
    model = SSLModel(
        build, graph.num_features, settings_of("fast", graph, hidden=8, scope=2), seed=0
    )
    assert model.context_encoder is not None
    assert not torch.equal(model.encoder.weight, model.context_encoder.weight)


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
