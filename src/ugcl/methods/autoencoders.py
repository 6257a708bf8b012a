"""GAE and VGAE: representations from which the edges can be told.

Kipf and Welling, "Variational Graph Auto-Encoders", NIPS Workshop on Bayesian Deep Learning 2016.
As recipes: one view, the graph; the context of a node is the node itself (`--scope 0`). With
another scope a node's neighbours must be told from `A^n H`. Where publication and public code
differ, and where this differs from both:

- Publication and code score all N x N pairs, with a weight on the joined ones that makes both sides
  equal. Here, as in PyTorch Geometric, each epoch has all joined pairs and as many random others,
  so that nothing is N x N.
- The code weighs the divergence by one over N more than the publication; so does PyTorch Geometric,
  and so does this.
- The code reads X as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ugcl._utils.extras import required
from ugcl.losses import PairDecoder, ReconstructionLoss
from ugcl.methods.method import Method
from ugcl.methods.options import integer
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe, RecipeSettings, graph_with_edges
from ugcl.nn import DeepGCN, VariationalGCN


@dataclass(frozen=True)
class AutoencoderSettings(RecipeSettings):
    """What the two autoencoders have."""

    inner: int = integer("width of the first convolution", 1)


def _plain(num_features: int, settings: AutoencoderSettings, generator: torch.Generator) -> DeepGCN:
    widths = settings.inner, settings.hidden
    return DeepGCN(num_features, widths, activation="relu", last=False, generator=generator)


def _variational(
    num_features: int, settings: AutoencoderSettings, generator: torch.Generator
) -> VariationalGCN:
    return VariationalGCN(num_features, (settings.inner, settings.hidden), generator)


def _objective(settings: AutoencoderSettings, generator: torch.Generator) -> ReconstructionLoss:
    del settings, generator
    models = required("torch_geometric.nn", "gae")
    return ReconstructionLoss(models.GAE(nn.Identity(), PairDecoder()), variational=False)


def _variational_objective(
    settings: AutoencoderSettings, generator: torch.Generator
) -> ReconstructionLoss:
    del settings, generator
    models = required("torch_geometric.nn", "vgae")
    return ReconstructionLoss(models.VGAE(nn.Identity(), PairDecoder()), variational=True)


RECIPE: Recipe[AutoencoderSettings] = Recipe(
    views=graph_with_edges, encoder=_plain, objective=_objective
)

VARIATIONAL_RECIPE: Recipe[AutoencoderSettings] = Recipe(
    views=graph_with_edges, encoder=_variational, objective=_variational_objective
)

_BASE: dict[str, Any] = {
    "epochs": 200,
    "lr": 0.01,
    "patience": 0,
    "scope": 0,
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 16,
    "inner": 32,
    "self_loops": 1.0,
    "feature_scaling": "none",
}

_FAST: dict[str, Any] = {
    **_BASE,
    "epochs": 60,
    "lr": 1e-3,
    "hidden": 256,
    "inner": 256,
    "feature_scaling": "l2",
}


def _presets(**graphs: Any) -> dict[str, Preset]:
    return {
        "fast": Preset(
            about="ours: chosen on training and validation nodes",
            base={**_FAST, **graphs.pop("base", {})},
            graphs=graphs,
            ours=frozenset(_BASE),
        ),
        "paper": Preset(about="the publication of GAE and VGAE and its public code", base=_BASE),
    }


_PAPER = "Kipf and Welling, Variational Graph Auto-Encoders, NIPS Workshop 2016"

GAE = Method.of(
    RECIPE,
    AutoencoderSettings,
    _presets(),
    name="gae",
    kind="unsupervised",
    scope="the node itself",
    paper=_PAPER,
    library="torch_geometric",
)

VGAE = Method.of(
    VARIATIONAL_RECIPE,
    AutoencoderSettings,
    _presets(base={"epochs": 100}, cora={"epochs": 200}, citeseer={"epochs": 200}),
    name="vgae",
    kind="unsupervised",
    scope="the node itself",
    paper=_PAPER,
    library="torch_geometric",
)
