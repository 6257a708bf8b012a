"""GMI: mutual information of a node with its neighbours' features and with the edges (Equation 8).

Peng et al., "Graph Representation Learning via Graphical Mutual Information Maximization", WWW
2020. Where paper and public code differ, and where this differs from both:

- The paper sums the mutual information with each neighbour's features; the code and the UGCL paper
  use their mean, `A^1 X`. So does this, with the normalised adjacency and its self-loops, so that a
  node's own features belong to its context; the code has them in a term of their own, and a hidden
  layer between the neighbours' features and the discriminator.
- The code's discriminators have much smaller initial weights, and biases, and its negatives for the
  neighbours' features are other nodes' representations; here they are other nodes' features.
- The edge term of the code is a dense N x N matrix. Here it is summed in strips of rows
  (`non_edges="all"`), or estimated without bias from a few random nodes for each node.
- The code restores the weights of the lowest loss; here the last weights are kept.

The code has two layers on Cora and one on CiteSeer and PubMed.
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
class GMISettings(SSLSettings):
    """Settings of GMI."""

    layers: int = integer("layers of the encoder", 1)
    negatives: int | All = integer_or_all(
        "other nodes whose features each node is compared with in every epoch", 1
    )
    non_edges: int | All = integer_or_all(
        "random nodes that each node is compared with in the edge term", 1
    )
    edge_weight: float = number("weight of the edge term", minimum=0)

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> GMISettings:
        """Reduce the counts of a preset to what the graph has."""
        others = graph.num_nodes - 1
        return self.replace(
            negatives=self.cap("negatives", others, "other nodes", params),
            non_edges=self.cap("non_edges", others, "other nodes", params),
        )


def build(num_features: int, settings: GMISettings, generator: torch.Generator) -> Parts:
    """Return the parts of GMI: the graph, a GCN, raw features as contexts, GMI's loss."""
    encoder: nn.Encoder
    if settings.layers == 1:
        encoder = nn.GCN(num_features, settings.hidden, generator)
    else:
        widths = [settings.hidden] * settings.layers
        encoder = nn.DeepGCN(num_features, widths, activation="prelu", generator=generator)
    return Parts(
        views=views.FullGraph(settings.self_loops),
        encoder=encoder,
        context_encoder=nn.LinearEncoder(num_features, settings.hidden, generator),
        loss=losses.GMILoss(
            edge_weight=settings.edge_weight,
            negatives=settings.negatives,
            non_edges=settings.non_edges,
        ),
    )


METHOD = Method(
    name="gmi",
    scope="A^1 X, the neighbours' raw features",
    paper=(
        "Peng et al., Graph Representation Learning via Graphical Mutual Information "
        "Maximization, WWW 2020"
    ),
    settings=GMISettings,
    presets=load_presets("gmi"),
    build=build,
)
