"""CCA-SSG: columns that two augmented views agree on and that are decorrelated (`A^0`).

Zhang et al., "From Canonical Correlation Analysis to Self-supervised Graph Neural Networks",
NeurIPS 2021. Differences from the public code:

- An edge is dropped in both directions, as for GRACE.
- A constant column of H is ignored; in the code it would be divided by zero.
- On Coauthor CS the code's encoder ignores the edges; here it is the same GCN as elsewhere.

`decorrelation` is the code's lambda, half of the one in the paper's formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import integer, number
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import AugmentationSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class CCASSGSettings(AugmentationSettings):
    """Settings of CCA-SSG."""

    layers: int = integer("layers of the encoder", 1)
    decorrelation: float = number("weight of the decorrelation term", minimum=0)


def build(num_features: int, settings: CCASSGSettings, generator: torch.Generator) -> Parts:
    """Return the parts of CCA-SSG: two augmented views, a GCN, invariance and decorrelation."""
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=settings.drop_edges,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=nn.DeepGCN(
            num_features,
            [settings.hidden] * settings.layers,
            activation="relu",
            last_activation=False,
            generator=generator,
        ),
        loss=losses.CCASSGLoss(settings.decorrelation),
    )


METHOD = Method(
    name="cca-ssg",
    scope="A^0, the node in the other view",
    paper=(
        "Zhang et al., From Canonical Correlation Analysis to Self-supervised Graph Neural "
        "Networks, NeurIPS 2021"
    ),
    settings=CCASSGSettings,
    presets=load_presets("cca-ssg"),
    build=build,
)
