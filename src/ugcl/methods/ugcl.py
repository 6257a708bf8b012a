"""UGCL: contrast each node with a contextual view whose scope is a power of the adjacency.

Zheng et al., "Unifying Graph Contrastive Learning with Flexible Contextual Scopes", ICDM 2022,
Section III.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl.encoders import GCN
from ugcl.errors import UGCLError
from ugcl.graph import Graph
from ugcl.methods.model import Model
from ugcl.methods.options import All, Auto, choice, number, whole, whole_or_all, whole_or_auto
from ugcl.methods.settings import Settings
from ugcl.objectives import LEAST_TEMPERATURE, cosine_contrast, unit_rows
from ugcl.scope import Context, normalised_adjacency
from ugcl.views import (
    FeatureScaling,
    Normalisation,
    Sampling,
    Subsampler,
    View,
    inverse_frequency,
    scale_features,
)

Readout = Literal["sum", "mean", "concat", "hidden", "context", "context-l2"]


@dataclass(frozen=True)
class UGCLSettings(Settings):
    """Every choice that the paper, the authors' code and we make differently."""

    scope: int | Auto = whole_or_auto(
        "training scope n: contrast with A^n H; auto: chosen without labels", 0
    )
    readout_scope: int | Auto = whole_or_auto(
        "scope n of the embeddings H + A^n H (default: the scope)", 0
    )
    hidden: int = whole("width D' of the encoder", 1)
    sample: int | All = whole_or_all("nodes S of the subgraph drawn in every epoch", 2)
    sampling: Sampling = choice(
        "how its nodes are drawn: at random, a window of numbers, balls around random nodes",
        get_args(Sampling),
    )
    normalisation: Normalisation = choice(
        "normalise the adjacency by degrees in the whole graph or in the subgraph",
        get_args(Normalisation),
    )
    self_loops: float = number("weight of each node's edge to itself", least=0)
    feature_scaling: FeatureScaling = choice(
        "features as they are, rows of L1 length 1, rows of L2 length 1, TF-IDF",
        get_args(FeatureScaling),
    )
    context: Context = choice(
        "contextual view in training: power A^n H, lazy ((I+A)/2)^n H", get_args(Context)
    )
    temperature: float = number("temperature of the contrast", least=LEAST_TEMPERATURE)
    negatives: int | All = whole_or_all(
        "how many random nodes stand for all the others as negatives", 2
    )
    readout: Readout = choice("how H and A^n H become the embedding", get_args(Readout))

    def fitted(self, graph: Graph, given: frozenset[str]) -> UGCLSettings:
        """Shrink what a preset asks to what the graph has; what the user asks must fit."""
        sample = self.fit_count("sample", graph.num_nodes, "nodes", given)
        in_sample = graph.num_nodes if sample == "all" else int(sample)
        negatives = self.fit_count("negatives", in_sample - 1, "other nodes of a sample", given)
        return self.replace(sample=sample, negatives=negatives)


class UGCLModel(Model):
    """The primary encoder, whose representations are the embeddings, and the auxiliary one."""

    def __init__(self, num_features: int, settings: UGCLSettings, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.settings, self.seed = settings, seed
        self.scope, self.readout_scope = _chosen(settings.scope), _chosen(settings.readout_scope)
        self.primary = GCN(num_features, settings.hidden, generator)
        self.auxiliary = GCN(num_features, settings.hidden, generator)
        self.column_weights: Tensor | None
        weights = torch.zeros(num_features) if settings.feature_scaling == "tfidf" else None
        self.register_buffer("column_weights", weights)

    def loss(self, view: View, negatives: Tensor | None = None) -> Tensor:
        """Equation 5 between the patch view and the contextual view (Equation 4)."""
        chosen = self.settings
        patch = self.primary(view)
        context = self.auxiliary(view, self.scope)
        return cosine_contrast(patch, context, chosen.temperature, negatives)

    def pretext(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """The loss of an epoch: a function of the epoch's number and the weights alone."""
        negatives = self.settings.negatives
        subsampler = self.subsampler(graph, device)

        def loss(epoch: int) -> Tensor:
            rng = subsampler.rng(epoch)
            view = subsampler.draw(rng)
            if negatives == "all":
                return self.loss(view)
            drawn = rng.choice(subsampler.size, negatives, replace=False, shuffle=False)
            return self.loss(view, torch.from_numpy(drawn).to(device))

        return loss

    def subsampler(self, graph: Graph, device: torch.device | str) -> Subsampler:
        """The views of training on a graph, whose TF-IDF weights the model takes on."""
        chosen = self.settings
        if self.column_weights is not None:
            self.column_weights.copy_(torch.from_numpy(inverse_frequency(graph.features)))
        return Subsampler(
            graph.adjacency,
            self.raw(graph),
            size=graph.num_nodes if chosen.sample == "all" else chosen.sample,
            sampling=chosen.sampling,
            normalisation=chosen.normalisation,
            self_loops=chosen.self_loops,
            context=chosen.context,
            seed=self.seed,
            device=device,
        )

    @torch.no_grad()
    def embed(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """Embeddings of all nodes, N x D' float32, in blocks of columns."""
        chosen = self.settings
        view = View.of(
            normalised_adjacency(graph.adjacency, chosen.self_loops),
            self.raw(graph),
            device,
        )
        width, concat = chosen.hidden, chosen.readout == "concat"
        embeddings = torch.empty(graph.num_nodes, 2 * width if concat else width)
        n = 0 if chosen.readout == "hidden" else self.readout_scope
        for columns, patch, context in self.primary.blocks(view, n):
            if concat:
                embeddings[:, :width][:, columns] = patch
                embeddings[:, width:][:, columns] = context
            else:
                embeddings[:, columns] = _joined(patch, context, chosen.readout)
        if chosen.readout == "context-l2":
            embeddings = unit_rows(embeddings)
        return embeddings.numpy()

    def raw(self, graph: Graph) -> Any:
        """X, scaled as this model's encoder sees it: TF-IDF by the graph it was trained on."""
        held = self.column_weights
        weights = held.cpu().numpy() if held is not None and held.any() else None
        return scale_features(graph.features, self.settings.feature_scaling, weights)


def _chosen(scope: int | Auto) -> int:
    if scope == "auto":
        raise UGCLError("the scope is still to be chosen: see ugcl.selection.resolve_scope")
    return scope


def _joined(patch: Tensor, context: Tensor, readout: Readout) -> Tensor:
    """The columns of a block joined, in the memory of one of them."""
    if readout == "sum":
        return patch.add_(context)
    if readout == "mean":
        return patch.add_(context).div_(2)
    return patch if readout == "hidden" else context
