"""GAE and VGAE: representations that reconstruct the edges.

Kipf and Welling, "Variational Graph Auto-Encoders", NIPS Workshop on Bayesian Deep Learning 2016.
The view is the graph, and the context of a node is the node itself (`scope=0`); with another scope
a node's neighbours are reconstructed from `A^n H`. Where paper and public code differ, and where
this differs from both:

- Paper and code score all N x N pairs, with a weight on the edges that balances both classes. Here,
  as in PyTorch Geometric, each epoch has all edges and as many random pairs, so nothing is N x N.
- The code divides the divergence by N once more than the paper; so do PyTorch Geometric and this.
- The code reads X as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ugcl import losses, nn, views
from ugcl._utils.extras import required
from ugcl.methods.method import Method
from ugcl.methods.params import integer
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class AutoencoderSettings(SSLSettings):
    """Settings of both autoencoders."""

    inner: int = integer("width of the first layer", 1)


def build_gae(
    num_features: int, settings: AutoencoderSettings, generator: torch.Generator
) -> Parts:
    """Return the parts of GAE: the graph, a two-layer GCN, reconstruction of the edges."""
    return Parts(
        views=views.FullGraph(settings.self_loops),
        encoder=nn.DeepGCN(
            num_features,
            (settings.inner, settings.hidden),
            activation="relu",
            last_activation=False,
            generator=generator,
        ),
        loss=losses.ReconstructionLoss(_autoencoder("GAE"), variational=False),
    )


def build_vgae(
    num_features: int, settings: AutoencoderSettings, generator: torch.Generator
) -> Parts:
    """Return the parts of VGAE: GAE with distributions as representations."""
    return Parts(
        views=views.FullGraph(settings.self_loops),
        encoder=nn.VariationalGCN(num_features, (settings.inner, settings.hidden), generator),
        loss=losses.ReconstructionLoss(_autoencoder("VGAE"), variational=True),
    )


def _autoencoder(name: str) -> torch.nn.Module:
    """Return PyTorch Geometric's autoencoder with our decoder and no encoder."""
    from torch.nn import Identity

    model: torch.nn.Module = getattr(required("torch_geometric.nn", name.lower()), name)(
        Identity(), losses.PairDecoder()
    )
    return model


GAE = Method(
    name="gae",
    kind="unsupervised",
    scope="the node itself",
    paper="Kipf and Welling, Variational Graph Auto-Encoders, NIPS Workshop 2016",
    settings=AutoencoderSettings,
    presets=load_presets("gae"),
    build=build_gae,
    library="torch_geometric",
)

METHODS = (GAE, replace(GAE, name="vgae", presets=load_presets("vgae"), build=build_vgae))
