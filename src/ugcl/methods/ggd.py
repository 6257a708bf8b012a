"""GGD: classify nodes as belonging to the graph or to a corrupted graph.

Zheng et al., "Rethinking and Scaling Up Graph Contrastive Learning: An Extremely Efficient Approach
with Group Discrimination", NeurIPS 2022. They find that DGI's summary is nearly constant; here it
is a learned constant. Differences from the public code:

- Each column of X is masked with the same probability; the code masks a fixed number of columns.
- The code makes the features of the Amazon graphs binary and keeps their largest component.
- The code's PReLU has a slope for each column on the Amazon graphs; here there is one.
- The code stops after 500 epochs without a lower loss and restores the weights of the lowest;
  here all epochs are trained and the last weights are kept.

Contexts of the graph and of the corrupted graph are classified; at scope 0, as published, these are
the nodes themselves. The readout is `H + A^n H`, without the power on CiteSeer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import fraction
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class GGDSettings(SSLSettings):
    """Settings of GGD."""

    mask_features: float = fraction("fraction of features masked in every epoch")


def build(num_features: int, settings: GGDSettings, generator: torch.Generator) -> Parts:
    """Return the parts of GGD: the masked graph and a corrupted one, a GCN, a classifier."""
    return Parts(
        views=views.Corruption(
            self_loops=settings.self_loops, mask_features=settings.mask_features
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.GroupDiscrimination(settings.hidden, generator),
    )


METHOD = Method(
    name="ggd",
    scope="none: each node by itself",
    paper=(
        "Zheng et al., Rethinking and Scaling Up Graph Contrastive Learning: An Extremely "
        "Efficient Approach with Group Discrimination, NeurIPS 2022"
    ),
    settings=GGDSettings,
    presets=load_presets("ggd"),
    build=build,
)
