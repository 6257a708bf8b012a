"""MVGRL: its step and embeddings against independent dense versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from torch.nn import functional

import reference
from conftest import make_graph
from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    connected,
    convolution,
    dense,
    doubled,
    edges_of,
    featured,
    gcn,
    keep_all_entries,
    loss_of,
    model_of,
    recorded,
    sample_of,
    scaled_features,
    settings_of,
    shake,
)
from ugcl import Graph
from ugcl._utils.random import numpy_generator
from ugcl.scope import WholeGraph
from ugcl.sparse import SparseMatrix

DIFFUSIONS = ("pagerank", "heat")


def diffused(a: torch.Tensor, kind: str, neighbours: int) -> torch.Tensor:
    """alpha (I - (1 - alpha) A)^-1 or e^{-t (I - A)}: the largest entries of rows and columns."""
    walk, identity = a.numpy(), np.eye(len(a))
    of_kind = {
        "pagerank": 0.2 * np.linalg.inv(identity - 0.8 * walk),
        "heat": expm(-5 * (identity - walk)),
    }[kind]
    largest = of_kind >= np.sort(of_kind, axis=1)[:, [-min(neighbours, len(a))]]
    return torch.from_numpy(np.where(largest | largest.T, of_kind, 0))


def mvgrl_loss(
    parameters: Parameters,
    matrices: tuple[torch.Tensor, torch.Tensor],
    x: torch.Tensor,
    shuffled: torch.Tensor,
    summing: torch.Tensor,
) -> torch.Tensor:
    """MVGRL as in the authors' code: nodes and shuffled nodes with the other view's summary."""
    real, fake = (
        [
            convolution(parameters, matrix, features, encoder)
            for matrix, encoder in zip(matrices, ("encoder", "second_encoder"), strict=True)
        ]
        for features in (x, shuffled)
    )
    summaries = [torch.sigmoid(summing @ hidden) for hidden in reversed(real)]
    weight, bias = parameters["loss.weight"], parameters["loss.bias"]
    logits = [
        (hidden @ weight * summary).sum(dim=1) + bias
        for views in (real, fake)
        for hidden, summary in zip(views, summaries, strict=True)
    ]
    labels = torch.cat([torch.ones(2 * len(x)), torch.zeros(2 * len(x))]).double()
    return functional.binary_cross_entropy_with_logits(torch.cat(logits), labels)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"diffusion": "heat"},
        {"neighbours": 6},
        {"diffusion": "heat", "neighbours": 6, "scope": 2},
        {"scope": 0},
    ],
)
def test_equation_10_mvgrls_step_equals_an_independent_mvgrl(
    monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], sparse: bool
) -> None:
    keep_all_entries(monkeypatch)
    graph = featured(sparse)
    model = model_of("mvgrl", graph, hidden=8, **params)
    assert (model.scope == WholeGraph()) == ("scope" not in params)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    for view in (*sample.views, *sample.corrupted):
        assert isinstance(view.features, SparseMatrix) == sparse
    a, x = a_and_x(graph, model)
    around = diffused(a, params.get("diffusion", "pagerank"), params.get("neighbours", 128))
    order = numpy_generator("views", 3, 4).permutation(40)
    if "scope" in params:
        summing = torch.linalg.matrix_power(a, params["scope"])
    else:
        summing = torch.full((40, 40), 1 / 40).double()
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: mvgrl_loss(parameters, (a, around), x, x[order], summing),
    )


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_mvgrls_step_hardly_changes_with_the_truncated_diffusion(
    monkeypatch: pytest.MonkeyPatch, diffusion: str
) -> None:
    def loss() -> float:
        graph = featured(sparse=True)
        model = model_of("mvgrl", graph, hidden=8, diffusion=diffusion)
        shake(model)
        return loss_of(model, graph)

    truncated = loss()
    keep_all_entries(monkeypatch)
    assert truncated != loss()
    assert truncated == pytest.approx(loss(), rel=1e-3)


def mvgrl_pairs(graph: Graph, **params: Any) -> np.ndarray:
    """H of both views and the contexts each is compared with: two times two arrays."""
    settings = settings_of("mvgrl", graph, hidden=6, **params)
    model, sample, recorder = recorded("mvgrl", graph, settings)
    pairs = np.array([[rows.double().numpy() for rows in pair] for pair in recorder.pairs])
    x, encoders = scaled_features(graph, settings), (model.encoder, model.second_encoder)
    for (patch, _), view, encoder in zip(pairs, sample.views, encoders, strict=True):
        assert encoder is not None
        np.testing.assert_allclose(patch, gcn(encoder, dense(view.adjacency).numpy(), x), atol=1e-6)
    assert np.abs(pairs[0] - pairs[1]).max() > 0.01
    return pairs


@pytest.mark.parametrize("diffusion", DIFFUSIONS)
def test_equation_10_mvgrls_contexts_are_component_limits_of_the_other_view(diffusion: str) -> None:
    """Of the graph's A, also for the view of the diffusion."""
    graph = make_graph(classes=12)
    params = {"scope": "component", "diffusion": diffusion, "neighbours": 10}
    (first, of_first), (second, of_second) = mvgrl_pairs(graph, **params)
    limit = np.linalg.matrix_power(reference.normalised_adjacency(edges_of(graph)), 100_000)
    assert 1 < np.trace(limit).round() < 40  # components
    np.testing.assert_allclose(of_first, limit @ second, atol=1e-5)
    np.testing.assert_allclose(of_second, limit @ first, atol=1e-5)


def test_equation_10_as_published_they_are_the_mean_of_the_other_view() -> None:
    (first, of_first), (second, of_second) = mvgrl_pairs(make_graph(classes=12))
    np.testing.assert_allclose(of_first, np.tile(second.mean(axis=0), (40, 1)), atol=1e-6)
    np.testing.assert_allclose(of_second, np.tile(first.mean(axis=0), (40, 1)), atol=1e-6)


@pytest.mark.parametrize("regular", [True, False])
def test_equation_10_on_a_regular_connected_graph_the_two_are_the_same(regular: bool) -> None:
    graph = connected(regular)
    of_component, of_graph = (
        mvgrl_pairs(graph, scope=scope)[:, 1] for scope in ("component", "graph")
    )
    apart = np.abs(of_component - of_graph).max() / np.abs(of_graph).max()
    assert apart < 1e-5 if regular else apart > 0.3
    losses = []
    for scope in ("component", "graph"):
        model = model_of("mvgrl", graph, hidden=6, scope=scope, feature_scaling="none")
        with torch.no_grad():  # at the start the discriminator hardly sees the summary
            model.loss.get_parameter("weight").mul_(5)
        losses.append(loss_of(model, graph))
    assert abs(losses[0] - losses[1]) < 1e-6 if regular else abs(losses[0] - losses[1]) > 1e-4


def test_mvgrls_encoders_of_the_two_views_are_different_ones() -> None:
    model = model_of("mvgrl", make_graph(), hidden=6)
    assert model.second_encoder is not None
    of_first, of_second = (
        encoder.get_parameter("weight") for encoder in (model.encoder, model.second_encoder)
    )
    assert of_first.shape == of_second.shape
    assert (of_first - of_second).abs().max() > 0.1


@pytest.mark.parametrize("neighbours", [1, 4])
def test_mvgrls_diffusions_are_sparse_and_not_the_same(neighbours: int) -> None:
    graph = make_graph(200)
    entries = []
    for kind in DIFFUSIONS:
        model = model_of("mvgrl", graph, hidden=4, diffusion=kind, neighbours=neighbours)
        _, second = sample_of(model, graph, 0)[0].views
        assert second.adjacency.matrix.values().numel() <= 2 * neighbours * 200
        diffusion = dense(second.adjacency)
        assert ((diffusion > 0).sum(dim=1) >= neighbours).all()
        torch.testing.assert_close(diffusion, diffusion.T, rtol=0, atol=0)
        entries.append(diffusion)
    assert (entries[0] - entries[1]).abs().max() > 0.01


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("params", [{}, {"neighbours": 6, "readout": "sum", "readout_scope": 3}])
def test_mvgrl_embeds_by_the_sum_of_both_views(
    monkeypatch: pytest.MonkeyPatch, params: dict[str, Any], sparse: bool
) -> None:
    monkeypatch.setattr("ugcl.nn.blocked.WIDTH", 5)
    keep_all_entries(monkeypatch)
    graph = featured(sparse)
    model = model_of("mvgrl", graph, hidden=12, **params)
    shake(model)
    parameters = doubled(model)
    a, x = a_and_x(graph, model)
    around = diffused(a, "pagerank", params.get("neighbours", 128))
    hidden = convolution(parameters, a, x) + convolution(parameters, around, x, "second_encoder")
    if params:
        hidden = hidden + torch.linalg.matrix_power(a, 3) @ hidden
    assert_embeds(model, graph, hidden)
