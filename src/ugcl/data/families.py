"""Families of synthetic graphs: named parameters of the stochastic block model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown

if TYPE_CHECKING:
    from ugcl.graph import Graph


@dataclass(frozen=True)
class Family:
    """A family of synthetic graphs.

    Attributes:
        about: what its graphs are like.
        params: parameters of `sbm_graph` that differ from its defaults.
    """

    about: str
    params: Mapping[str, float | None] = field(default_factory=dict)


FAMILIES = {
    "homophilous": Family(
        "edges and features agree about the classes",
        {"degree": 8.0, "homophily": 0.6, "signal": 1.5},
    ),
    "heterophilous": Family(
        "most edges connect two classes that follow each other on a ring",
        {"homophily": 0.1, "ring": 9.0, "signal": 2.0},
    ),
    "features-only": Family(
        "edges tell nothing about the classes",
        {"homophily": None, "signal": 3.0},
    ),
    "structure-only": Family(
        "features tell nothing about the classes",
        {"degree": 12.0, "homophily": 0.6, "signal": 0.0},
    ),
    "noise-features": Family(
        "most features are noise in unlike units",
        {"degree": 8.0, "homophily": 0.6, "signal": 1.5, "features": 64, "noise_features": 0.875},
    ),
    "hub-dominated": Family(
        "few hubs have most of the edges, and theirs are less homophilous",
        {
            "degree": 8.0,
            "homophily": 0.5,
            "signal": 2.0,
            "degree_spread": 2.0,
            "hub_mixing": 1.5,
        },
    ),
}
"""The families by name. In each, classes can be predicted well from the right information only."""


def synthetic_graph(family: str, *, nodes: int, seed: int = 0, **params: Any) -> Graph:
    """Sample a graph of a family from the stochastic block model.

    Args:
        family: a name in `FAMILIES`.
        nodes: N.
        seed: seed of the random generator.
        **params: parameters of `sbm_graph` instead of those of the family.

    Returns:
        A graph with labels, named after the family.
    """
    from ugcl.data.sbm import sbm_graph

    if family not in FAMILIES:
        raise UGCLError(unknown("family of graphs", str(family), FAMILIES))
    values: dict[str, Any] = {**FAMILIES[family].params, **params}
    return replace(sbm_graph(nodes=nodes, seed=seed, **values), name=family)
