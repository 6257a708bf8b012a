"""GRACE: contrast each node with itself in another randomly augmented view (Equation 7: `A^0`).

Zhu et al., "Deep Graph Contrastive Representation Learning", 2020. Where this differs from the
public code, on purpose:

- An edge is dropped in both directions, as the publication describes it; the code drops each
  direction by itself, which leaves a directed graph.
- Each layer's PReLU has a slope of its own; in the code the layers share one.
- With `--negatives K`, K random nodes stand for all others, in both views.

The settings are those of the public code; for the Amazon and Coauthor graphs, which the publication
does not have, those of its successor GCA (Zhu et al., 2021), whose randomised leaky ReLU is
a PReLU here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import torch

from ugcl.graph import Graph
from ugcl.losses import MIN_TEMPERATURE, InfoNCE
from ugcl.methods.augmented import AugmentedSettings, augmentation, augmented_views
from ugcl.methods.method import Method
from ugcl.methods.options import All, choice, integer, integer_or_all, number
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe
from ugcl.nn import Activation, DeepGCN


@dataclass(frozen=True)
class GRACESettings(AugmentedSettings):
    """GRACE's own."""

    activation: Activation = choice("after each convolution", get_args(Activation))
    projector: int = integer("width of the projector", 1)
    temperature: float = number("temperature of the contrast", minimum=MIN_TEMPERATURE)
    negatives: int | All = integer_or_all(
        "how many random nodes stand for all the others as negatives", 2
    )

    def fitted(self, graph: Graph, given: frozenset[str]) -> GRACESettings:
        """Shrink what a preset asks to what the graph has; what the user asks must fit."""
        others = graph.num_nodes - 1
        return self.replace(negatives=self.fit_count("negatives", others, "other nodes", given))


def grace_encoder(
    num_features: int, settings: GRACESettings, generator: torch.Generator
) -> DeepGCN:
    """Two convolutions, the first twice as wide."""
    widths = 2 * settings.hidden, settings.hidden
    return DeepGCN(num_features, widths, activation=settings.activation, generator=generator)


def grace_objective(settings: GRACESettings, generator: torch.Generator) -> InfoNCE:
    """The contrast after a projector."""
    return InfoNCE(
        settings.hidden,
        projector=settings.projector,
        temperature=settings.temperature,
        negatives=settings.negatives,
        generator=generator,
    )


RECIPE: Recipe[GRACESettings] = Recipe(
    views=augmented_views, encoder=grace_encoder, objective=grace_objective
)

_BASE: dict[str, Any] = {
    "epochs": 200,
    "lr": 1e-3,
    "patience": 0,
    "scope": 0,
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 256,
    "self_loops": 1.0,
    "feature_scaling": "row",
    **augmentation((0.2, 0.4), (0.3, 0.2)),
    "weight_decay": 1e-5,
    "activation": "relu",
    "projector": 256,
    "temperature": 0.5,
    "negatives": "all",
}

_CITATION_NETWORKS: dict[str, dict[str, Any]] = {
    "cora": {
        "lr": 5e-4,
        "hidden": 128,
        "projector": 128,
        **augmentation((0.2, 0.4), (0.3, 0.4)),
        "temperature": 0.4,
    },
    "citeseer": {
        "activation": "prelu",
        **augmentation((0.2, 0.0), (0.3, 0.2)),
        "temperature": 0.9,
    },
    "pubmed": {
        "epochs": 1500,
        **augmentation((0.4, 0.1), (0.0, 0.2)),
        "temperature": 0.7,
    },
}

_OF_GCA: dict[str, dict[str, Any]] = {
    "amazon-photo": {
        "epochs": 2000,
        "lr": 0.1,
        "projector": 64,
        **augmentation((0.3, 0.5), (0.1, 0.1)),
        "temperature": 0.3,
    },
    "amazon-computers": {
        "epochs": 2000,
        "lr": 0.01,
        "hidden": 128,
        "projector": 128,
        "activation": "prelu",
        **augmentation((0.6, 0.3), (0.2, 0.3)),
        "temperature": 0.2,
    },
    "coauthor-cs": {
        "epochs": 1000,
        "lr": 5e-4,
        "activation": "prelu",
        **augmentation((0.3, 0.2), (0.3, 0.4)),
        "temperature": 0.4,
    },
    "coauthor-physics": {
        "epochs": 1500,
        "lr": 0.01,
        "hidden": 128,
        "projector": 64,
        "activation": "prelu",
        **augmentation((0.4, 0.1), (0.1, 0.4)),
        "temperature": 0.5,
    },
}

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 50, "feature_scaling": "l2", "negatives": 256},
        graphs={
            "cora": {"temperature": 0.9},
            "citeseer": {"temperature": 0.9},
            "amazon-photo": {"hidden": 128},
        },
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of GRACE, and of GCA for the graphs that GRACE does not have",
        base=_BASE,
        graphs={**_CITATION_NETWORKS, **_OF_GCA},
        ours=frozenset(_BASE),
        stated={
            **dict.fromkeys(_CITATION_NETWORKS, frozenset(_BASE)),
            **dict.fromkeys(_OF_GCA, frozenset(_BASE) - {"activation"}),
        },
    ),
}

GRACE = Method.of(
    RECIPE,
    GRACESettings,
    PRESETS,
    name="grace",
    scope="A^0, the node in the other view",
    paper="Zhu et al., Deep Graph Contrastive Representation Learning, GRL+ at ICML 2020",
)
