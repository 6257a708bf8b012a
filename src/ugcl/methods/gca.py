"""GCA: GRACE that drops the edges and features of nodes with low centrality more often.

Zhu et al., "Graph Contrastive Learning with Adaptive Augmentation", WWW 2021. Where paper and
public code differ, this follows the paper:

- The weight of an edge is the mean centrality of its endpoints; in the code, that of one of them.
- PageRank restarts at random; the code's restarts at the previous step.
- Probabilities use logarithms of centralities; later versions of the code add 1 before.

As for GRACE, an edge is dropped in both directions, each PReLU has its own slope, and the code's
randomised leaky ReLU, which it uses as a fixed one, is a PReLU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from ugcl import views
from ugcl.methods import grace
from ugcl.methods.method import Method
from ugcl.methods.params import choice, fraction
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.typing import Centrality

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class GCASettings(grace.GRACESettings):
    """Settings of GCA."""

    centrality: Centrality = choice("centrality of the nodes", get_args(Centrality))
    max_drop: float = fraction("maximum probability with which an edge or feature is dropped")


def build(num_features: int, settings: GCASettings, generator: torch.Generator) -> Parts:
    """Return the parts of GCA: those of GRACE with adaptive augmentation."""
    augmentation = views.AdaptiveAugmentation(
        kind=settings.centrality,
        drop_edges=settings.drop_edges,
        mask_features=settings.mask_features,
        max_drop=settings.max_drop,
        self_loops=settings.self_loops,
    )
    return replace(grace.build(num_features, settings, generator), views=augmentation)


METHOD = Method(
    name="gca",
    scope="A^0, the node in the other view",
    paper="Zhu et al., Graph Contrastive Learning with Adaptive Augmentation, WWW 2021",
    settings=GCASettings,
    presets=load_presets("gca"),
    build=build,
)
