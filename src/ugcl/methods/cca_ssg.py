"""CCA-SSG: columns that two augmented views agree on and that do not repeat one another (`A^0`).

Zhang et al., "From Canonical Correlation Analysis to Self-supervised Graph Neural Networks",
NeurIPS 2021. Where this differs from the public code:

- An edge is dropped in both directions, as for GRACE.
- A column of H that is the same for all nodes is left out; in the code it would be divided by zero.
- On Coauthor CS the code's encoder does not see the graph; here it is the one of all graphs.

`--decorrelation` is the code's lambda, half of the one in the publication's formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.losses import CCASSGLoss
from ugcl.methods.augmented import AugmentedSettings, augmentation, augmented_views
from ugcl.methods.method import Method
from ugcl.methods.options import integer, number
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe
from ugcl.nn import DeepGCN


@dataclass(frozen=True)
class CCASSGSettings(AugmentedSettings):
    """CCA-SSG's own."""

    layers: int = integer("convolutions of the encoder", 1)
    decorrelation: float = number("weight of columns that repeat one another", minimum=0)


def _encoder(num_features: int, settings: CCASSGSettings, generator: torch.Generator) -> DeepGCN:
    widths = [settings.hidden] * settings.layers
    return DeepGCN(num_features, widths, activation="relu", last=False, generator=generator)


def _objective(settings: CCASSGSettings, generator: torch.Generator) -> CCASSGLoss:
    del generator
    return CCASSGLoss(settings.decorrelation)


RECIPE: Recipe[CCASSGSettings] = Recipe(
    views=augmented_views, encoder=_encoder, objective=_objective
)


def _rates(edges: float, features: float) -> dict[str, float]:
    """Both views alike."""
    return augmentation((edges, edges), (features, features))


_BASE: dict[str, Any] = {
    "epochs": 50,
    "lr": 1e-3,
    "patience": 0,
    "scope": 0,
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 512,
    "self_loops": 1.0,
    "feature_scaling": "none",
    **_rates(0.3, 0.2),
    "weight_decay": 0.0,
    "layers": 2,
    "decorrelation": 1e-3,
}

_GRAPHS: dict[str, dict[str, Any]] = {
    "cora": {"feature_scaling": "row", **_rates(0.4, 0.1)},
    "citeseer": {
        "feature_scaling": "row",
        "epochs": 20,
        "layers": 1,
        "decorrelation": 5e-4,
        **_rates(0.4, 0.0),
    },
    "pubmed": {"feature_scaling": "row", "epochs": 100, **_rates(0.5, 0.3)},
    "amazon-computers": {"decorrelation": 5e-4, **_rates(0.3, 0.1)},
    "amazon-photo": {},
    "coauthor-cs": {**_rates(0.2, 0.2)},
    "coauthor-physics": {"epochs": 100, **_rates(0.5, 0.5)},
}

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "feature_scaling": "l2", "hidden": 256},
        graphs={"citeseer": {"hidden": 512, "layers": 1, "epochs": 20}},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of CCA-SSG, and its values for Photo for other graphs",
        base=_BASE,
        graphs=_GRAPHS,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_GRAPHS, frozenset(_BASE)),
    ),
}

CCA_SSG = Method.of(
    RECIPE,
    CCASSGSettings,
    PRESETS,
    name="cca-ssg",
    scope="A^0, the node in the other view",
    paper=(
        "Zhang et al., From Canonical Correlation Analysis to Self-supervised Graph Neural "
        "Networks, NeurIPS 2021"
    ),
)
