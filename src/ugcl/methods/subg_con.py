"""SubG-Con: contrast each node with the summary of a small subgraph around it.

Jiao et al., "Sub-graph Contrast for Scalable Self-Supervised Graph Representation Learning", ICDM
2020. Where paper and public code differ, and where this differs from both:

- The subgraph of a node has the node and the most important others by personalised PageRank, row v
  of `alpha (I - (1 - alpha) A D^-1)^-1`, as published; the code takes ten steps of it (see
  `ugcl.scope.diffusion` for how it is computed).
- The summary of a subgraph is the mean of its nodes, `scope="graph"`, as in the code; the paper
  applies a sigmoid to it.
- A summary is compared with its own node and with another, as in the code; in the paper a node with
  its own summary and with another.
- The code's PReLU has a slope for each column; here there is one.
- The code stops by validation accuracy, which needs labels. Here the number of epochs is fixed.
- A node is embedded within its own subgraph; contexts of the readout are in the graph itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import All, integer, integer_or_all, number
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings

if TYPE_CHECKING:
    import torch

    from ugcl.graph import Graph


@dataclass(frozen=True)
class SubGConSettings(SSLSettings):
    """Settings of SubG-Con."""

    sample: int | All = integer_or_all("nodes whose subgraphs are sampled in every epoch", 2)
    subgraph: int = integer("maximum nodes of a subgraph, its centre included", 2)
    teleport: float = number("restart probability of PageRank", minimum=0.001, below=1)
    margin: float = number("margin between a node's score and another node's", above=0)

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> SubGConSettings:
        """Reduce the sample of a preset to what the graph has."""
        return self.replace(sample=self.cap("sample", graph.num_nodes, "nodes", params))


def build(num_features: int, settings: SubGConSettings, generator: torch.Generator) -> Parts:
    """Return the parts of SubG-Con: subgraphs around sampled nodes, a GCN, a margin loss."""
    return Parts(
        views=views.SubgraphSampler(
            count=settings.sample,
            size=settings.subgraph,
            teleport=settings.teleport,
            self_loops=settings.self_loops,
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.MarginLoss(settings.margin),
    )


METHOD = Method(
    name="subg-con",
    scope="the mean of a subgraph around the node",
    paper=(
        "Jiao et al., Sub-graph Contrast for Scalable Self-Supervised Graph Representation "
        "Learning, ICDM 2020"
    ),
    settings=SubGConSettings,
    presets=load_presets("subg-con"),
    build=build,
)
