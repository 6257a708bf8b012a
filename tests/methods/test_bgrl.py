"""BGRL: schedules and the target network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from conftest import make_graph
from steps import (
    build_of,
    model_of,
    recorded,
    settings_of,
)
from ugcl import Graph
from ugcl.engine import Callback, Trainer, TrainingState
from ugcl.methods.bgrl import BGRLSettings
from ugcl.methods.models.ssl import SSLModel


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
