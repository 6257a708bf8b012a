"""GMI: a node's representation tells its neighbourhood's features and edges (Equation 8: `A^1 X`).

Peng et al., "Graph Representation Learning via Graphical Mutual Information Maximization", WWW
2020. Where publication and public code differ, and where this differs from both:

- The publication adds up the mutual information with each neighbour's features; the code and the
  paper on UGCL take that with their mean, `A^1 X`. So does this, with the normalised adjacency and
  its self-loops, so that a node's own features belong to the context; the code has them in a term
  of its own, and a hidden layer between neighbours' features and the discriminator.
- The code's discriminators have weights that start much smaller, and biases, and its negatives for
  neighbours' features are other nodes' representations; here they are other nodes' features.
- The edge term of the code is a dense N x N matrix. Here it is summed in strips of rows
  (`--non-edges all`), or estimated without bias from some random nodes for each node.
- The code goes back to the weights of the lowest loss; here the last are kept.

The code has two convolutions on Cora and one on CiteSeer and PubMed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.graph import Graph
from ugcl.losses import GMILoss
from ugcl.methods.method import Method
from ugcl.methods.options import All, integer, integer_or_all, number
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, graph_with_edges
from ugcl.nn import GCN, DeepGCN, Encoder, Linear


@dataclass(frozen=True)
class GMISettings(RecipeSettings):
    """GMI's own."""

    layers: int = integer("convolutions of the encoder", 1)
    negatives: int | All = integer_or_all(
        "other nodes whose features each node is compared with in every epoch", 1
    )
    non_edges: int | All = integer_or_all(
        "other nodes for each node that stand for all that it is not joined to", 1
    )
    edge_weight: float = number("weight of the edge term", minimum=0)

    def fitted(self, graph: Graph, given: frozenset[str]) -> GMISettings:
        """Shrink what a preset asks to what the graph has; what the user asks must fit."""
        others = graph.num_nodes - 1
        return self.replace(
            negatives=self.fit_count("negatives", others, "other nodes", given),
            non_edges=self.fit_count("non_edges", others, "other nodes", given),
        )


def _encoder(num_features: int, settings: GMISettings, generator: torch.Generator) -> Encoder:
    if settings.layers == 1:
        return GCN(num_features, settings.hidden, generator)
    widths = [settings.hidden] * settings.layers
    return DeepGCN(num_features, widths, activation="prelu", generator=generator)


def _features(num_features: int, settings: GMISettings, generator: torch.Generator) -> Linear:
    return Linear(num_features, settings.hidden, generator)


def _objective(settings: GMISettings, generator: torch.Generator) -> GMILoss:
    del generator
    return GMILoss(
        edge_weight=settings.edge_weight,
        negatives=settings.negatives,
        non_edges=settings.non_edges,
    )


RECIPE: Recipe[GMISettings] = Recipe(
    views=graph_with_edges, encoder=_encoder, auxiliary=_features, objective=_objective
)

_BASE: dict[str, Any] = {
    "epochs": 550,
    "lr": 1e-3,
    "patience": 20,
    "scope": 1,
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 512,
    "self_loops": 1.0,
    "feature_scaling": "row",
    "layers": 1,
    "negatives": 5,
    "non_edges": "all",
    "edge_weight": 1.0,
}

_CITATION_NETWORKS: dict[str, dict[str, Any]] = {
    "cora": {"layers": 2},
    "citeseer": {},
    "pubmed": {},
}

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 100, "patience": 0, "feature_scaling": "l2", "non_edges": 5},
        graphs={"pubmed": {"epochs": 50, "lr": 0.01, "hidden": 256}},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of GMI, and its values for CiteSeer for other graphs",
        base=_BASE,
        graphs=_CITATION_NETWORKS,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_CITATION_NETWORKS, frozenset(_BASE)),
    ),
}

GMI = Method.of(
    RECIPE,
    GMISettings,
    PRESETS,
    name="gmi",
    scope="A^1 X, the neighbours' raw features",
    paper=(
        "Peng et al., Graph Representation Learning via Graphical Mutual Information "
        "Maximization, WWW 2020"
    ),
)
