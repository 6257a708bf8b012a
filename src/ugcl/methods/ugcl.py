"""UGCL: contrast each node with a contextual view whose scope is a power of the adjacency.

Zheng et al., "Unifying Graph Contrastive Learning with Flexible Contextual Scopes", ICDM 2022,
Section III.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import torch

from ugcl.graph import Graph
from ugcl.losses import MIN_TEMPERATURE, CosineContrast
from ugcl.methods.method import Method
from ugcl.methods.options import All, choice, integer_or_all, number
from ugcl.methods.recipe import Recipe, RecipeSettings, one_convolution
from ugcl.methods.ugcl_presets import UGCL_PRESETS
from ugcl.scope import Context, scope_of
from ugcl.views import Normalisation, Sampling, Subsampler


@dataclass(frozen=True)
class UGCLSettings(RecipeSettings):
    """Every choice that the paper, the authors' code and we make differently."""

    sample: int | All = integer_or_all("nodes S of the subgraph drawn in every epoch", 2)
    sampling: Sampling = choice(
        "how its nodes are drawn: at random, a window of numbers, balls around random nodes",
        get_args(Sampling),
    )
    normalisation: Normalisation = choice(
        "normalise the adjacency by degrees in the whole graph or in the subgraph",
        get_args(Normalisation),
    )
    context: Context = choice(
        "contextual view in training: power A^n H, lazy ((I+A)/2)^n H", get_args(Context)
    )
    temperature: float = number("temperature of the contrast", minimum=MIN_TEMPERATURE)
    negatives: int | All = integer_or_all(
        "how many random nodes stand for all the others as negatives", 2
    )

    def fitted(self, graph: Graph, given: frozenset[str]) -> UGCLSettings:
        """Shrink what a preset asks to what the graph has; what the user asks must fit."""
        sample = self.fit_count("sample", graph.num_nodes, "nodes", given)
        in_sample = graph.num_nodes if sample == "all" else int(sample)
        negatives = self.fit_count("negatives", in_sample - 1, "other nodes of a sample", given)
        return self.replace(sample=sample, negatives=negatives)


def _subgraphs(
    settings: UGCLSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> Subsampler:
    assert settings.scope != "auto"
    return Subsampler(
        adjacency,
        features,
        size=adjacency.shape[0] if settings.sample == "all" else settings.sample,
        sampling=settings.sampling,
        normalisation=settings.normalisation,
        self_loops=settings.self_loops,
        context=settings.context,
        scope=scope_of(settings.scope),
        seed=seed,
        device=device,
    )


def _objective(settings: UGCLSettings, generator: torch.Generator) -> CosineContrast:
    del generator
    return CosineContrast(settings.temperature, settings.negatives)


RECIPE: Recipe[UGCLSettings] = Recipe(
    views=_subgraphs,
    encoder=one_convolution,
    auxiliary=one_convolution,
    objective=_objective,
)

UGCL = Method.of(
    RECIPE,
    UGCLSettings,
    UGCL_PRESETS,
    name="ugcl",
    scope="A^n, n free",
    paper=(
        "Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes, "
        "ICDM 2022"
    ),
)
