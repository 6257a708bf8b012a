"""GRACE: contrast each node with itself in another augmented view (Equation 7: `A^0`).

Zhu et al., "Deep Graph Contrastive Representation Learning", 2020. Deliberate differences from the
public code:

- An edge is dropped in both directions, as the paper describes it; the code drops each direction
  independently, which leaves a directed graph.
- Each layer's PReLU has its own slope; in the code the layers share one.
- With `negatives` K, K random nodes of both views are the negatives of all nodes.

The published settings are those of the public code; for the Amazon and Coauthor graphs, which the
paper does not have, those of its successor GCA (Zhu et al., 2021), whose randomised leaky ReLU is a
PReLU here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import All, choice, integer, integer_or_all, temperature
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import AugmentationSettings
from ugcl.typing import Activation

if TYPE_CHECKING:
    import torch

    from ugcl.graph import Graph


@dataclass(frozen=True)
class GRACESettings(AugmentationSettings):
    """Settings of GRACE."""

    activation: Activation = choice("activation of each layer", get_args(Activation))
    projector: int = integer("hidden width of the projector", 1)
    temperature: float = temperature()
    negatives: int | All = integer_or_all("random nodes that all nodes share as negatives", 2)

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> GRACESettings:
        """Reduce the negatives of a preset to what the graph has."""
        negatives = self.cap("negatives", graph.num_nodes - 1, "other nodes", params)
        return self.replace(negatives=negatives)


def build(num_features: int, settings: GRACESettings, generator: torch.Generator) -> Parts:
    """Return the parts of GRACE: two augmented views, a two-layer GCN, InfoNCE."""
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=settings.drop_edges,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=nn.DeepGCN(
            num_features,
            (2 * settings.hidden, settings.hidden),
            activation=settings.activation,
            generator=generator,
        ),
        loss=losses.InfoNCE(
            settings.hidden,
            projector=settings.projector,
            temperature=settings.temperature,
            negatives=settings.negatives,
            generator=generator,
        ),
    )


METHOD = Method(
    name="grace",
    scope="A^0, the node in the other view",
    paper="Zhu et al., Deep Graph Contrastive Representation Learning, GRL+ at ICML 2020",
    settings=GRACESettings,
    presets=load_presets("grace"),
    build=build,
)
