"""The unifying framework: a method is a choice of views, encoders, scope, objective and readout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.graph import Graph
from ugcl.losses import Loss, unit_rows
from ugcl.methods.options import Auto, choice, integer, number, scope_or_auto
from ugcl.methods.scaled import ScaledModel, feature_scaling
from ugcl.methods.settings import TrainedSettings
from ugcl.nn import GCN, Encoder
from ugcl.scope import Power, Scope, ScopeName, normalised_adjacency, scope_of
from ugcl.views import FeatureScaling, Sample, View, ViewSampler, WithEdges

Readout = Literal["sum", "mean", "concat", "hidden", "context", "context-l2"]


@dataclass(frozen=True)
class RecipeSettings(TrainedSettings):
    """What every recipe has; a method adds what its own parts need."""

    scope: int | ScopeName | Auto = scope_or_auto(
        "training scope: contrast with A^n H, the connected component or the whole graph; auto: n "
        "chosen without labels"
    )
    readout_scope: int | ScopeName | Auto = scope_or_auto(
        "scope of the embeddings H + A^n H (default: the preset's, for ugcl the scope)"
    )
    hidden: int = integer("width D' of the encoder", 1)
    self_loops: float = number("weight of each node's edge to itself", minimum=0)
    feature_scaling: FeatureScaling = feature_scaling()
    readout: Readout = choice("how H and A^n H become the embedding", get_args(Readout))

    def __post_init__(self) -> None:
        super().__post_init__()
        if "component" in (self.scope, self.readout_scope) and self.self_loops == 0:
            raise UGCLError(
                "the scope 'component' needs --self-loops above 0, without which powers of the "
                "adjacency need not converge: raise it, or use a number of steps"
            )


S = TypeVar("S", bound=RecipeSettings)
S_contra = TypeVar("S_contra", bound=RecipeSettings, contravariant=True)


class ViewsOf(Protocol[S_contra]):
    """From a graph to its views in training."""

    def __call__(
        self,
        settings: S_contra,
        adjacency: Any,
        features: Any,
        *,
        seed: int,
        device: torch.device | str,
    ) -> ViewSampler:
        """The views.

        Args:
            settings: the method's settings.
            adjacency: A, SciPy CSR.
            features: X, scaled, dense or SciPy CSR.
            seed: the training seed.
            device: where the views are used.
        """


class EmbeddedOf(Protocol[S_contra]):
    """From a graph to what of it is embedded: for each encoder a view."""

    def __call__(
        self, settings: S_contra, adjacency: Any, features: Any, *, device: torch.device | str
    ) -> tuple[View, ...]:
        """The views, of which the representations are added up."""


@dataclass(frozen=True)
class Recipe(Generic[S]):
    """A method as a value. Its training scope and its readout are settings, like any number.

    In every epoch the encoder makes H of each view; the context of each view is taken in the next
    (of a single view, in itself), by the scope, of the representations of the auxiliary encoder if
    there is one; and the objective compares the two.

    Attributes:
        views: what the encoders see in training.
        encoder: the encoder, from the number of features, the settings and a source of randomness.
        objective: what compares nodes and contexts, from the settings and a source of randomness.
        auxiliary: the encoder of contexts; None if contexts come from the encoder itself.
        secondary: the encoder of all views but the first; None if one encoder sees all of them.
        embedded: the views that are embedded; None for the graph itself.
        momentum: if the auxiliary encoder is a moving average of the encoder instead of being
            trained, how much of it stays after an epoch.
    """

    views: ViewsOf[S]
    encoder: Callable[[int, S, torch.Generator], Encoder]
    objective: Callable[[S, torch.Generator], Loss]
    auxiliary: Callable[[int, S, torch.Generator], Encoder] | None = None
    secondary: Callable[[int, S, torch.Generator], Encoder] | None = None
    embedded: EmbeddedOf[S] | None = None
    momentum: Callable[[S, int], float] | None = None


class RecipeModel(ScaledModel, Generic[S]):
    """The parameters of a recipe, the one training step and the one readout for all of them."""

    def __init__(self, recipe: Recipe[S], num_features: int, settings: S, seed: int) -> None:
        super().__init__(num_features, settings.feature_scaling)
        generator = torch.Generator().manual_seed(seed)
        self.recipe, self.settings, self.seed = recipe, settings, seed
        self.scope, self.readout_scope = _chosen(settings.scope), _chosen(settings.readout_scope)
        self.primary = recipe.encoder(num_features, settings, generator)
        self.secondary: Encoder | None = None
        if recipe.secondary is not None:
            self.secondary = recipe.secondary(num_features, settings, generator)
        self.auxiliary: Encoder | None = None
        if recipe.auxiliary is not None:
            self.auxiliary = recipe.auxiliary(num_features, settings, generator)
            self.auxiliary.requires_grad_(recipe.momentum is None)
        self.objective = recipe.objective(settings, generator)

    def loss(self, drawn: Sample) -> Tensor:
        """The mean over views of the objective between H and the contexts in the next view."""
        views = drawn.views
        hidden = self._encoded(views)
        if self.auxiliary is None:
            contexts = self._contexts(views, hidden)
        else:
            contexts = [self.auxiliary.context(view, self.scope) for view in views]
        others = self._encoded(drawn.corrupted)
        if self.objective.of_contexts:
            others = self._contexts(drawn.corrupted, others)
        patches, contexts = (
            [view.compared(rows) for view, rows in zip(views, found, strict=True)]
            for found in (hidden, contexts)
        )
        pairs = list(zip(patches, [*contexts[1:], contexts[0]], strict=True))
        loss: Tensor = self.objective(pairs, others, drawn.rng, drawn.edges)
        return loss

    def _encoded(self, views: tuple[View, ...]) -> list[Tensor]:
        """H of each view, by its encoder."""
        return [self._encoder(place)(view) for place, view in enumerate(views)]

    def _contexts(self, views: tuple[View, ...], hidden: list[Tensor]) -> list[Tensor]:
        return [view.contexts(self.scope)(rows) for view, rows in zip(views, hidden, strict=True)]

    def _encoder(self, place: int) -> Encoder:
        """The encoder of the view that stands in this place."""
        return self.primary if place == 0 or self.secondary is None else self.secondary

    def loss_fn(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """The loss of an epoch: a function of the epoch's number and the weights alone."""
        views = self.views(graph, device)
        return lambda epoch: self.loss(views.draw(views.rng(epoch)))

    def views(self, graph: Graph, device: torch.device | str) -> ViewSampler:
        """The views of training on a graph."""
        features = self.raw(graph)
        return self.recipe.views(
            self.settings, graph.adjacency, features, seed=self.seed, device=device
        )

    @torch.no_grad()
    def after_step(self, epoch: int) -> None:
        """Move the auxiliary encoder, where it is an average, towards the encoder."""
        if self.auxiliary is None or self.recipe.momentum is None:
            return
        towards = 1 - self.recipe.momentum(self.settings, epoch)
        pairs = zip(self.auxiliary.parameters(), self.primary.parameters(), strict=True)
        for average, value in pairs:
            average.lerp_(value, towards)

    @torch.no_grad()
    def embed(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """Embeddings of all nodes, N x D' float32, in blocks of columns."""
        chosen = self.settings
        views = self._embedded(graph, device)
        width, concat = self.primary.width, chosen.readout == "concat"
        embeddings = torch.empty(graph.num_nodes, 2 * width if concat else width)
        scope = Power(0) if chosen.readout == "hidden" else self.readout_scope
        training = self.training
        self.eval()
        parts = (self._encoder(place).blocks(view, scope) for place, view in enumerate(views))
        for columns, patch, context in _added(*parts):
            if concat:
                embeddings[:, :width][:, columns] = patch
                embeddings[:, width:][:, columns] = context
            else:
                embeddings[:, columns] = _joined(patch, context, chosen.readout)
        self.train(training)
        if chosen.readout == "context-l2":
            embeddings = unit_rows(embeddings)
        return embeddings.numpy()

    def _embedded(self, graph: Graph, device: torch.device | str) -> tuple[View, ...]:
        """What is embedded."""
        features = self.raw(graph)
        if self.recipe.embedded is not None:
            return self.recipe.embedded(self.settings, graph.adjacency, features, device=device)
        adjacency = normalised_adjacency(graph.adjacency, self.settings.self_loops)
        return (View.of(adjacency, features, device),)


def one_convolution(num_features: int, settings: RecipeSettings, generator: torch.Generator) -> GCN:
    """The paper's encoder, which most methods have: one graph convolution."""
    return GCN(num_features, settings.hidden, generator)


def graph_with_edges(
    settings: RecipeSettings,
    adjacency: Any,
    features: Any,
    *,
    seed: int,
    device: torch.device | str,
) -> WithEdges:
    """The views of methods that see the graph itself, and ask which nodes are joined."""
    return WithEdges(adjacency, features, self_loops=settings.self_loops, seed=seed, device=device)


def _chosen(scope: int | ScopeName | Auto) -> Scope:
    if scope == "auto":
        raise UGCLError("the scope is still to be chosen: see ugcl.selection.resolve_scope")
    return scope_of(scope)


Blocks = Iterator[tuple[slice, Tensor, Tensor]]


def _added(first: Blocks, second: Blocks | None = None) -> Blocks:
    """Blocks of the one encoder, or those of two added up."""
    if second is None:
        yield from first
        return
    for (columns, patch, context), (_, patch_2, context_2) in zip(first, second, strict=True):
        yield columns, patch + patch_2, context + context_2


def _joined(patch: Tensor, context: Tensor, readout: Readout) -> Tensor:
    """The columns of a block joined, in the memory of one of them."""
    if readout == "sum":
        return patch.add_(context)
    if readout == "mean":
        return patch.add_(context).div_(2)
    return patch if readout == "hidden" else context
