"""UGCL: contrast each node with a contextual view whose scope is a power of the adjacency.

Zheng et al., "Unifying Graph Contrastive Learning with Flexible Contextual Scopes", ICDM 2022,
Section III. The five ablations of Table V each take one part away. Where an ablation changes the
training scope, the paper does not say what `A^n` is at the readout; by default it is the training
scope, so that nothing of the power is left. Setting `readout_scope` to UGCL's own n is the other
reading.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from ugcl import losses, nn, views
from ugcl.methods.method import Method
from ugcl.methods.params import All, choice, integer_or_all, temperature
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings, resolved
from ugcl.typing import ContextKind, Normalisation, Sampling

if TYPE_CHECKING:
    import torch

    from ugcl.graph import Graph


@dataclass(frozen=True)
class UGCLSettings(SSLSettings):
    """Settings of UGCL, which the paper, the authors' code and our preset choose differently."""

    sample: int | All = integer_or_all("nodes S of the subgraph that is sampled in every epoch", 2)
    sampling: Sampling = choice(
        "sample random nodes, a window of consecutive nodes, or balls around random nodes",
        get_args(Sampling),
    )
    normalisation: Normalisation = choice(
        "normalise the adjacency by the degrees in the whole graph or in the subgraph",
        get_args(Normalisation),
    )
    context: ContextKind = choice(
        "contextual view in training: power A^n H, lazy ((I+A)/2)^n H", get_args(ContextKind)
    )
    temperature: float = temperature()
    negatives: int | All = integer_or_all("random nodes that all nodes share as negatives", 2)

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> UGCLSettings:
        """Reduce the sample and the negatives of a preset to what the graph has."""
        sample = self.cap("sample", graph.num_nodes, "nodes", params)
        num_sampled = graph.num_nodes if sample == "all" else int(sample)
        negatives = self.cap("negatives", num_sampled - 1, "other nodes of a sample", params)
        return self.replace(sample=sample, negatives=negatives)


def build(num_features: int, settings: UGCLSettings, generator: torch.Generator) -> Parts:
    """Return the parts of UGCL: a primary and an auxiliary GCN on a sampled subgraph."""
    return Parts(
        views=views.Subsampler(
            size=settings.sample,
            sampling=settings.sampling,
            normalisation=settings.normalisation,
            self_loops=settings.self_loops,
            context=settings.context,
            scope=resolved(settings.scope),
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        context_encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.CosineContrast(settings.temperature, settings.negatives),
    )


def build_single_encoder(
    num_features: int, settings: UGCLSettings, generator: torch.Generator
) -> Parts:
    """Return the parts of UGCL without the auxiliary encoder."""
    return replace(build(num_features, settings, generator), context_encoder=None)


METHOD = Method(
    name="ugcl",
    scope="A^n, any n",
    paper=(
        "Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes, "
        "ICDM 2022"
    ),
    settings=UGCLSettings,
    presets=load_presets("ugcl"),
    build=build,
)


def _ablation(name: str, about: str, **params: Any) -> Method:
    presets = {key: preset.override(**params) for key, preset in METHOD.presets.items()}
    paper = f"{METHOD.paper}, ablation study"
    return replace(METHOD, name=name, scope=about, paper=paper, presets=presets)


ABLATIONS = (
    _ablation("ugcl-mean", "whole graph: the mean of all rows", scope="graph"),
    _ablation("ugcl-smooth", "A^100, towards the connected component", scope=100),
    replace(
        _ablation("ugcl-sig", "A^n, any n; one encoder for both views"),
        build=build_single_encoder,
    ),
    _ablation("ugcl-no-sample", "A^n, any n; without subsampling", sample="all"),
    _ablation("ugcl-no-power", "A^0, the node itself", scope=0),
)
