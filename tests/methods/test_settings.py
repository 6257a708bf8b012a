from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from conftest import make_graph
from ugcl import UGCL, UGCLError
from ugcl.methods import METHODS, get_method
from ugcl.methods.ugcl import UGCLSettings

UGCL_METHOD = METHODS["ugcl"]


def resolve(preset: str = "fast", size: int = 40, name: str = "", **params: Any) -> UGCLSettings:
    settings = UGCL_METHOD.resolve(preset, make_graph(size, name=name), params)
    assert isinstance(settings, UGCLSettings)
    return settings


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hidden": -5}, "`hidden` must be an integer of at least 1, not -5"),
        ({"hidden": 2.5}, "`hidden` must be an integer"),
        ({"hidden": True}, "`hidden` must be an integer"),
        (
            {"scope": -1},
            "`scope` must be an integer of at least 0, 'component', 'graph' or 'auto', not -1",
        ),
        ({"readout_scope": "far"}, "`readout_scope` must be an integer"),
        ({"sample": 1}, "`sample` must be an integer of at least 2 or 'all', not 1"),
        ({"sampling": "snowball"}, "`sampling` must be one of random, window, ball"),
        ({"temperature": 0}, "`temperature` must be a number of at least 0.02, not 0"),
        ({"temperature": float("nan")}, "`temperature` must be a number of at least 0.02"),
        ({"self_loops": -1}, "`self_loops` must be a number of at least 0"),
        ({"negatives": "some"}, "`negatives` must be an integer of at least 2 or 'all'"),
        ({"lr": "quick"}, "`lr` must be a number above 0, not 'quick'"),
        ({"hidden": 10**23}, "`hidden` must be at most 9,223,372,036,854,775,807, not 10000"),
        ({"scope": "9" * 23}, "`scope` must be at most 9,223,372,036,854,775,807, not 9999"),
        ({"epochs": -1}, "`epochs` must be an integer of at least 0"),
        ({"sample": 41}, "`sample` 41 is more than the 40 nodes of this graph: use less, or 'all'"),
        ({"sample": 20, "negatives": 20}, "`negatives` 20 is more than the 19 other nodes"),
        ({"width": 3}, "there is no setting 'width'"),
    ],
)
def test_refuses(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UGCLError, match=message):
        resolve(**params)


def test_text_and_values_mean_the_same() -> None:
    assert resolve(hidden="64", lr="0.01", sample="all") == resolve(
        hidden=64, lr=0.01, sample="all"
    )


def test_a_preset_is_shrunk_to_the_graph() -> None:
    for preset in UGCL_METHOD.presets:
        assert resolve(preset).sample == "all"
    assert resolve("fast").negatives == "all"


def test_the_readout_scope_is_the_scope_by_default() -> None:
    assert resolve(scope=7).readout_scope == 7
    assert resolve(scope=7, readout_scope=2).readout_scope == 2
    assert resolve("authors", name="cora").readout_scope == 9


def test_misspelt_presets_and_methods() -> None:
    with pytest.raises(UGCLError, match="did you mean 'authors'"):
        resolve("author")
    with pytest.raises(UGCLError, match="did you mean 'ugcl'"):
        get_method("ugc")
    with pytest.raises(UGCLError, match="there are: ugcl"):
        get_method("zzz")


def test_every_setting_is_an_argument_of_the_estimator() -> None:
    arguments = set(inspect.signature(UGCL).parameters) - {"preset", "seed", "device"}
    assert arguments == {field.name for field in fields(UGCLSettings)}
