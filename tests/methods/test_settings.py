from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from conftest import make_graph
from ugcl import UGCL, UGCLError
from ugcl.data import DATASETS
from ugcl.methods import METHODS, method_named
from ugcl.methods.ugcl import UGCLSettings
from ugcl.study.published import published

UGCL_METHOD = METHODS["ugcl"]


def resolve(preset: str = "fast", size: int = 40, name: str = "", **given: Any) -> UGCLSettings:
    settings = UGCL_METHOD.resolve(preset, make_graph(size, name=name), given)
    assert isinstance(settings, UGCLSettings)
    return settings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hidden": -5}, "hidden must be a whole number of at least 1, not -5"),
        ({"hidden": 2.5}, "hidden must be a whole number"),
        ({"hidden": True}, "hidden must be a whole number"),
        (
            {"scope": -1},
            "scope must be a whole number of at least 0, 'component', 'graph' or 'auto', not -1",
        ),
        ({"readout_scope": "far"}, "readout_scope must be a whole number"),
        ({"sample": 1}, "sample must be a whole number of at least 2 or 'all', not 1"),
        ({"sampling": "snowball"}, "sampling must be one of random, window, ball"),
        ({"temperature": 0}, "temperature must be a number of at least 0.02, not 0"),
        ({"temperature": float("nan")}, "temperature must be a number of at least 0.02"),
        ({"self_loops": -1}, "self_loops must be a number of at least 0"),
        ({"negatives": "some"}, "negatives must be a whole number of at least 2 or 'all'"),
        ({"lr": "quick"}, "lr must be a number above 0, not 'quick'"),
        ({"epochs": -1}, "epochs must be a whole number of at least 0"),
        ({"sample": 41}, "--sample 41 is more than the 40 nodes of this graph: use less, or 'all'"),
        ({"sample": 20, "negatives": 20}, "--negatives 20 is more than the 19 other nodes"),
        ({"width": 3}, "there is no setting 'width'"),
    ],
)
def test_refuses(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UGCLError, match=message):
        resolve(**given)


def test_text_and_values_mean_the_same() -> None:
    assert resolve(hidden="64", lr="0.01", sample="all") == resolve(
        hidden=64, lr=0.01, sample="all"
    )


def test_a_preset_is_shrunk_to_the_graph() -> None:
    for preset in UGCL_METHOD.presets:
        assert resolve(preset).sample == "all"
    assert resolve("fast").negatives == "all"


def test_the_readout_scope_follows_the_scope_unless_given() -> None:
    assert resolve(scope=7).readout_scope == 7
    assert resolve(scope=7, readout_scope=2).readout_scope == 2
    assert resolve("authors", name="cora").readout_scope == 9


def test_presets_know_their_data_sets() -> None:
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


def test_misspelt_presets_and_methods() -> None:
    with pytest.raises(UGCLError, match="did you mean 'authors'"):
        resolve("author")
    with pytest.raises(UGCLError, match="did you mean 'ugcl'"):
        method_named("ugc")
    with pytest.raises(UGCLError, match="there are: ugcl"):
        method_named("zzz")


def test_every_setting_is_an_argument_of_the_estimator() -> None:
    arguments = set(inspect.signature(UGCL).parameters) - {"settings", "seed", "device"}
    assert arguments == {field.name for field in fields(UGCLSettings)}


def test_presets_give_every_setting() -> None:
    names = {field.name for field in fields(UGCLSettings)} - {"readout_scope"}
    for preset in UGCL_METHOD.presets.values():
        assert set(preset.base) == names
        assert preset.ours <= names
        for values in preset.graphs.values():
            assert set(values) <= names | {"readout_scope"}


def test_presets_say_what_is_ours() -> None:
    paper, authors = UGCL_METHOD.presets["paper"], UGCL_METHOD.presets["authors"]
    for preset in (paper, authors):
        assert preset.ours <= set(preset.base)
        for stated in preset.stated.values():
            assert stated <= preset.ours
    assert not {"scope", "hidden", "sample"} & paper.ours_for("cora")
    assert {"epochs", "lr"} <= paper.ours_for("cora")
    assert paper.ours_for("amazon-photo") == paper.ours - {"scope", "sample"}
    assert paper.ours_for("coauthor-cs") == paper.ours
    assert authors.ours_for("ogbn-arxiv") == {"patience"}
    assert authors.ours_for("amazon-photo") == authors.ours
    assert UGCL_METHOD.presets["fast"].ours_for("cora") == set(UGCL_METHOD.presets["fast"].base)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "ogbn-arxiv"])
def test_the_authors_values_are_the_recorded_ones(name: str) -> None:
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


def test_what_is_stated_of_gca_is_what_is_stated_of_grace() -> None:
    """An activation that the code has and this does not is ours in both."""
    for name in ("amazon-photo", "amazon-computers", "coauthor-cs", "coauthor-physics"):
        grace, gca = (
            METHODS[method].presets["paper"].ours_for(name) for method in ("grace", "gca")
        )
        assert grace == gca == {"activation"}
