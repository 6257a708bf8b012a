"""BGRL: predict each node's representation in another augmented view, without negatives (`A^0`).

Thakoor et al., "Large-Scale Representation Learning on Graphs via Bootstrapping", ICLR 2022. The
contexts come from a target encoder that is a moving average of the encoder. Deliberate differences
from the authors' public code:

- An edge is dropped in both directions, as for GRACE.
- The running statistics of batch normalisation average over about ten views; in the code they are
  nearly those of the last view alone (a momentum of 0.99 in PyTorch's sense).
- The learning rate of the first step is above zero.

As in the code, the target starts from random weights of its own, and its batch normalisation sees
its own views. Widths are those of the code's configurations; for Amazon Photo the paper is said to
have 512 and 256 instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import fraction, integer
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import AugmentationSettings

if TYPE_CHECKING:
    import torch

    from ugcl.graph import Graph


@dataclass(frozen=True)
class BGRLSettings(AugmentationSettings):
    """Settings of BGRL."""

    predictor: int = integer("hidden width of the predictor", 1)
    momentum: float = fraction("initial momentum of the target encoder")
    warmup: int = integer("epochs in which the learning rate rises", 0)

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> BGRLSettings:
        """Limit the warm-up of a preset to a tenth of the epochs."""
        if "warmup" in params:
            return self
        return self.replace(warmup=min(self.warmup, self.epochs // 10))

    def lr_at(self, epoch: int) -> float:
        """Return the learning rate: a linear warm-up to `lr`, then half a cosine to zero."""
        if epoch < self.warmup:
            return self.lr * (epoch + 1) / self.warmup
        return self.lr * _half_cosine(epoch - self.warmup, self.epochs - self.warmup)

    def momentum_at(self, epoch: int) -> float:
        """Return the momentum, which rises from `momentum` to 1."""
        return 1 - (1 - self.momentum) * _half_cosine(epoch, self.epochs)


def _half_cosine(epoch: int, epochs: int) -> float:
    """Return a factor that falls from 1 at the first epoch to 0 at the end."""
    return (1 + math.cos(math.pi * epoch / epochs)) / 2


def build(num_features: int, settings: BGRLSettings, generator: torch.Generator) -> Parts:
    """Return the parts of BGRL: two augmented views, online and target GCN, a predictor."""
    widths = 2 * settings.hidden, settings.hidden
    online, target = (
        nn.DeepGCN(num_features, widths, activation="prelu", batch_norm=True, generator=generator)
        for _ in range(2)
    )
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=settings.drop_edges,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=online,
        context_encoder=target,
        momentum=settings.momentum_at,
        loss=losses.BootstrapLoss(
            settings.hidden, predictor=settings.predictor, generator=generator
        ),
        optimizer="adamw",
    )


METHOD = Method(
    name="bgrl",
    scope="A^0, the node in the other view",
    paper=(
        "Thakoor et al., Large-Scale Representation Learning on Graphs via Bootstrapping, ICLR 2022"
    ),
    settings=BGRLSettings,
    presets=load_presets("bgrl"),
    build=build,
)
