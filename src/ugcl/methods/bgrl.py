"""BGRL: predict each node's representation in another augmented view, without negatives (`A^0`).

Thakoor et al., "Large-Scale Representation Learning on Graphs via Bootstrapping", ICLR 2022. The
contexts come from a target encoder that is a moving average of the encoder. Where this differs from
the authors' public code, on purpose:

- An edge is dropped in both directions, as for GRACE.
- The statistics of batch normalisation that embedding uses are averages over about ten views; in
  the code they are nearly those of the last view alone (a momentum of 0.99 in PyTorch's sense).
- The first step has a learning rate above zero.

As in the code, the target starts from random weights of its own, and its batch normalisation sees
its own views. Widths are those of the code's configurations; for Amazon Photo the publication is
said to have 512 and 256 instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import Parameter
from torch.optim import AdamW, Optimizer

from ugcl.graph import Graph
from ugcl.losses import BootstrapLoss
from ugcl.methods.augmented import AugmentedSettings, augmentation, augmented_views
from ugcl.methods.method import Method
from ugcl.methods.options import fraction, integer
from ugcl.methods.presets import Preset
from ugcl.methods.recipe import Recipe
from ugcl.nn import DeepGCN


@dataclass(frozen=True)
class BGRLSettings(AugmentedSettings):
    """BGRL's own."""

    predictor: int = integer("width of the predictor", 1)
    momentum: float = fraction("how much of the target stays after an epoch, at the start")
    warmup: int = integer("epochs in which the learning rate rises", 0)

    def fitted(self, graph: Graph, given: frozenset[str]) -> BGRLSettings:
        """A warm-up that the user does not name is at most a tenth of the epochs."""
        if "warmup" in given:
            return self
        return self.replace(warmup=min(self.warmup, self.epochs // 10))

    def rate(self, epoch: int) -> float:
        """Linear up to `lr` during the warm-up, then half a cosine down to zero."""
        if epoch < self.warmup:
            return self.lr * (epoch + 1) / self.warmup
        return self.lr * _half_cosine(epoch - self.warmup, self.epochs - self.warmup)

    def optimizer(self, parameters: Iterable[Parameter]) -> Optimizer:
        """Adam with the weight decay apart from the gradient."""
        return AdamW(parameters, lr=self.lr, weight_decay=self.weight_decay, fused=True)


def _half_cosine(epoch: int, epochs: int) -> float:
    """From 1 at the first epoch towards 0 at the end."""
    return (1 + math.cos(math.pi * epoch / epochs)) / 2


def _encoder(num_features: int, settings: BGRLSettings, generator: torch.Generator) -> DeepGCN:
    widths = 2 * settings.hidden, settings.hidden
    return DeepGCN(num_features, widths, activation="prelu", batch_norm=True, generator=generator)


def _objective(settings: BGRLSettings, generator: torch.Generator) -> BootstrapLoss:
    return BootstrapLoss(settings.hidden, predictor=settings.predictor, generator=generator)


def _momentum(settings: BGRLSettings, epoch: int) -> float:
    """From `momentum` at the first epoch towards 1 at the end."""
    return 1 - (1 - settings.momentum) * _half_cosine(epoch, settings.epochs)


RECIPE: Recipe[BGRLSettings] = Recipe(
    views=augmented_views,
    encoder=_encoder,
    auxiliary=_encoder,
    momentum=_momentum,
    objective=_objective,
)

_BASE: dict[str, Any] = {
    "epochs": 10_000,
    "lr": 5e-4,
    "patience": 0,
    "scope": 0,
    "readout_scope": 0,
    "readout": "mean",
    "hidden": 256,
    "self_loops": 1.0,
    "feature_scaling": "row",
    **augmentation((0.2, 0.3), (0.2, 0.1)),
    "weight_decay": 1e-5,
    "predictor": 512,
    "momentum": 0.99,
    "warmup": 1000,
}

_GRAPHS: dict[str, dict[str, Any]] = {
    "amazon-photo": {"lr": 1e-4, "hidden": 128, **augmentation((0.4, 0.1), (0.1, 0.2))},
    "amazon-computers": {"hidden": 128, **augmentation((0.5, 0.4), (0.2, 0.1))},
    "coauthor-cs": {"lr": 1e-5, **augmentation((0.3, 0.2), (0.3, 0.4))},
    "coauthor-physics": {"lr": 1e-5, "hidden": 128, **augmentation((0.4, 0.1), (0.1, 0.4))},
}

PRESETS = {
    "fast": Preset(
        about="ours: chosen on training and validation nodes for a fraction of the cost",
        base={
            **_BASE,
            "epochs": 60,
            "lr": 1e-3,
            "hidden": 512,
            **augmentation((0.6, 0.6), (0.6, 0.6)),
            "momentum": 0.97,
            "warmup": 6,
        },
        graphs={
            "amazon-photo": {
                "epochs": 50,
                "hidden": 128,
                **augmentation((0.4, 0.1), (0.1, 0.2)),
                "warmup": 5,
            },
        },
        ours=frozenset(_BASE),
    ),
    "paper": Preset(
        about="the public code of BGRL; for graphs that it does not have, its values for WikiCS",
        base=_BASE,
        graphs=_GRAPHS,
        ours=frozenset(_BASE),
        stated=dict.fromkeys(_GRAPHS, frozenset(_BASE)),
    ),
}

BGRL = Method.of(
    RECIPE,
    BGRLSettings,
    PRESETS,
    name="bgrl",
    scope="A^0, the node in the other view",
    paper=(
        "Thakoor et al., Large-Scale Representation Learning on Graphs via Bootstrapping, ICLR 2022"
    ),
)
