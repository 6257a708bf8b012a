"""DGI: contrast each node with a summary of the whole graph (Equation 9: `A^inf`).

Velickovic et al., "Deep Graph Infomax", ICLR 2019. Where paper and public code differ, and where
this differs from both:

- The summary is the mean of all rows, `scope="graph"`. The UGCL paper writes it as the infinite
  power, `scope="component"`: the two agree on a connected graph up to square roots of degrees.
- As in the code, the discriminator has a bias, and initial weights within `sqrt(6 / (D'^2 + D'))`,
  much smaller than Xavier's bound for a square matrix.
- The code restores the weights of the lowest loss when it stops early; here the last weights are
  kept, and a loss counts as lower from 1e-4 on.
- The paper halves the width on PubMed to fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class DGISettings(SSLSettings):
    """Settings of DGI, which has none of its own."""


def build(num_features: int, settings: DGISettings, generator: torch.Generator) -> Parts:
    """Return the parts of DGI: the graph and a corrupted graph, a GCN, a bilinear discriminator."""
    return Parts(
        views=views.Corruption(self_loops=settings.self_loops),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.BilinearJSD(settings.hidden, generator),
    )


METHOD = Method(
    name="dgi",
    scope="whole graph: the mean of all rows",
    paper="Velickovic et al., Deep Graph Infomax, ICLR 2019",
    settings=DGISettings,
    presets=load_presets("dgi"),
    build=build,
)
