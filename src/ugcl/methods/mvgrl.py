"""MVGRL: each node of the graph against a summary of its diffusion, and back (Equation 10).

Hassani and Khasahmadi, "Contrastive Multi-View Representation Learning on Graphs", ICML 2020. Where
publication and public code differ, and where this differs from both:

- The diffusion is found and kept sparse: the entries that are among the `--neighbours` largest of
  either of their two nodes, by walks that drop what matters little (`ugcl.scope.diffusion`). In the
  code it is dense on Cora and PubMed, cut at a threshold on CiteSeer.
- Training sees the whole graph. The code draws windows of 2,000 nodes, because its matrices are
  dense.
- The code's heat is an exponential of each entry, and is never called; here it is the matrix
  exponential.
- On CiteSeer the code scales each column of the diffusion to [0, 1], which makes it lopsided; here
  it is symmetric on all graphs.
- The code goes back to the weights of the lowest loss; here the last are kept.
- The code adds each self-loop twice by mistake; here it is there once, as published.
- The summary is the mean of all rows, `--scope graph`, as for DGI. Other scopes are of the graph's
  adjacency in both views, as in Equation 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch

from ugcl.losses import BilinearJSD
from ugcl.methods.method import Method
from ugcl.methods.options import choice, integer, number
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, one_convolution
from ugcl.scope import (
    diffusion,
    heat_coefficients,
    normalised_adjacency,
    pagerank_coefficients,
    with_self_loops,
)
from ugcl.views import Corrupter, View, remembered, side_by_side

Diffusion = Literal["pagerank", "heat"]


@dataclass(frozen=True)
class MVGRLSettings(RecipeSettings):
    """MVGRL's own."""

    diffusion: Diffusion = choice(
        "the second view: personalised PageRank or heat", get_args(Diffusion)
    )
    teleport: float = number(
        "PageRank: the probability to start anew in a step", minimum=0.001, below=1
    )
    heat_time: float = number("heat: for how many steps it spreads", above=0, below=1000)
    neighbours: int = integer("nodes that are kept of each row of the diffusion", 1)


def _adjacencies(settings: MVGRLSettings, adjacency: Any) -> tuple[Any, Any]:
    """The normalised adjacency and its diffusion."""
    kind, teleport, time = settings.diffusion, settings.teleport, settings.heat_time
    key = "diffusion", kind, teleport, time, settings.neighbours, settings.self_loops

    def diffused() -> Any:
        steps = pagerank_coefficients(teleport) if kind == "pagerank" else heat_coefficients(time)
        looped = with_self_loops(adjacency, settings.self_loops)
        return diffusion(looped, steps, settings.neighbours)

    normalised = normalised_adjacency(adjacency, settings.self_loops)
    return normalised, remembered(adjacency, key, diffused)


def _views(
    settings: MVGRLSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Corrupter:
    return Corrupter(_adjacencies(settings, adjacency), features, seed=seed, device=device)


def _embedded(
    settings: MVGRLSettings, adjacency: Any, features: Any, *, device: torch.device | str
) -> tuple[View, ...]:
    return side_by_side(_adjacencies(settings, adjacency), features, device)


def _objective(settings: MVGRLSettings, generator: torch.Generator) -> BilinearJSD:
    return BilinearJSD(settings.hidden, generator)


RECIPE: Recipe[MVGRLSettings] = Recipe(
    views=_views,
    encoder=one_convolution,
    secondary=one_convolution,
    objective=_objective,
    embedded=_embedded,
)

_BASE: dict[str, Any] = {
    "epochs": 3000,
    "lr": 1e-3,
    "patience": 20,
    "scope": "graph",
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 512,
    "self_loops": 1.0,
    "feature_scaling": "row",
    "diffusion": "pagerank",
    "teleport": 0.2,
    "heat_time": 5.0,
    "neighbours": 128,
}

_CITATION_NETWORKS = ("cora", "citeseer", "pubmed")

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 100, "patience": 0, "feature_scaling": "l2", "neighbours": 32},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of MVGRL, with a sparse diffusion",
        base=_BASE,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_CITATION_NETWORKS, frozenset(_BASE) - {"neighbours"}),
    ),
}

MVGRL = Method.of(
    RECIPE,
    MVGRLSettings,
    PRESETS,
    name="mvgrl",
    scope="whole graph: the mean of all rows of the other view",
    paper=(
        "Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs, "
        "ICML 2020"
    ),
)
