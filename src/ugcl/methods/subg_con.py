"""SubG-Con: each node against the summary of a small subgraph around it.

Jiao et al., "Sub-graph Contrast for Scalable Self-Supervised Graph Representation Learning", ICDM
2020. Where publication and public code differ, and where this differs from both:

- The subgraph of a node is the node and those that matter most to it by personalised PageRank, row
  v of `alpha (I - (1 - alpha) A D^-1)^-1`, as published; the code takes ten steps of it. It is
  found by walks that drop what matters little (`ugcl.scope.diffusion`).
- The summary of a subgraph is the mean of its nodes, `--scope graph`, as in the code; the
  publication's has a sigmoid around it.
- A summary is compared with its own node and with another, as in the code; in the publication a
  node with its own summary and with another.
- The code's PReLU has a slope for each column; here there is one.
- The code stops by validation accuracy, which needs labels. Here the epochs are fixed.
- Embeddings are of a node within its own subgraph, contexts of the readout in the graph itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.graph import Graph
from ugcl.losses import MarginLoss
from ugcl.methods.method import Method
from ugcl.methods.options import All, integer, integer_or_all, number
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, one_convolution
from ugcl.views import Subgraphs, SubgraphSampler, View, centre_view, remembered


@dataclass(frozen=True)
class SubGConSettings(RecipeSettings):
    """SubG-Con's own."""

    sample: int | All = integer_or_all("nodes whose subgraphs are drawn in every epoch", 2)
    subgraph: int = integer("nodes of a subgraph at most, with the one that it is around", 2)
    teleport: float = number(
        "PageRank: the probability to start anew in a step", minimum=0.001, below=1
    )
    margin: float = number("how much better a node must fit its own subgraph", above=0)

    def fitted(self, graph: Graph, given: frozenset[str]) -> SubGConSettings:
        """Shrink what a preset asks to what the graph has; what the user asks must fit."""
        return self.replace(sample=self.fit_count("sample", graph.num_nodes, "nodes", given))


def _subgraphs(settings: SubGConSettings, adjacency: Any) -> Subgraphs:
    size, teleport = settings.subgraph, settings.teleport
    key = "subgraphs", size, teleport
    return remembered(adjacency, key, lambda: Subgraphs.of(adjacency, size, teleport))


def _views(
    settings: SubGConSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> SubgraphSampler:
    return SubgraphSampler(
        _subgraphs(settings, adjacency),
        features,
        count=adjacency.shape[0] if settings.sample == "all" else settings.sample,
        self_loops=settings.self_loops,
        seed=seed,
        device=device,
    )


def _embedded(
    settings: SubGConSettings, adjacency: Any, features: Any, *, device: torch.device | str
) -> tuple[View, ...]:
    subgraphs = _subgraphs(settings, adjacency)
    return (centre_view(subgraphs, adjacency, features, settings.self_loops, device),)


def _objective(settings: SubGConSettings, generator: torch.Generator) -> MarginLoss:
    del generator
    return MarginLoss(settings.margin)


RECIPE: Recipe[SubGConSettings] = Recipe(
    views=_views, encoder=one_convolution, objective=_objective, embedded=_embedded
)

_BASE: dict[str, Any] = {
    "epochs": 200,
    "lr": 1e-3,
    "patience": 0,
    "scope": "graph",
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 1024,
    "self_loops": 1.0,
    "feature_scaling": "none",
    "sample": 500,
    "subgraph": 20,
    "teleport": 0.15,
    "margin": 0.5,
}

_CITATION_NETWORKS = ("cora", "citeseer", "pubmed")

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 50, "feature_scaling": "l2"},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of SubG-Con, with a fixed number of epochs",
        base=_BASE,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_CITATION_NETWORKS, frozenset(_BASE) - {"epochs", "patience"}),
    ),
}

SUBG_CON = Method.of(
    RECIPE,
    SubGConSettings,
    PRESETS,
    name="subg-con",
    scope="the mean of a subgraph around the node",
    paper=(
        "Jiao et al., Sub-graph Contrast for Scalable Self-Supervised Graph Representation "
        "Learning, ICDM 2020"
    ),
)
