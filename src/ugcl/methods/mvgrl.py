"""MVGRL: contrast each node of the graph with a summary of its diffusion, and back (Equation 10).

Hassani and Khasahmadi, "Contrastive Multi-View Representation Learning on Graphs", ICML 2020. Where
paper and public code differ, and where this differs from both:

- The diffusion is computed and stored sparse: an entry is kept if it is among the `neighbours`
  largest of either of its nodes (see `ugcl.scope.diffusion`). In the code it is dense on Cora and
  PubMed, cut at a threshold on CiteSeer.
- Training sees the whole graph; the code samples windows of 2,000 nodes, because its matrices are
  dense.
- The code's heat kernel is an element-wise exponential, and is never called; here it is the matrix
  exponential.
- On CiteSeer the code scales each column of the diffusion to [0, 1], which makes it asymmetric;
  here it is symmetric on all graphs.
- The code restores the weights of the lowest loss; here the last weights are kept.
- The code adds each self-loop twice by mistake; here it is added once, as published.
- The summary is the mean of all rows, `scope="graph"`, as for DGI. Other scopes use the graph's
  adjacency in both views, as in Equation 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import choice, integer, number
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings
from ugcl.typing import Diffusion

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class MVGRLSettings(SSLSettings):
    """Settings of MVGRL."""

    diffusion: Diffusion = choice(
        "the second view: personalised PageRank or heat", get_args(Diffusion)
    )
    teleport: float = number("restart probability of PageRank", minimum=0.001, below=1)
    heat_time: float = number("diffusion time of heat", above=0, below=1000)
    neighbours: int = integer("entries kept for each node of the diffusion", 1)


def build(num_features: int, settings: MVGRLSettings, generator: torch.Generator) -> Parts:
    """Return the parts of MVGRL: adjacency and diffusion, a GCN for each, DGI's loss."""
    return Parts(
        views=views.DiffusionViews(
            kind=settings.diffusion,
            teleport=settings.teleport,
            heat_time=settings.heat_time,
            neighbours=settings.neighbours,
            self_loops=settings.self_loops,
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        second_encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.BilinearJSD(settings.hidden, generator),
    )


METHOD = Method(
    name="mvgrl",
    scope="whole graph: the mean of all rows of the other view",
    paper=(
        "Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs, "
        "ICML 2020"
    ),
    settings=MVGRLSettings,
    presets=load_presets("mvgrl"),
    build=build,
)
