"""GMI: its step and embeddings against independent dense versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import reference
from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    convolution,
    convolutions,
    doubled,
    edges_of,
    featured,
    gcn,
    loss_of,
    model_of,
    recorded,
    sample_of,
    scaled_features,
    settings_of,
    shake,
)
from ugcl._utils.random import numpy_generator
from ugcl.scope import Power
from ugcl.sparse import SparseMatrix


def gmi_hidden(parameters: Parameters, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if "encoder.weight" in parameters:
        return convolution(parameters, a, x)
    return convolutions(parameters, a, x, ("prelu", "prelu"))


def gmi_feature_term(
    parameters: Parameters, a: torch.Tensor, x: torch.Tensor, negatives: torch.Tensor
) -> torch.Tensor:
    """GMI's discriminator between patches and neighbours' features, h^T W^T (A X)_v."""
    patch, context = gmi_hidden(parameters, a, x), a @ x
    scores = torch.sigmoid(patch @ parameters["context_encoder.weight"].T @ context.T)
    return (
        functional.softplus(-scores.diag()).mean()
        + functional.softplus(scores.gather(1, negatives)).mean()
    )


def gmi_edge_term(hidden: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """A + I against all pairs of patches; edges weigh as much as all other pairs."""
    target = edges + torch.eye(len(edges))
    positives = target.sum() / 2
    others = target.numel() - positives
    return (
        functional.binary_cross_entropy_with_logits(
            hidden @ hidden.T, target, pos_weight=others / positives, reduction="sum"
        )
        / others
    )


def other_nodes(count: int, epoch: int, size: int = 40) -> torch.Tensor:
    """`count` random other nodes for each node, as the epoch samples them."""
    steps = numpy_generator("views", 3, epoch).integers(1, size, (size, count))
    return torch.from_numpy((np.arange(size)[:, None] + steps) % size)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("name", "layers"), [("small", 1), ("cora", 2)])
def test_equation_8_gmis_step_equals_an_independent_gmi(
    name: str, layers: int, sparse: bool
) -> None:
    graph = featured(sparse, name)
    model = model_of("gmi", graph, hidden=8)
    assert model.scope == Power(1)
    assert (model.settings.layers, model.settings.negatives) == (layers, 5)
    assert (model.settings.non_edges, model.settings.edge_weight) == ("all", 1)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    assert isinstance(sample.views[0].features, SparseMatrix) == sparse
    a, x = a_and_x(graph, model)
    edges, negatives = torch.from_numpy(edges_of(graph)), other_nodes(5, 4)
    assert (negatives != torch.arange(40)[:, None]).all()
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: (
            gmi_feature_term(parameters, a, x, negatives)
            + gmi_edge_term(gmi_hidden(parameters, a, x), edges)
        ),
    )


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_equation_8_contexts_are_powers_of_a_times_raw_features(n: int, sparse: bool) -> None:
    """Times W, which makes an inner product with a patch the bilinear discriminator."""
    graph = featured(sparse)
    settings = settings_of("gmi", graph, hidden=6, scope=n)
    model, _, recorder = recorded("gmi", graph, settings)
    ((patch, context),) = recorder.pairs
    a = reference.normalised_adjacency(edges_of(graph))
    x = scaled_features(graph, settings)
    assert model.context_encoder is not None
    ((name, weight),) = doubled(model.context_encoder).items()
    assert (name, tuple(weight.shape)) == ("weight", (30, 6))
    around = np.linalg.matrix_power(a, n) @ x
    np.testing.assert_allclose(context, around @ weight.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(patch, gcn(model.encoder, a, x), atol=1e-6)
    scores = torch.einsum("vi,ji,vj->v", patch.double(), weight, torch.from_numpy(around))
    torch.testing.assert_close((patch * context).sum(dim=1).double(), scores, atol=1e-6, rtol=0)
    assert recorder.negatives == [None]


def test_gmis_edge_term_is_added_by_its_weight() -> None:
    graph = featured(sparse=True)
    losses = []
    for weight in (0, 1, 2.5):
        model = model_of("gmi", graph, hidden=8, edge_weight=weight)
        losses.append(loss_of(model, graph))
    assert losses[1] - losses[0] > 0.1
    assert losses[2] - losses[0] == pytest.approx(2.5 * (losses[1] - losses[0]), rel=1e-5)


def test_gmi_uses_the_edges_in_its_edge_term_alone() -> None:
    graph = featured(sparse=True)
    others = torch.tensor([0, 1]), torch.tensor([5, 9])
    for weight, edges in ((0, None), (1, others)):
        model = model_of("gmi", graph, hidden=8, edge_weight=weight)
        sample, rng = sample_of(model, graph, 0)
        loss = model.step_loss(replace(sample, edges=edges), rng).item()
        assert (loss == loss_of(model, graph)) == (weight == 0)


@pytest.mark.parametrize("params", [{"negatives": 3}, {"non_edges": 3}])
def test_gmis_loss_of_all_nodes_is_the_mean_over_samples_of_a_few(params: dict[str, int]) -> None:
    graph = featured(sparse=True)
    everything: dict[str, Any] = {"hidden": 8, "negatives": "all", "non_edges": "all"}
    whole, few = (model_of("gmi", graph, **everything | more) for more in ({}, params))
    for model in (whole, few):
        shake(model, by=0.5)
    assert loss_of(whole, graph, 0) == loss_of(whole, graph, 1)
    loss_fn = few.loss_fn(graph, "cpu")
    with torch.no_grad():
        losses = [loss_fn(epoch).item() for epoch in range(600)]
    noise = np.std(losses) / np.sqrt(len(losses))
    assert 0 < noise < 0.003
    assert np.mean(losses) == pytest.approx(loss_of(whole, graph), abs=4 * noise)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", ["small", "cora"])
def test_gmi_embeds_by_its_encoder(name: str, sparse: bool) -> None:
    graph = featured(sparse, name)
    model = model_of("gmi", graph, hidden=8)
    shake(model)
    assert_embeds(model, graph, gmi_hidden(doubled(model), *a_and_x(graph, model)))
