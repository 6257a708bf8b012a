"""The registry, methods of the user's own, and what importing the methods costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch

from conftest import make_graph
from ugcl import Graph, UGCLError, losses, nn, views
from ugcl.engine import fit
from ugcl.methods import METHODS, Method, Preset, SSLSettings, get_method, register
from ugcl.methods.params import number, temperature
from ugcl.methods.parts import Parts
from ugcl.scope import Component, Power, WholeGraph

# A method of a user's own: masked features, one encoder, InfoNCE.


@dataclass(frozen=True)
class MaskingSettings(SSLSettings):
    """Settings of the method."""

    mask: float = number("fraction of features masked in each view", minimum=0, below=1)
    temperature: float = temperature()


def build(num_features: int, settings: MaskingSettings, generator: torch.Generator) -> Parts:
    """Return the parts of the method."""
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=(0.0, 0.0),
            mask_features=(settings.mask, settings.mask),
            self_loops=settings.self_loops,
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.InfoNCE(
            settings.hidden,
            projector=settings.hidden,
            temperature=settings.temperature,
            negatives="all",
            generator=generator,
        ),
    )


VALUES: dict[str, Any] = {
    "epochs": 5,
    "lr": 0.01,
    "patience": 0,
    "scope": 0,
    "hidden": 8,
    "self_loops": 1.0,
    "feature_scaling": "row",
    "readout": "sum",
    "mask": 0.3,
    "temperature": 0.5,
}

MASKING = Method(
    name="masking",
    scope="A^0, the node in the other view",
    paper="none",
    settings=MaskingSettings,
    presets={"fast": Preset("ours", VALUES, {}, {"default": frozenset(VALUES)})},
    build=build,
)


@pytest.fixture
def registered() -> Iterator[Method]:
    yield register(MASKING)
    del METHODS["masking"]


def test_a_method_of_a_users_own_is_registered_and_fitted(graph: Graph, registered: Method) -> None:
    assert get_method("masking") is registered
    fitted = fit("masking", graph, seed=1, device="cpu", mask=0.2)
    assert isinstance(fitted.settings, MaskingSettings)
    assert fitted.settings.mask == 0.2
    assert fitted.settings.readout_scope == 0
    assert len(fitted.history.losses) == 5
    assert fitted.embed(graph).shape == (40, 8)
    assert fitted.embed(make_graph(25, seed=9)).shape == (25, 8)
    before = fit("masking", graph, seed=1, device="cpu", epochs=0)
    assert not np.array_equal(before.embed(graph), fitted.embed(graph))


def test_its_settings_are_checked(graph: Graph, registered: Method) -> None:
    with pytest.raises(UGCLError, match="`mask` must be a number of at least 0 and below 1, not 1"):
        fit("masking", graph, mask=1)
    with pytest.raises(UGCLError, match="there is no setting 'drop'"):
        fit("masking", graph, drop=0.1)


@pytest.mark.parametrize("readout", ["sum", "concat"])
def test_it_runs_under_every_scope(readout: str, graph: Graph) -> None:
    """A method that is not registered can be passed as an object."""
    scopes = {0: Power(0), 2: Power(2), "component": Component(), "graph": WholeGraph()}
    embeddings = []
    for scope, expected in scopes.items():
        fitted = fit(MASKING, graph, device="cpu", scope=scope, readout=readout)
        assert fitted.model.scope == fitted.model.readout_scope == expected
        assert np.isfinite(fitted.history.losses).all()
        embeddings.append(fitted.embed(graph))
    for one, other in combinations(embeddings, 2):
        assert np.abs(one - other).max() > 1e-3
    chosen = fit(MASKING, graph, device="cpu", scope="auto", readout=readout)
    assert chosen.scope_choice is not None
    assert isinstance(chosen.settings.values()["scope"], int)


def test_a_name_is_registered_once() -> None:
    with pytest.raises(UGCLError, match="there is a method 'grace' already: use another name"):
        register(replace(MASKING, name="grace"))
    assert METHODS["grace"].settings is not MaskingSettings


def test_an_unknown_method_is_an_error_that_suggests_one() -> None:
    with pytest.raises(UGCLError, match="did you mean 'grace'"):
        get_method("grase")


def test_a_method_needs_a_way_to_build_its_model() -> None:
    with pytest.raises(UGCLError, match="'masking' needs one of `build` and `model`: pass it"):
        replace(MASKING, build=None)


# Imports.

DECLARATIONS = """
import sys
import numpy as np
from ugcl import Graph
from ugcl.methods import METHODS

graph = Graph.from_edges([[0, 1], [1, 2]], np.eye(3))
for method in METHODS.values():
    scaled = "feature_scaling" in method.params  # which "auto" measures on the graph
    for preset in method.presets:
        method.resolve(preset, graph, {"feature_scaling": "l2"} if scaled else {})
    assert method.params
heavy = {name.partition(".")[0] for name in sys.modules}
print(*sorted(heavy & {"torch", "sklearn", "torch_geometric", "gensim", "numba"}))
"""


def test_settings_and_presets_need_neither_torch_nor_scikit_learn() -> None:
    result = subprocess.run(
        [sys.executable, "-c", DECLARATIONS], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
