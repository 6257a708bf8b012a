"""The presets: values of all settings for every data set, and which of them are ours."""

from __future__ import annotations

from importlib import resources
from itertools import combinations
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from conftest import make_graph
from ugcl import UGCLError
from ugcl import typing as choices
from ugcl.data import DATASETS
from ugcl.engine import Fitted, fit
from ugcl.methods import DEFAULT_PRESET, METHODS, Preset
from ugcl.methods.preset import load_presets, parse_presets
from ugcl.methods.ugcl import UGCLSettings
from ugcl.study.published import published

UGCL_METHOD = METHODS["ugcl"]
PRESETS = [(name, preset) for name, method in METHODS.items() for preset in method.presets]
ABLATIONS = [name for name in METHODS if name.startswith("ugcl-")]
FILES = sorted(
    file.name.removesuffix(".toml")
    for file in (resources.files("ugcl.methods") / "presets").iterdir()
)

every_preset = pytest.mark.parametrize(("name", "preset"), PRESETS)


def resolve(preset: str = "fast", size: int = 40, name: str = "", **params: Any) -> UGCLSettings:
    settings = UGCL_METHOD.resolve(preset, make_graph(size, name=name), params)
    assert isinstance(settings, UGCLSettings)
    return settings


# All methods.


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_the_default_preset_and_published_ones_have_paper(name: str) -> None:
    method = METHODS[name]
    assert DEFAULT_PRESET == "fast"
    assert "fast" in method.presets
    published = method.paper != "ours"  # a method of our own has no published settings
    assert ("paper" in method.presets) == (method.trained and published)


def test_every_method_but_the_ablations_has_a_file_and_every_file_a_method() -> None:
    assert set(FILES) == set(METHODS) - set(ABLATIONS)


@pytest.mark.parametrize("name", FILES)
def test_a_methods_presets_are_those_of_its_file(name: str) -> None:
    assert METHODS[name].presets == load_presets(name)


@every_preset
def test_values_are_stored_as_the_settings_parse_them(name: str, preset: str) -> None:
    """No text where a number is meant, no number outside its range."""
    method = METHODS[name]
    for graph in ("", *DATASETS):
        values = method.presets[preset].values(graph)
        for key, value in values.items():
            parsed = method.params[key].value(key, value)
            assert (list(parsed) if isinstance(parsed, tuple) else parsed) == value, (graph, key)
            assert isinstance(parsed, str) == isinstance(value, str), (graph, key)


@every_preset
def test_ours_lists_settings_and_data_sets_that_exist(name: str, preset: str) -> None:
    method, values = METHODS[name], METHODS[name].presets[preset]
    assert set(values.ours) <= {"default", *DATASETS}
    for graph, names in values.ours.items():
        assert names <= set(method.params), graph
        assert names <= values.ours["default"], graph
    for graph in DATASETS:
        expected = values.ours.get(graph, values.ours["default"])
        assert values.ours_for(graph) == expected
    assert values.ours_for("a graph of the user's") == values.ours["default"]


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ABLATIONS])
def test_all_values_of_fast_are_ours(name: str) -> None:
    fast = METHODS[name].presets["fast"]
    for graph in DATASETS:
        assert fast.ours_for(graph) == set(fast.base)


@pytest.mark.parametrize("preset", UGCL_METHOD.presets)
@pytest.mark.parametrize("name", ABLATIONS)
def test_the_change_of_an_ablation_counts_as_stated(name: str, preset: str) -> None:
    ablation, original = METHODS[name].presets[preset], UGCL_METHOD.presets[preset]
    changed = {key for key, value in ablation.base.items() if value != original.base[key]}
    for graph in DATASETS:
        assert ablation.ours_for(graph) == original.ours_for(graph) - changed


# The format.


def test_a_file_is_parsed() -> None:
    text = """
    [fast]
    about = "ours"
    [fast.base]
    hidden = 8
    scope = "auto"
    [fast.graphs]
    cora = { hidden = 16 }
    [fast.ours]
    default = "all"
    cora = ["hidden"]
    """
    (preset,) = parse_presets(text).values()
    assert preset == Preset(
        "ours",
        {"hidden": 8, "scope": "auto"},
        {"cora": {"hidden": 16}},
        {"default": frozenset({"hidden", "scope"}), "cora": frozenset({"hidden"})},
    )
    assert preset.values("cora") == {"hidden": 16, "scope": "auto"}
    assert preset.values("other") == {"hidden": 8, "scope": "auto"}
    assert preset.ours_for("cora") == {"hidden"}
    assert preset.ours_for("other") == {"hidden", "scope"}


def test_override_changes_all_graphs_and_counts_as_stated() -> None:
    preset = Preset(
        "ours",
        {"hidden": 8, "scope": 1},
        {"cora": {"scope": 5}},
        {"default": frozenset({"hidden", "scope"})},
    )
    changed = preset.override(scope=0)
    assert changed.about == "ours, with scope 0"
    for graph in ("cora", "other"):
        assert changed.values(graph) == {"hidden": 8, "scope": 0}
        assert changed.ours_for(graph) == {"hidden"}
    assert preset.override() == preset
    assert preset.values("cora")["scope"] == 5


# The choices of `ugcl.typing`.

CHOICES = {
    ("ugcl", "sampling"): choices.Sampling,
    ("ugcl", "normalisation"): choices.Normalisation,
    ("ugcl", "context"): choices.ContextKind,
    ("ugcl", "readout"): choices.Readout,
    ("ugcl", "feature_scaling"): choices.FeatureScaling,
    ("grace", "activation"): choices.Activation,
    ("gca", "centrality"): choices.Centrality,
    ("mvgrl", "diffusion"): choices.Diffusion,
    ("ugcl", "scope"): choices.ScopeName,
    ("multiscope", "encoder"): choices.FeatureEncoder,
    ("multiscope", "loss"): choices.ContextLoss,
    ("multiscope", "block_weights"): choices.BlockWeights,
}


def test_all_choices_of_the_library_are_tested_here() -> None:
    literals = {alias for alias in vars(choices).values() if get_origin(alias) is Literal}
    others = {choices.Degree, choices.FloatName, choices.Protocol, choices.Scoring}
    others.add(choices.SplitKind)
    assert literals - others == set(CHOICES.values())


@pytest.mark.parametrize("name", METHODS)
def test_annotations_of_settings_are_what_settings_accept(name: str) -> None:
    method = METHODS[name]
    for key, hint in get_type_hints(method.settings).items():
        words = [word for arm in (hint, *get_args(hint)) for word in _words(arm)]
        param = method.params[key]
        for word in words:
            assert param.value(key, word) == word
        listed = {part for part in param.metavar.split("|") if part not in ("N", "R", "N,N,...")}
        assert listed == set(words), key
        if words:
            with pytest.raises(UGCLError, match=f"^{key} must be "):
                param.value(key, "no-such-choice")


def _words(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


@pytest.mark.parametrize(("name", "key"), CHOICES)
def test_every_choice_works_and_makes_a_difference(name: str, key: str) -> None:
    graph = make_graph(300 if key == "block_weights" else 60)  # few nodes: no weight is certain
    params = {"epochs": 2, "hidden": 8, "lr": 0.01, "negatives": "all", "scope": 2}
    params |= {"projector": 8, "sample": 40, "neighbours": 4, "drop_edges_1": 0.5}
    fits = []
    for value in get_args(CHOICES[name, key]):
        chosen = {k: v for k, v in (params | {key: value}).items() if k in METHODS[name].params}
        preset = "paper" if "paper" in METHODS[name].presets else "fast"
        fitted = fit(name, graph, preset=preset, device="cpu", **chosen)
        assert getattr(fitted.settings, key) == value
        fits.append(_summary(fitted, graph))
    for one, other in combinations(fits, 2):
        assert one.shape != other.shape or np.abs(one - other).max() > 1e-4


def _summary(fitted: Fitted, graph: Any) -> np.ndarray:
    """Losses and embeddings in one vector."""
    return np.concatenate([fitted.history.losses, np.ravel(fitted.embed(graph))])


# UGCL: the paper and the authors' code.


def test_presets_have_values_for_data_sets() -> None:
    assert resolve("paper", 3327, "citeseer").hidden == 8192
    assert resolve("paper", 3327, "citeseer").sample == 3000
    assert resolve("authors", 2708, "cora").scope == 9
    assert resolve("paper", 2708, "other").hidden == 512


def test_the_papers_choices() -> None:
    paper, authors = resolve("paper", name="citeseer"), resolve("authors", name="citeseer")
    assert (paper.sampling, paper.context, paper.readout) == ("random", "power", "sum")
    assert (paper.self_loops, paper.temperature, paper.negatives) == (1, 1, "all")
    assert (authors.sampling, authors.context, authors.readout) == ("window", "lazy", "mean")
    assert (authors.self_loops, authors.normalisation) == (2, "graph")


def test_ugcls_presets_have_every_setting() -> None:
    names = set(UGCL_METHOD.params) - {"readout_scope"}
    for preset in UGCL_METHOD.presets.values():
        assert set(preset.base) == names
        assert preset.ours["default"] <= names
        for values in preset.graphs.values():
            assert set(values) <= names | {"readout_scope"}


def test_presets_say_what_is_ours() -> None:
    paper, authors = UGCL_METHOD.presets["paper"], UGCL_METHOD.presets["authors"]
    ours = paper.ours["default"]
    assert not {"scope", "hidden", "sample"} & paper.ours_for("cora")
    assert {"epochs", "lr"} <= paper.ours_for("cora")
    assert {"scope", "sample"} <= ours
    assert paper.ours_for("amazon-photo") == ours - {"scope", "sample"}
    assert paper.ours_for("coauthor-cs") == ours
    assert authors.ours_for("ogbn-arxiv") == {"patience"}
    assert authors.ours_for("amazon-photo") == authors.ours["default"]
    assert UGCL_METHOD.presets["fast"].ours_for("cora") == set(UGCL_METHOD.presets["fast"].base)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "ogbn-arxiv"])
def test_the_authors_values_are_the_published_ones(name: str) -> None:
    stated = published()["author_settings"][name]
    values = UGCL_METHOD.presets["authors"].values(name)
    for ours, theirs in {
        "epochs": "epochs",
        "lr": "lr",
        "scope": "n",
        "hidden": "hidden",
        "sample": "sample_size",
    }.items():
        assert values[ours] == stated[theirs]


@pytest.mark.parametrize("name", ["amazon-computers", "amazon-photo"])
def test_the_papers_scopes_and_samples(name: str) -> None:
    study = published()["scope_study"]
    values = UGCL_METHOD.presets["paper"].values(name)
    assert values["scope"] == study["rows"][name]["best_n"]
    assert values["sample"] == study["sample_size"][name]


def test_every_preset_of_every_data_set_is_complete() -> None:
    for preset in UGCL_METHOD.presets.values():
        for name in DATASETS:
            values = preset.values(name)
            UGCLSettings.from_values(values | {"readout_scope": values["scope"]})


def test_gca_and_grace_state_the_same_settings() -> None:
    """The activation of the code is replaced by ours in both."""
    for name in ("amazon-photo", "amazon-computers", "coauthor-cs", "coauthor-physics"):
        grace, gca = (
            METHODS[method].presets["paper"].ours_for(name) for method in ("grace", "gca")
        )
        assert grace == gca == {"activation"}
