"""GGD: its step and embeddings against independent dense versions."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    convolution,
    doubled,
    featured,
    model_of,
    sample_of,
    shake,
)
from ugcl._utils.random import numpy_generator
from ugcl.scope import Power
from ugcl.sparse import SparseMatrix

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])


def ggd_loss(
    parameters: Parameters,
    a: torch.Tensor,
    x: torch.Tensor,
    shuffled: torch.Tensor,
    scope: int,
) -> torch.Tensor:
    """GGD as in the authors' code: the sum of the entries of a projection, and a sigmoid."""
    logits = []
    for features in (x, shuffled):
        contexts = torch.linalg.matrix_power(a, scope) @ convolution(parameters, a, features)
        projected = functional.linear(contexts, parameters["loss.weight"], parameters["loss.bias"])
        logits.append(projected.sum(dim=1))
    labels = torch.cat([torch.ones(len(x)), torch.zeros(len(x))]).double()
    return functional.binary_cross_entropy_with_logits(torch.cat(logits), labels)


@sparse_or_dense
@pytest.mark.parametrize("scope", [0, 3])
def test_ggds_step_equals_an_independent_ggd(scope: int, sparse: bool) -> None:
    graph = featured(sparse)
    assert model_of("ggd", graph, hidden=8).scope == Power(0)
    model = model_of("ggd", graph, hidden=8, scope=scope)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    for view in (*sample.views, *sample.corrupted):
        assert isinstance(view.features, SparseMatrix) == sparse
    again = numpy_generator("views", 3, 4)
    order, kept = again.permutation(40), torch.from_numpy(again.random(30) >= 0.2)
    assert 0 < kept.sum() < 30
    a, x = a_and_x(graph, model)
    masked = x * kept
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: ggd_loss(parameters, a, masked, masked[order], scope),
    )


@sparse_or_dense
@pytest.mark.parametrize(("name", "n"), [("small", 5), ("citeseer", None), ("amazon-photo", 10)])
def test_ggd_embeds_by_its_encoder_and_a_power(name: str, n: int | None, sparse: bool) -> None:
    """Without the power on CiteSeer."""
    graph = featured(sparse, name)
    model = model_of("ggd", graph, hidden=8)
    shake(model)
    a, x = a_and_x(graph, model)
    hidden = convolution(doubled(model), a, x)
    if n is not None:
        hidden = hidden + torch.linalg.matrix_power(a, n) @ hidden
    assert_embeds(model, graph, hidden)
