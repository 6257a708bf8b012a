from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import make_graph
from ugcl import UGCL, Embedder, Graph, UGCLError
from ugcl.engine import Callback, TrainingState

PARAMS: dict[str, Any] = {"hidden": 8, "lr": 0.01}


def test_parameters_go_round() -> None:
    given: dict[str, Any] = {
        "method": "grace",
        "preset": "paper",
        "scope": 3,
        "readout_scope": "component",
        "epochs": 2,
        "params": PARAMS,
        "seed": 7,
        "device": "cpu",
    }
    embedder = Embedder(**given)
    assert embedder.get_params() == given
    copy = clone(embedder)
    assert copy is not embedder
    assert copy.get_params() == given
    assert copy.set_params(scope="graph", method="dgi") is copy
    assert (copy.method, copy.scope) == ("dgi", "graph")
    assert (embedder.method, embedder.scope) == ("grace", 3)
    assert Embedder().set_params(**given).get_params() == given
    assert repr(embedder).startswith("Embedder(")
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        embedder.set_params(width=3)


def test_a_clone_gives_the_same_bits_and_changed_parameters_others(graph: Graph) -> None:
    embedder = Embedder("grace", epochs=3, params=PARAMS, seed=1)
    embeddings = embedder.fit(graph).embed(graph)
    copy = clone(embedder)
    with pytest.raises(NotFittedError):
        copy.embed(graph)
    np.testing.assert_array_equal(copy.fit(graph).embed(graph), embeddings)
    assert not np.array_equal(copy.set_params(scope=3).fit(graph).embed(graph), embeddings)


@pytest.mark.parametrize("preset", ["fast", "paper", "authors"])
def test_ugcl_by_its_name_is_ugcl(preset: str, graph: Graph) -> None:
    named = Embedder("ugcl", preset, scope=2, readout_scope=3, epochs=4, params=PARAMS, seed=5).fit(
        graph
    )
    own = UGCL(preset, scope=2, readout_scope=3, epochs=4, **PARAMS, seed=5).fit(graph)
    assert named.settings_ == own.settings_
    assert named.loss_ == own.loss_
    np.testing.assert_array_equal(named.embed(graph), own.embed(graph))


def test_ugcl_is_the_default_method_and_fast_the_default_preset(graph: Graph) -> None:
    assert Embedder(epochs=0).fit(graph).settings_ == UGCL("fast", epochs=0).fit(graph).settings_


def test_settings_may_be_arguments_or_stand_in_params(graph: Graph) -> None:
    named = Embedder("bgrl", scope=1, readout_scope=2, epochs=3, params=PARAMS)
    listed = Embedder("bgrl", params=PARAMS | {"scope": 1, "readout_scope": 2, "epochs": 3})
    assert named.fit(graph).settings_ == listed.fit(graph).settings_
    np.testing.assert_array_equal(named.embed(graph), listed.embed(graph))


def test_fitting_leaves_the_parameters_as_they_are_and_tells_what_it_did(graph: Graph) -> None:
    params = dict(PARAMS)
    embedder = Embedder("dgi", scope="auto", epochs=3, params=params)
    seen: list[float | None] = []

    class Watch(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            seen.append(state.loss)

    assert embedder.fit(graph, callbacks=[Watch()]) is embedder
    assert (embedder.scope, embedder.params, params) == ("auto", PARAMS, PARAMS)
    assert embedder.loss_ == seen
    assert len(seen) == 3
    assert embedder.n_features_in_ == graph.num_features
    assert embedder.scope_choice_ is not None
    values = embedder.settings_.values()
    assert (values["scope"], values["readout_scope"]) == (embedder.scope_choice_.n, 0)
    assert Embedder("dgi", epochs=0).fit(graph).scope_choice_ is None


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (Embedder("grcae"), r"^there is no method called 'grcae'; did you mean 'grace'\?$"),
        (Embedder("zzz"), r"^there is no method called 'zzz'; there are: ugcl, .*raw, smooth$"),
        (
            Embedder("dgi", "author"),
            r"^there is no preset called 'author'; there are: fast, paper$",
        ),
        (
            Embedder("dgi", params={"temperature": 0.5}),
            r"^there is no setting 'temperature': the settings are epochs, .*self_loops$",
        ),
        (Embedder("dgi", params={"seed": 1}), r"^there is no setting 'seed': the settings are "),
        (
            Embedder("grace", scope=3, params={"scope": 3}),
            r"^scope is set twice, once in params: set it once$",
        ),
        (
            Embedder("grace", epochs=3, params={"epochs": 4}),
            r"^epochs is set twice, once in params: set it once$",
        ),
        (Embedder("grace", scope="far"), r"^`scope` must be an integer .* not 'far'$"),
        (
            Embedder("grace", params={"negatives": 40}),
            r"^`negatives` 40 is more than the 39 other nodes of this graph",
        ),
        (Embedder("grace", seed=-1), r"^`seed` must be an integer of at least 0, not -1$"),
        (Embedder("grace", device="tpu"), r"^there is no device 'tpu': use auto, cpu or cuda$"),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(
    embedder: Embedder, message: str, graph: Graph
) -> None:
    with pytest.raises(UGCLError, match=message):
        embedder.fit(graph)


def test_fit_takes_a_graph() -> None:
    with pytest.raises(UGCLError, match=r"^fit takes a Graph, not ndarray: see Graph.from_edges$"):
        Embedder("dgi").fit(np.eye(3))


@pytest.mark.parametrize("kind", [Embedder, UGCL])
def test_an_estimator_that_was_not_trained_says_so_by_its_name(
    kind: type[Embedder], graph: Graph
) -> None:
    message = rf"^this {kind.__name__} is not fitted: call fit\(graph\) first$"
    with pytest.raises(NotFittedError, match=message):
        kind().embed(graph)


def test_another_graph_must_have_the_same_features(graph: Graph) -> None:
    embedder = Embedder("grace", epochs=1, params=PARAMS).fit(graph)
    assert embedder.embed(make_graph(25, seed=9)).shape == (25, 8)
    with pytest.raises(UGCLError, match=r"^the graph has 5 features but training saw 12: pass a"):
        embedder.embed(make_graph(25, num_features=5))


def test_what_is_no_name_and_no_mapping_is_told_in_a_sentence(graph: Graph) -> None:
    with pytest.raises(UGCLError, match="there is no method called '3'"):
        Embedder(3).fit(graph)  # type: ignore[arg-type]
    with pytest.raises(UGCLError, match="params must be settings by name"):
        Embedder("dgi", params=[1]).fit(graph)  # type: ignore[arg-type]
