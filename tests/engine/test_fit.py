"""`fit`: settings are resolved, the scope is chosen, a model is created and trained."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import torch

from conftest import make_graph
from ugcl import Graph, UGCLError
from ugcl.engine import Callback, Trainer, TrainingState, fit, resolve_settings
from ugcl.methods import METHODS, Shape, get_method
from ugcl.methods.dgi import DGISettings

SMALL: dict[str, Any] = {
    "scope": 2,
    "hidden": 8,
    "sample": 30,
    "negatives": 10,
    "epochs": 12,
    "lr": 0.01,
}


class Count(Callback):
    """Counts calls of `on_epoch_end`."""

    epochs = 0

    def on_epoch_end(self, state: TrainingState) -> None:
        self.epochs += 1


# The result.


def test_fitted_has_the_model_the_settings_the_losses_and_how_training_ended(graph: Graph) -> None:
    fitted = fit("ugcl", graph, seed=1, device="cpu", **SMALL)
    assert fitted.method is METHODS["ugcl"]
    assert fitted.settings == METHODS["ugcl"].resolve("fast", graph, SMALL)
    assert fitted.scope_choice is None
    assert len(fitted.history.losses) == fitted.epochs == 12
    assert fitted.loss == fitted.history.losses[-1]
    assert fitted.history.validation_losses == []
    assert fitted.ended == "epochs"
    assert fitted.seconds > 0
    assert fitted.device == "cpu"
    assert fitted.shape == Shape.of(graph)
    assert fitted.seed == 1
    np.testing.assert_array_equal(fitted.embed(graph), fitted.model.embed(graph, "cpu"))
    with pytest.raises(FrozenInstanceError):
        fitted.loss = 0.0  # type: ignore[misc]


def test_a_supervised_method_has_validation_losses_and_probabilities(graph: Graph) -> None:
    fitted = fit("gcn", graph, device="cpu", hidden=8, epochs=5)
    assert len(fitted.history.losses) == len(fitted.history.validation_losses) == 5
    assert fitted.history.losses != fitted.history.validation_losses
    probabilities = fitted.predict_proba(graph)
    assert probabilities.shape == (40, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


def test_a_method_without_labels_predicts_no_classes(graph: Graph) -> None:
    fitted = fit("raw", graph)
    with pytest.raises(UGCLError, match=r"^raw predicts no classes: use a supervised method$"):
        fitted.predict_proba(graph)


def test_other_graphs_are_embedded_if_they_have_the_same_features(graph: Graph) -> None:
    fitted = fit("ugcl", graph, device="cpu", **SMALL)
    assert fitted.embed(make_graph(25, seed=9)).shape == (25, 8)
    for call in (fitted.embed, fitted.predict_proba):
        with pytest.raises(UGCLError, match="has 5 features but training saw 12"):
            call(make_graph(25, num_features=5))


def test_a_transductive_method_does_not_look_at_the_number_of_features(graph: Graph) -> None:
    fitted = fit("deepwalk", graph, epochs=1, hidden=4, walk_length=5, window=2)
    other = replace(graph, features=np.ones((40, 3), dtype=np.float32))
    with pytest.raises(UGCLError, match="deepwalk is transductive"):
        fitted.embed(other)


# Settings.


def test_settings_are_resolved_once(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    method_type = type(METHODS["ugcl"])
    resolve = method_type.resolve

    def counted(self: Any, *arguments: Any) -> Any:
        calls.append(arguments)
        return resolve(self, *arguments)

    monkeypatch.setattr(method_type, "resolve", counted)
    fitted = fit("ugcl", graph, preset="paper", device="cpu", **SMALL | {"epochs": 1})
    fitted.embed(graph)
    ((preset, of_graph, params),) = calls
    assert (preset, of_graph, params) == ("paper", graph, SMALL | {"epochs": 1})


def test_the_scope_auto_is_chosen_once(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from ugcl.engine import resolve as resolve_module

    calls = []
    resolve_scope = resolve_module.resolve_scope

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return resolve_scope(*arguments)

    monkeypatch.setattr(resolve_module, "resolve_scope", counted)
    fitted = fit("ugcl", graph, device="cpu", **SMALL | {"scope": "auto", "epochs": 1})
    assert len(calls) == 1
    assert fitted.scope_choice is not None
    settings, choice = resolve_settings("ugcl", graph, "fast", SMALL | {"scope": "auto"})
    assert fitted.settings.values()["scope"] == settings.values()["scope"]
    assert isinstance(settings.values()["scope"], int)
    assert fitted.scope_choice == choice


def test_settings_give_the_same_result_as_a_preset_and_params(graph: Graph) -> None:
    fitted = fit("grace", graph, seed=2, device="cpu", hidden=4, projector=4, epochs=3)
    again = fit("grace", graph, seed=2, device="cpu", settings=fitted.settings)
    assert again.settings is fitted.settings
    assert again.history.losses == fitted.history.losses
    np.testing.assert_array_equal(again.embed(graph), fitted.embed(graph))


def test_settings_and_params_together_are_refused(graph: Graph) -> None:
    settings = METHODS["ugcl"].resolve("fast", graph, SMALL)
    with pytest.raises(UGCLError, match="pass either `settings` or single values, not both"):
        fit("ugcl", graph, settings=settings, epochs=3)


def test_settings_are_checked_against_the_graph_and_the_method(graph: Graph) -> None:
    settings = METHODS["dgi"].resolve("fast", graph, {"hidden": 4})
    assert isinstance(settings, DGISettings)
    with pytest.raises(UGCLError, match="has no edges"):
        fit("dgi", Graph.from_edges([], np.eye(12)), settings=settings)
    with pytest.raises(UGCLError, match=r"^grace takes GRACESettings, not DGISettings$"):
        fit("grace", graph, settings=settings)


def test_a_method_can_be_given_as_an_object(graph: Graph) -> None:
    named, given = (
        fit(method, graph, device="cpu", **SMALL) for method in ("ugcl", get_method("ugcl"))
    )
    np.testing.assert_array_equal(named.embed(graph), given.embed(graph))


def test_invalid_arguments_are_refused(graph: Graph) -> None:
    with pytest.raises(UGCLError, match="fit takes a Graph, not ndarray"):
        fit("ugcl", np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(UGCLError, match="`seed` must be an integer of at least 0, not -1"):
        fit("ugcl", graph, seed=-1, **SMALL)
    with pytest.raises(UGCLError, match="no device 'tpu'"):
        fit("ugcl", graph, device="tpu", **SMALL)
    with pytest.raises(UGCLError, match="did you mean 'ugcl'"):
        fit("uglc", graph)
    with pytest.raises(UGCLError, match="did you mean 'paper'"):
        fit("ugcl", graph, preset="papers")
    with pytest.raises(UGCLError, match="there is no setting 'width'"):
        fit("ugcl", graph, width=3)
    with pytest.raises(UGCLError, match="raw is a control and takes no training steps"):
        fit("raw", graph, epochs=3)


def test_graphs_with_nothing_to_contrast_are_refused() -> None:
    with pytest.raises(UGCLError, match="has one node"):
        fit("ugcl", Graph.from_edges([], [[1.0]]))
    with pytest.raises(UGCLError, match="has no edges"):
        fit("ugcl", Graph.from_edges([], [[1.0], [2.0]]))


@pytest.mark.parametrize("preset", ["fast", "paper", "authors"])
def test_unusual_graphs_give_finite_embeddings(preset: str) -> None:
    pairs = [[0, 1], [2, 3], [4, 5]]
    isolated = Graph.from_edges(pairs, np.random.default_rng(0).random((9, 4)))
    one_feature = Graph.from_edges(pairs, np.ones((6, 1)))
    weighted = Graph.from_edges(pairs, np.eye(6), weights=[0.1, 5, 100])
    no_features = Graph.from_edges(pairs, np.eye(6)[:, :3])
    two_nodes = Graph.from_edges([[0, 1]], np.eye(2))
    for graph in (isolated, one_feature, weighted, no_features, two_nodes):
        fitted = fit("ugcl", graph, preset=preset, device="cpu", hidden=4, epochs=5, lr=0.01)
        embeddings = fitted.embed(graph)
        assert embeddings.shape == (graph.num_nodes, 4)
        assert np.isfinite(embeddings).all()


# Training.


def test_the_loss_falls(graph: Graph) -> None:
    params: dict[str, Any] = {"hidden": 16, "sample": "all", "negatives": "all", "lr": 0.01}
    for preset in METHODS["ugcl"].presets:
        losses = fit("ugcl", graph, preset=preset, epochs=40, **params).history.losses
        assert losses[-1] < losses[0] - 0.1


def test_one_seed_gives_one_result_and_two_seeds_two(graph: Graph) -> None:
    one, again, other = (
        fit("ugcl", graph, seed=seed, device="cpu", **SMALL).embed(graph) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_labels_and_ids_are_not_used() -> None:
    plain = make_graph(labels=None, splits={})
    labelled = make_graph(ids=[f"n{i}" for i in range(40)])
    fits = [fit("ugcl", graph, device="cpu", **SMALL) for graph in (plain, labelled)]
    np.testing.assert_array_equal(*[fitted.embed(plain) for fitted in fits])


@pytest.mark.parametrize("name", ["ugcl", "grace", "bgrl", "gcn", "deepwalk"])
def test_steps_of_a_trainer_are_the_epochs_of_fit(name: str, graph: Graph) -> None:
    params = {"hidden": 8, "epochs": 4}
    trainer = Trainer(name, graph, seed=1, device="cpu", **params)
    fitted = fit(name, graph, seed=1, device="cpu", **params)
    losses = []
    for epoch in range(4):
        assert trainer.state.epoch == epoch
        losses.append(trainer.step())
    assert losses == fitted.history.losses
    if name != "gcn":  # its best weights are selected after the steps
        np.testing.assert_array_equal(trainer.model.embed(graph, "cpu"), fitted.embed(graph))


def test_the_learning_rate_of_each_epoch_is_that_of_the_settings(graph: Graph) -> None:
    params: dict[str, Any] = {"hidden": 4, "predictor": 4, "epochs": 6, "warmup": 2, "lr": 0.5}
    trainer = Trainer("bgrl", graph, device="cpu", **params)
    settings, optimizer = trainer.settings, trainer.state.optimizer
    assert optimizer is not None
    rates = []
    for _ in range(6):
        trainer.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [settings.lr_at(epoch) for epoch in range(6)]  # type: ignore[attr-defined]
    assert len(set(rates)) > 3


def test_patience_ends_training_early(graph: Graph) -> None:
    constant = {"lr": 1e-9, "sample": "all", "negatives": "all"}
    params = SMALL | {"patience": 3, "epochs": 500} | constant
    fitted = fit("ugcl", graph, device="cpu", **params)
    assert (fitted.ended, fitted.epochs) == ("patience", 4)


@pytest.mark.parametrize("name", ["ugcl", "bgrl", "gcn", "deepwalk", "vgae"])
def test_no_epochs_give_the_untrained_model(name: str, graph: Graph) -> None:
    count = Count()
    fitted = fit(name, graph, seed=4, device="cpu", callbacks=[count], hidden=8, epochs=0)
    assert (fitted.epochs, fitted.loss) == (0, None)
    assert fitted.seconds < 1
    assert fitted.history.losses == []
    assert fitted.ended == "epochs"
    assert count.epochs == 0
    untrained = METHODS[name].new_model(Shape.of(graph), fitted.settings, 4)
    untrained.fit_buffers(graph)
    np.testing.assert_array_equal(fitted.embed(graph), untrained.embed(graph, "cpu"))


def test_no_epochs_fit_the_buffers(graph: Graph) -> None:
    """IDF weights are those of the training graph, also for other graphs."""
    other = make_graph(25, seed=9)
    params: dict[str, Any] = {"epochs": 0, "hidden": 4, "scope": 1, "feature_scaling": "tfidf"}
    fitted = fit("ugcl", graph, device="cpu", **params)
    assert fitted.model.get_buffer("idf").abs().sum() > 0
    of_other = fit("ugcl", other, device="cpu", **params)
    assert not np.array_equal(fitted.embed(other), of_other.embed(other))


@pytest.mark.parametrize("name", ["raw", "smooth", "pca", "sign", "structure"])
def test_a_control_takes_no_epochs(name: str, graph: Graph) -> None:
    fitted = fit(name, graph, device="cpu")
    assert (fitted.epochs, fitted.loss, fitted.ended) == (0, None, "epochs")
    assert fitted.embed(graph).shape[0] == graph.num_nodes


def test_a_loss_that_is_not_finite_is_an_error(graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", **SMALL)
    with torch.no_grad():
        next(trainer.model.parameters()).fill_(float("nan"))
    expected = r"^the loss is nan in epoch 1: use a smaller `lr` or a larger `temperature`$"
    with pytest.raises(UGCLError, match=expected):
        trainer.run()


# What models decide for themselves.


class Calls:
    """Records the calls of `on_fit_end`, with the number of epochs that were done."""

    def __init__(self, trainer: Trainer) -> None:
        self.epochs: list[int] = []
        self.arguments: list[tuple[Graph, str]] = []
        self.trainer = trainer

    def __call__(self, graph: Graph, device: str) -> None:
        self.epochs.append(self.trainer.state.epoch)
        self.arguments.append((graph, device))


def test_a_model_may_end_training(graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", **SMALL)
    asked: list[int] = []

    def converged(epoch: int) -> bool:
        asked.append(epoch)
        return epoch == 5

    trainer.model.converged = converged  # type: ignore[method-assign]
    fitted = trainer.run()
    assert (fitted.ended, fitted.epochs) == ("converged", 5)
    assert asked == [0, 1, 2, 3, 4, 5]  # first before training, which may be a resumed one


def test_a_model_that_ends_in_the_last_epoch_has_all_epochs(graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", **SMALL)
    trainer.model.converged = lambda epoch: epoch == 12  # type: ignore[method-assign]
    assert trainer.run().ended == "epochs"


def test_most_models_never_end_training(graph: Graph) -> None:
    model = Trainer("ugcl", graph, device="cpu", **SMALL).model
    assert not any(model.converged(epoch) for epoch in (0, 10, 10_000))


@pytest.mark.parametrize("epochs", [0, 3])
def test_a_model_computes_buffers_once_after_training(epochs: int, graph: Graph) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", **SMALL | {"epochs": epochs})
    calls = Calls(trainer)
    trainer.model.on_fit_end = calls  # type: ignore[method-assign]
    trainer.run()
    assert calls.epochs == [epochs]
    assert calls.arguments == [(graph, "cpu")]


def test_a_model_computes_no_buffers_after_an_error(graph: Graph) -> None:
    class Fail(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            raise KeyboardInterrupt

    trainer = Trainer("ugcl", graph, device="cpu", **SMALL)
    calls = Calls(trainer)
    trainer.model.on_fit_end = calls  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        trainer.run([Fail()])
    assert calls.epochs == []
