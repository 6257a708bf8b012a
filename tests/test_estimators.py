"""The estimators: scikit-learn's conventions, generated parameters, saved files, errors."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr

import ugcl
from conftest import make_graph
from ugcl import (
    DGI,
    GRACE,
    UGCL,
    Classifier,
    Embedder,
    GCNClassifier,
    Graph,
    MultiScope,
    UGCLError,
)
from ugcl._utils.linalg import dense_rows
from ugcl.engine import Callback, TrainingState
from ugcl.estimators import ESTIMATORS
from ugcl.methods import METHODS, Method

TINY: dict[str, Any] = {
    **{"epochs": 2, "hidden": 8, "projector": 8, "predictor": 8, "inner": 8, "heads": 2},
    **{"sample": 30, "negatives": 10, "walk_length": 10, "window": 3},
}
SMALL = {"scope": 2, "hidden": 8, "sample": 30, "negatives": 10, "epochs": 12, "lr": 0.01}

MINE = replace(METHODS["grace"], name="mine")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Method:
    """A method that is not one of the package, registered for one test."""
    monkeypatch.setitem(METHODS, "mine", MINE)
    return MINE


def tiny(method: str, **params: Any) -> dict[str, Any]:
    """Settings of a method that keep training short."""
    return {name: value for name, value in TINY.items() if name in METHODS[method].params} | params


def new(name: str, **params: Any) -> Embedder:
    estimator: Embedder = getattr(ugcl, name)(**tiny(ESTIMATORS[name], **params))
    return estimator


every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


# One class for each method, generated from its settings.


def test_every_method_has_an_estimator() -> None:
    assert sorted(ESTIMATORS.values()) == sorted(METHODS)
    for name, method in ESTIMATORS.items():
        kind = getattr(ugcl, name)
        assert kind.method == method
        assert issubclass(kind, Embedder)
        assert issubclass(kind, Classifier) == METHODS[method].supervised


def test_the_page_on_methods_lists_every_estimator() -> None:
    page = (Path(__file__).parents[1] / "docs/methods/README.md").read_text("utf-8")
    assert [name for name in ESTIMATORS if f"`{name}`" not in page] == []


@every_estimator
def test_the_constructor_has_the_settings_of_the_method(name: str) -> None:
    method, kind = METHODS[ESTIMATORS[name]], getattr(ugcl, name)
    preset, *keywords = inspect.signature(kind).parameters.values()
    assert (preset.name, preset.default, preset.kind) == (
        *("preset", "fast"),
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    assert [each.name for each in keywords] == [*method.params, "seed", "device"]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in keywords)
    assert [each.default for each in keywords] == [None] * len(method.params) + [0, "auto"]
    assert kind().get_params() == {each.name: each.default for each in (preset, *keywords)}


@every_estimator
def test_the_docstring_has_every_parameter_with_its_meaning_and_values(name: str) -> None:
    method, kind = METHODS[ESTIMATORS[name]], getattr(ugcl, name)
    assert max(map(len, kind.__doc__.splitlines())) <= 96
    text = " ".join(kind.__doc__.split())
    assert method.paper in text
    for each, param in method.params.items():
        values = param.expected[0].upper() + param.expected[1:]
        assert f" {each}: {param.help}. {values}." in text
    for preset in method.presets:
        assert preset in text.partition(" preset: ")[2].partition(" seed: ")[0]


@every_estimator
def test_an_estimator_equals_the_method_by_name(name: str, graph: Graph) -> None:
    by_name = Classifier if METHODS[ESTIMATORS[name]].supervised else Embedder
    one, other = new(name), by_name(ESTIMATORS[name], **tiny(ESTIMATORS[name]))
    assert other.get_params() == {"method": ESTIMATORS[name]} | one.get_params()
    assert one.fit(graph).settings_ == other.fit(graph).settings_
    assert one.loss_ == other.loss_
    np.testing.assert_array_equal(*[dense_rows(each.embed(graph)) for each in (one, other)])


# scikit-learn's conventions.

GIVEN: dict[str, Any] = {
    **{"preset": "paper", "scope": 3, "readout_scope": "component", "epochs": 2},
    **{"hidden": 8, "lr": 0.01, "seed": 7, "device": "cpu"},
}


@pytest.mark.parametrize(
    ("make", "given"),
    [(Embedder, {"method": "grace"} | GIVEN), (GRACE, GIVEN)],
    ids=["Embedder", "GRACE"],
)
def test_parameters_are_stored_unchanged(
    make: Callable[..., Embedder], given: dict[str, Any]
) -> None:
    estimator = make(**given)
    params = estimator.get_params()
    assert set(params) == {*given, *METHODS["grace"].params}
    assert {name: value for name, value in params.items() if value is not None} == given
    for name in params:
        assert getattr(estimator, name) is params[name]
    copy = clone(estimator)
    assert copy is not estimator
    assert type(copy) is type(estimator)
    assert copy.get_params() == params
    assert copy.set_params(scope="graph", lr=None, hidden=9) is copy
    assert (copy.scope, copy.lr, copy.hidden, copy.epochs) == ("graph", None, 9, 2)
    assert estimator.get_params() == params
    assert pickle.loads(pickle.dumps(estimator)).get_params() == params
    assert estimator_html_repr(estimator)
    strange = np.array([1])
    assert make(**given | {"scope": strange}).scope is strange


def test_only_parameters_that_are_set_are_shown() -> None:
    assert repr(GRACE()) == "GRACE()"
    assert repr(GRACE("paper", scope=3, seed=1)) == "GRACE(preset='paper', scope=3, seed=1)"
    assert repr(Embedder("grace", scope=3)) == "Embedder(method='grace', scope=3)"
    assert repr(Embedder(MINE, scope=3)) == "Embedder(method='mine', scope=3)"


def test_another_method_keeps_the_settings_that_it_has() -> None:
    embedder = Embedder("grace", scope=3, hidden=8)
    assert embedder.set_params(method="dgi").get_params() == (
        {"method": "dgi"} | DGI(scope=3, hidden=8).get_params()
    )
    embedder = Embedder("grace", temperature=0.5)
    with pytest.raises(UGCLError, match="there is no parameter of dgi called 'temperature'"):
        embedder.set_params(method="dgi")
    assert repr(embedder) == "Embedder(method='grace', temperature=0.5)"
    assert embedder.set_params(temperature=None).set_params(method="dgi").method == "dgi"


def test_a_clone_gives_the_same_bits_and_changed_parameters_others(graph: Graph) -> None:
    embedder = GRACE(epochs=3, hidden=8, lr=0.01, seed=1)
    embeddings = embedder.fit(graph).embed(graph)
    copy = clone(embedder)
    with pytest.raises(NotFittedError):
        copy.embed(graph)
    np.testing.assert_array_equal(copy.fit_embed(graph), embeddings)
    assert not np.array_equal(copy.set_params(scope=3).fit_embed(graph), embeddings)


@every_estimator
def test_a_fitted_estimator_can_be_pickled(name: str, graph: Graph) -> None:
    estimator = new(name).fit(graph)
    copy = pickle.loads(pickle.dumps(estimator))
    assert type(copy) is type(estimator)
    assert copy.loss_ == estimator.loss_
    np.testing.assert_array_equal(*[dense_rows(each.embed(graph)) for each in (copy, estimator)])


def test_multiscope_is_the_default_method_and_fast_the_default_preset(graph: Graph) -> None:
    named = MultiScope("fast", epochs=0).fit(graph)
    assert Embedder(epochs=0).fit(graph).settings_ == named.settings_


def test_fitting_leaves_the_parameters_and_sets_the_attributes(graph: Graph) -> None:
    embedder = DGI(scope="auto", epochs=3, hidden=8)
    params = embedder.get_params()
    seen: list[float | None] = []

    class Watch(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            seen.append(state.loss)

    assert embedder.fit(graph, callbacks=[Watch()]) is embedder
    assert embedder.get_params() == params
    assert embedder.loss_ == seen
    assert len(seen) == 3
    assert embedder.n_features_in_ == graph.num_features
    assert embedder.scope_choice_ is not None
    values = embedder.settings_.values()
    assert (values["scope"], values["readout_scope"]) == (embedder.scope_choice_.n, 0)
    assert DGI(epochs=0).fit(graph).scope_choice_ is None
    embedder.fit_embed(graph, callbacks=[Watch()])
    assert len(seen) == 6


def test_unseen_graphs_can_be_embedded(graph: Graph) -> None:
    estimator = UGCL(**SMALL).fit(graph)
    assert estimator.embed(make_graph(25, seed=9)).shape == (25, 8)
    with pytest.raises(UGCLError, match=r"^the graph has 5 features but training saw 12: pass a"):
        estimator.embed(make_graph(25, num_features=5))


def test_a_classifier_predicts(graph: Graph) -> None:
    classifier = GCNClassifier(epochs=20).fit(graph)
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])
    probabilities = classifier.predict_proba(graph)
    np.testing.assert_array_equal(classifier.predict(graph), probabilities.argmax(axis=1))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert (classifier.predict(graph) == graph.labels).mean() > 0.5


# Methods of one's own.


def test_a_method_object_needs_no_registration(graph: Graph) -> None:
    estimator = Embedder(MINE, scope=1, **tiny("grace"))
    assert estimator.get_params()["method"] is MINE
    copy = clone(estimator)
    expected = GRACE(scope=1, **tiny("grace")).fit_embed(graph)
    for each in (estimator, copy, pickle.loads(pickle.dumps(estimator))):
        np.testing.assert_array_equal(each.fit_embed(graph), expected)
    with pytest.raises(TypeError, match="no parameter of mine called 'hiden'"):
        Embedder(MINE, hiden=3)


def test_a_registered_method_works_by_name(
    registered: Method, graph: Graph, tmp_path: Path
) -> None:
    estimator = Embedder("mine", **tiny("grace")).fit(graph)
    estimator.save(tmp_path / "mine.safetensors")
    again = Embedder.load(tmp_path / "mine.safetensors")
    assert type(again) is Embedder
    assert again.get_params() == estimator.get_params()
    np.testing.assert_array_equal(again.embed(graph), estimator.embed(graph))
    with pytest.raises(UGCLError, match=r"is of class Embedder, not GRACE: use Emb"):
        GRACE.load(tmp_path / "mine.safetensors")


def test_a_file_of_a_method_that_is_not_registered_is_an_error(
    graph: Graph, tmp_path: Path
) -> None:
    path = tmp_path / "mine.safetensors"
    Embedder(MINE, **tiny("grace")).fit(graph).save(path)
    with pytest.raises(
        UGCLError, match=r"model of the method 'mine', which is not registered: reg"
    ):
        Embedder.load(path)


# Saved estimators.


@every_estimator
def test_a_loaded_estimator_gives_the_same_bits(name: str, graph: Graph, tmp_path: Path) -> None:
    path, kind = tmp_path / "model.safetensors", getattr(ugcl, name)
    estimator = new(name, seed=3).fit(graph)
    estimator.save(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    for again in (kind.load(path), Embedder.load(str(path))):
        assert type(again) is kind
        assert again.get_params() == estimator.get_params()
        assert again.settings_ == estimator.settings_
        assert again.loss_ == estimator.loss_
        assert again.fitted_.shape == estimator.fitted_.shape
        assert again.n_features_in_ == 12
        np.testing.assert_array_equal(
            *[dense_rows(each.embed(graph)) for each in (again, estimator)]
        )
        if isinstance(again, Classifier):
            assert isinstance(estimator, Classifier)
            np.testing.assert_array_equal(again.classes_, estimator.classes_)
            np.testing.assert_array_equal(again.predict(graph), estimator.predict(graph))


def test_a_loaded_estimator_has_the_choice_of_the_scope_and_can_be_fitted_again(
    graph: Graph, tmp_path: Path
) -> None:
    path = tmp_path / "model.safetensors"
    estimator = UGCL(**SMALL | {"scope": "auto", "hidden": np.int64(8)}).fit(graph)
    estimator.save(path)
    again = UGCL.load(path, device="cpu")
    assert again.device == "cpu"
    assert again.scope == "auto"
    assert again.scope_choice_ == estimator.scope_choice_
    assert again.fitted_.seconds == estimator.fitted_.seconds
    embeddings = again.embed(graph)
    np.testing.assert_array_equal(again.fit_embed(graph), embeddings)


def test_a_file_of_another_method_is_an_error(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "dgi.safetensors"
    DGI(epochs=0, hidden=8).fit(graph).save(path)
    with pytest.raises(UGCLError, match=r"dgi.safetensors is of class DGI, not GRACE: use DGI"):
        GRACE.load(path)
    with pytest.raises(UGCLError, match=r"is of class DGI, not Classifier: use DGI.load$"):
        Classifier.load(path)


def test_an_estimator_must_be_fitted_before_it_is_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match=r"^this GRACE is not fitted: call fit"):
        GRACE().save(tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


# Errors.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GRACE(hiden=8), r"^there is no parameter of grace called 'hiden'; .* 'hidden'\?$"),
        (lambda: Embedder("grace", hiden=8), r"^there is no parameter of grace called 'hiden'; "),
        (lambda: GRACE().set_params(hiden=8), r"^there is no parameter of grace called 'hiden'; "),
        (lambda: GRACE(method="dgi"), r"^there is no parameter of grace called 'method'; there "),
        (lambda: Embedder("dgi", params={}), r"^there is no parameter of dgi called 'params'; "),
        (lambda: DGI(temperature=1), r"^there is no parameter of dgi called 'temperature'; there"),
    ],
)
def test_an_unknown_keyword_is_a_type_error_with_a_suggestion(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(TypeError, match=message) as raised:
        make()
    assert isinstance(raised.value, UGCLError)


def test_only_the_preset_is_positional() -> None:
    with pytest.raises(TypeError, match=r"^GRACE.__init__\(\) takes from 1 to 2 positional"):
        GRACE("paper", 3)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("grcae", r"^there is no method called 'grcae'; did you mean 'grace'\?$"),
        (
            "zzz",
            r"^there is no method called 'zzz'; there are: ugcl, .*smooth, pca, sign, structure$",
        ),
        (3, r"^there is no method called '3'"),
    ],
)
def test_an_unknown_method_is_an_error(method: str, message: str) -> None:
    with pytest.raises(UGCLError, match=message):
        Embedder(method)


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (DGI("author"), r"^there is no preset called 'author'; there are: fast, paper$"),
        (GRACE(scope="far"), r"^`scope` must be an integer .* not 'far'$"),
        (GRACE(negatives=40), r"^`negatives` 40 is more than the 39 other nodes of this graph"),
        (GRACE(seed=-1), r"^`seed` must be an integer of at least 0, not -1$"),
        (GRACE(seed=None), r"^`seed` must be an integer of at least 0, not None$"),
        (GRACE(device="tpu"), r"^there is no device 'tpu': use auto, cpu or cuda$"),
        (Classifier("grace"), r"^grace learns without labels and predicts none: use Embedder"),
    ],
)
def test_a_wrong_value_is_an_error_of_fit(embedder: Embedder, message: str, graph: Graph) -> None:
    with pytest.raises(UGCLError, match=message):
        embedder.fit(graph)


def test_fit_takes_a_graph_with_something_to_contrast() -> None:
    with pytest.raises(UGCLError, match=r"^fit takes a Graph, not ndarray: see Graph.from_edges$"):
        DGI().fit(np.eye(3))
    with pytest.raises(UGCLError, match="has one node"):
        UGCL().fit(Graph.from_edges([], [[1.0]]))
    with pytest.raises(UGCLError, match="has no edges"):
        UGCL().fit(Graph.from_edges([], [[1.0], [2.0]]))


@pytest.mark.parametrize("kind", [Embedder, UGCL, GCNClassifier])
@pytest.mark.parametrize("attribute", ["loss_", "settings_", "model_", "n_features_in_"])
def test_an_estimator_that_is_not_fitted_says_so(
    kind: type[Embedder], attribute: str, graph: Graph
) -> None:
    message = rf"^this {kind.__name__} is not fitted: call fit\(graph\) first$"
    with pytest.raises(NotFittedError, match=message):
        kind().embed(graph)
    with pytest.raises(NotFittedError, match=message):
        getattr(kind(), attribute)


class Wide(GRACE):
    """A user's own subclass."""


def test_a_subclass_loads_as_itself(graph: Graph, tmp_path: Path) -> None:
    wide = Wide(hidden=8, projector=8, epochs=1).fit(graph)
    wide.save(tmp_path / "wide.safetensors")
    loaded = Wide.load(tmp_path / "wide.safetensors")
    assert type(loaded) is Wide
    np.testing.assert_array_equal(loaded.embed(graph), wide.embed(graph))
    assert type(Embedder.load(tmp_path / "wide.safetensors")) is GRACE
