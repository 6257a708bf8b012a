"""DGI: contrast each node with a summary of the whole graph (Equation 9: `A^inf`).

Velickovic et al., "Deep Graph Infomax", ICLR 2019. Where publication and public code differ, and
where this differs from both:

- The summary is the mean of all rows, `--scope graph`. The paper on UGCL writes it as the infinite
  power, `--scope component`: the two agree on a connected graph up to square roots of degrees.
- The code's discriminator has a bias and weights within `sqrt(6 / (D'^2 + D'))` at the start, much
  smaller than Xavier's bound for a square matrix; so has this one.
- The code goes back to the weights of the lowest loss when it stops early; here the last are kept,
  and a loss counts as lower from 1e-4 on.
- The publication halves the width on PubMed for want of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ugcl.losses import BilinearJSD
from ugcl.methods.method import Method
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, one_convolution
from ugcl.scope import normalised_adjacency
from ugcl.views import Corrupter


@dataclass(frozen=True)
class DGISettings(RecipeSettings):
    """DGI has no settings of its own."""


def _views(
    settings: DGISettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Corrupter:
    normalised = normalised_adjacency(adjacency, settings.self_loops)
    return Corrupter([normalised], features, seed=seed, device=device)


def _objective(settings: DGISettings, generator: torch.Generator) -> BilinearJSD:
    return BilinearJSD(settings.hidden, generator)


RECIPE: Recipe[DGISettings] = Recipe(views=_views, encoder=one_convolution, objective=_objective)

_BASE: dict[str, Any] = {
    "epochs": 10_000,
    "lr": 1e-3,
    "patience": 20,
    "scope": "graph",
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 512,
    "self_loops": 1.0,
    "feature_scaling": "row",
}

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={**_BASE, "epochs": 100, "patience": 0, "feature_scaling": "l2"},
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the publication of DGI and its public code",
        base=_BASE,
        graphs={"pubmed": {"hidden": 256}},
    ),
}

DGI = Method.of(
    RECIPE,
    DGISettings,
    PRESETS,
    name="dgi",
    scope="whole graph: the mean of all rows",
    paper="Velickovic et al., Deep Graph Infomax, ICLR 2019",
)
