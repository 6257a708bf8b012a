"""GGD: tell nodes of the graph from nodes of a corrupted one, without any comparison of nodes.

Zheng et al., "Rethinking and Scaling Up Graph Contrastive Learning: An Extremely Efficient Approach
with Group Discrimination", NeurIPS 2022. DGI's summary, they find, is nearly a constant; here it is
one, and is learnt. Where this differs from the public code:

- Each column of X is masked with the same probability; the code masks the same number of columns.
- The code makes the features of the Amazon graphs binary and keeps their largest component.
- The code's PReLU has a slope for each column on the Amazon graphs; here there is one.
- The code stops after 500 epochs without a lower loss and goes back to the weights of the lowest;
  here all epochs are trained and the last weights are kept.

What is told apart are contexts of the graph and of the corrupted one; at the scope 0, as published,
these are the nodes themselves. The readout is `H + A^n H`, without the power on CiteSeer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.losses import GroupDiscrimination
from ugcl.methods.method import Method
from ugcl.methods.options import fraction
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, one_convolution
from ugcl.scope import normalised_adjacency
from ugcl.views import Corrupter


@dataclass(frozen=True)
class GGDSettings(RecipeSettings):
    """GGD's own."""

    mask_features: float = fraction("share of features masked in every epoch")


def _views(
    settings: GGDSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Corrupter:
    return Corrupter(
        [normalised_adjacency(adjacency, settings.self_loops)],
        features,
        mask_features=settings.mask_features,
        seed=seed,
        device=device,
    )


def _objective(settings: GGDSettings, generator: torch.Generator) -> GroupDiscrimination:
    return GroupDiscrimination(settings.hidden, generator)


RECIPE: Recipe[GGDSettings] = Recipe(views=_views, encoder=one_convolution, objective=_objective)

_BASE: dict[str, Any] = {
    "epochs": 500,
    "lr": 1e-3,
    "patience": 0,
    "scope": 0,
    "readout_scope": 5,
    "readout": "sum",
    "hidden": 512,
    "self_loops": 1.0,
    "feature_scaling": "row",
    "mask_features": 0.2,
}

_GRAPHS: dict[str, dict[str, Any]] = {
    "cora": {},
    "citeseer": {"lr": 5e-4, "epochs": 100, "hidden": 1536, "readout": "hidden"},
    "pubmed": {"hidden": 1024},
    "amazon-photo": {"lr": 5e-4, "epochs": 2000, "readout_scope": 10},
    "amazon-computers": {"lr": 1e-4, "epochs": 1500, "hidden": 1024, "readout_scope": 10},
}

_IN_THE_CODE = ("cora", "amazon-photo", "amazon-computers")

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 100, "feature_scaling": "l2", "readout": "mean"},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of GGD for Cora and the Amazon graphs; values of ours for others",
        base=_BASE,
        graphs=_GRAPHS,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_IN_THE_CODE, frozenset(_BASE) - {"patience"}),
    ),
}

GGD = Method.of(
    RECIPE,
    GGDSettings,
    PRESETS,
    name="ggd",
    scope="none: each node by itself",
    paper=(
        "Zheng et al., Rethinking and Scaling Up Graph Contrastive Learning: An Extremely "
        "Efficient Approach with Group Discrimination, NeurIPS 2022"
    ),
)
