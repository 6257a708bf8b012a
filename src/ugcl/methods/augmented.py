"""What the methods with two randomly augmented views share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import Parameter
from torch.optim import Adam, Optimizer

from ugcl.methods.options import fraction, number
from ugcl.methods.recipe import RecipeSettings
from ugcl.views import Augmenter


@dataclass(frozen=True)
class AugmentedSettings(RecipeSettings):
    """How the two views are made, and how weights are kept small."""

    drop_edges_1: float = fraction("share of edges dropped in the first view")
    drop_edges_2: float = fraction("share of edges dropped in the second view")
    mask_features_1: float = fraction("share of features masked in the first view")
    mask_features_2: float = fraction("share of features masked in the second view")
    weight_decay: float = number("weight decay of the optimiser", minimum=0)

    def optimizer(self, parameters: Iterable[Parameter]) -> Optimizer:
        """Adam with the weight decay in the gradient."""
        return Adam(parameters, lr=self.lr, weight_decay=self.weight_decay, fused=True)


def augmented_views(
    settings: AugmentedSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Augmenter:
    """Two views, each without some edges and some features."""
    return Augmenter(
        adjacency,
        features,
        drop_edges=(settings.drop_edges_1, settings.drop_edges_2),
        mask_features=(settings.mask_features_1, settings.mask_features_2),
        self_loops=settings.self_loops,
        seed=seed,
        device=device,
    )


def augmentation(edges: tuple[float, float], features: tuple[float, float]) -> dict[str, float]:
    """The settings of two views by name: edges dropped and features masked in each."""
    names = ("drop_edges_1", "drop_edges_2", "mask_features_1", "mask_features_2")
    return dict(zip(names, (*edges, *features), strict=True))
