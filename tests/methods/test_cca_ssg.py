"""CCA-SSG: its step and embeddings against independent dense versions."""

from __future__ import annotations

import pytest
import torch

from steps import (
    Parameters,
    a_and_x,
    assert_embeds,
    assert_equals_an_independent_step,
    augmented,
    convolutions,
    doubled,
    featured,
    model_of,
    sample_of,
    scaled_features,
    shake,
)
from ugcl.scope import Power
from ugcl.sparse import SparseMatrix

sparse_or_dense = pytest.mark.parametrize("sparse", [True, False])


def cca_ssg_loss(
    parameters: Parameters,
    views: list[tuple[torch.Tensor, torch.Tensor]],
    activations: tuple[str, ...],
    decorrelation: float,
) -> torch.Tensor:
    """CCA-SSG as in the authors' code: invariance, and decorrelation of both views."""
    standardised = []
    for a, x in views:
        hidden = convolutions(parameters, a, x, activations)
        standardised.append((hidden - hidden.mean(dim=0)) / hidden.std(dim=0))
    first, second = standardised
    loss = -(first.T @ second).trace() / len(first)
    for rows in standardised:
        apart = torch.eye(rows.shape[1]) - rows.T @ rows / len(rows)
        loss = loss + decorrelation * torch.linalg.matrix_norm(apart).square()
    return loss


@sparse_or_dense
@pytest.mark.parametrize(
    ("name", "activations", "decorrelation"),
    [("small", ("relu", "none"), 1e-3), ("citeseer", ("none",), 5e-4)],
)
def test_cca_ssgs_step_equals_an_independent_cca_ssg(
    name: str, activations: tuple[str, ...], decorrelation: float, sparse: bool
) -> None:
    """The last bias has no effect: standardising subtracts it."""
    graph = featured(sparse, name)
    model = model_of("cca-ssg", graph, hidden=8)
    assert model.scope == Power(0)
    shake(model)
    sample, rng = sample_of(model, graph, 4)
    assert isinstance(sample.views[0].features, SparseMatrix) == sparse
    views = augmented(sample, torch.from_numpy(scaled_features(graph, model.settings)))
    assert (views[0][0] - views[1][0]).abs().max() > 0.01
    assert_equals_an_independent_step(
        model,
        model.step_loss(sample, rng),
        lambda parameters: cca_ssg_loss(parameters, views, activations, decorrelation),
        without_effect=[f"encoder.biases.{len(activations) - 1}"],
    )


@sparse_or_dense
@pytest.mark.parametrize(
    ("name", "activations"), [("small", ("relu", "none")), ("citeseer", ("none",))]
)
def test_cca_ssg_embeds_by_its_encoder(
    name: str, activations: tuple[str, ...], sparse: bool
) -> None:
    """Without an activation at the end."""
    graph = featured(sparse, name)
    model = model_of("cca-ssg", graph, hidden=8)
    shake(model)
    hidden = convolutions(doubled(model), *a_and_x(graph, model), activations)
    assert hidden.min() < -0.1
    assert_embeds(model, graph, hidden)
