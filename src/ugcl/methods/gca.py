"""GCA: GRACE that drops what matters least, edges and features of nodes that are not central.

Zhu et al., "Graph Contrastive Learning with Adaptive Augmentation", WWW 2021. Where publication and
public code differ, this follows the publication:

- An edge weighs the mean centrality of its two ends; in the code, that of one of them.
- PageRank is PageRank; the code's restarts at the previous step instead of at random.
- Probabilities are of logarithms of centralities; later versions of the code add 1 before.

As for GRACE, an edge is dropped in both directions, each PReLU has a slope of its own, and the
code's randomised leaky ReLU, which it uses as a fixed one, is a PReLU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.methods.augmented import augmentation
from ugcl.methods.grace import PRESETS as GRACE_PRESETS
from ugcl.methods.grace import GRACESettings, grace_encoder, grace_objective
from ugcl.methods.method import Method
from ugcl.methods.options import choice, fraction
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe
from ugcl.views import (
    CENTRALITIES,
    Augmenter,
    Centrality,
    centrality,
    drop_probabilities,
    edge_ends,
    edge_weights,
    feature_weights,
)


@dataclass(frozen=True)
class GCASettings(GRACESettings):
    """GCA's own."""

    centrality: Centrality = choice("what makes a node matter", CENTRALITIES)
    max_drop: float = fraction("the highest probability with which anything is dropped")


def _views(
    settings: GCASettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Augmenter:
    nodes = centrality(adjacency, settings.centrality)
    edges = edge_weights(nodes, *edge_ends(adjacency))
    columns = feature_weights(nodes, features)
    max_drop = settings.max_drop
    return Augmenter(
        adjacency,
        features,
        drop_edges=(
            drop_probabilities(edges, settings.drop_edges_1, max_drop),
            drop_probabilities(edges, settings.drop_edges_2, max_drop),
        ),
        mask_features=(
            drop_probabilities(columns, settings.mask_features_1, max_drop),
            drop_probabilities(columns, settings.mask_features_2, max_drop),
        ),
        self_loops=settings.self_loops,
        seed=seed,
        device=device,
    )


RECIPE: Recipe[GCASettings] = Recipe(views=_views, encoder=grace_encoder, objective=grace_objective)

_OWN: dict[str, Any] = {"centrality": "degree", "max_drop": 0.7}

_WIKI_CS: dict[str, Any] = {
    "epochs": 3000,
    "lr": 0.01,
    "activation": "prelu",
    **augmentation((0.2, 0.3), (0.1, 0.1)),
    "temperature": 0.4,
}

_OF_GRACE = GRACE_PRESETS["paper"]

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**GRACE_PRESETS["fast"].base, **_OWN},
        graphs=GRACE_PRESETS["fast"].graphs,
        ours=frozenset(_OF_GRACE.base) | frozenset(_OWN),
    ),
    "paper": Preset(
        about=(
            "the public code of GCA; for the citation networks that of GRACE, for other graphs its "
            "values for WikiCS"
        ),
        base={**_OF_GRACE.base, **_WIKI_CS, **_OWN},
        graphs={name: {**_OF_GRACE.base, **values} for name, values in _OF_GRACE.graphs.items()},
        ours=frozenset(_OF_GRACE.base) | frozenset(_OWN),
        stated={
            name: (frozenset(_OF_GRACE.base) | frozenset(_OWN)) - {"activation"}
            for name in ("amazon-computers", "amazon-photo", "coauthor-cs", "coauthor-physics")
        },
    ),
}

GCA = Method.of(
    RECIPE,
    GCASettings,
    PRESETS,
    name="gca",
    scope="A^0, the node in the other view",
    paper="Zhu et al., Graph Contrastive Learning with Adaptive Augmentation, WWW 2021",
)
