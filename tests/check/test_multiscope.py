"""What the estimate of the cost of multiscope assumes."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import make_graph
from ugcl import fit
from ugcl.check import estimate_cost
from ugcl.check.multiscope import num_products, structure_seconds
from ugcl.engine.requirements import multiscope_floats, num_columns
from ugcl.methods.multiscope import MultiScopeSettings

TINY: dict[str, Any] = {"epochs": 2, "hidden": 8, "sample": 30, "structure_columns": 6}


def settings_of(**params: Any) -> MultiScopeSettings:
    settings = fit("multiscope", make_graph(), device="cpu", **TINY | params).settings
    assert isinstance(settings, MultiScopeSettings)
    return settings


@pytest.mark.parametrize(
    "params", [{}, {"readout_scope": 0}, {"readout_scope": "component"}, {"block_columns": 3}]
)
def test_the_embeddings_are_as_wide_as_estimated(params: dict[str, Any]) -> None:
    graph, fitted = make_graph(), fit("multiscope", make_graph(), **TINY | params)
    assert isinstance(fitted.settings, MultiScopeSettings)
    assert fitted.embed(graph).shape[1] == num_columns(graph, fitted.settings)


def test_wide_features_cost_gram_matrices_only_where_they_are_exact() -> None:
    settings = settings_of(structure_columns=0)
    floats = [multiscope_floats(make_graph(40, width), settings) for width in (2048, 2049)]
    assert floats[1] < floats[0] / 10


def test_more_scopes_and_structure_take_longer() -> None:
    graph, settings = make_graph(), settings_of()
    near = settings.replace(readout_scope=1)
    assert num_products(graph, near) < num_products(graph, settings)
    assert structure_seconds(graph, settings, 1e-6) > 0
    assert structure_seconds(graph, settings.replace(structure_columns=0), 1e-6) == 0
    assert estimate_cost(graph, "multiscope", settings).seconds is not None


def test_large_graphs_need_products_instead_of_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, settings = make_graph(), settings_of()
    walked = multiscope_floats(graph, settings)
    for module in ("ugcl.check.multiscope", "ugcl.engine.requirements"):
        monkeypatch.setattr(f"{module}.MAX_WALKED", graph.num_nodes - 1)
    assert multiscope_floats(graph, settings) < walked
    seconds = [structure_seconds(graph, settings, each) for each in (1e-6, 2e-6)]
    assert seconds[1] == pytest.approx(2 * seconds[0])
    assert structure_seconds(graph, settings.replace(structure_columns=0), 1e-6) == 0
