"""GRACE against an independent dense version."""

from __future__ import annotations

import pytest
import torch

from conftest import make_graph
from steps import (
    assert_equals_an_independent_step,
    augmented,
    grace_loss,
    model_of,
    recorded,
    sample_of,
    scaled_features,
    settings_of,
)
from ugcl.scope import Power


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
