"""Base class for losses, and the batch that a loss takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

Edges = tuple[Tensor, Tensor]
"""Both endpoints of each undirected edge, listed once, the first endpoints ascending."""


class Pair(NamedTuple):
    """The patches and contexts that a loss compares, both S x D', row by row.

    Attributes:
        patch: representations of the nodes of a view.
        context: their contexts, in the next view.
        negative: representations in the corrupted view; None for methods without one.
    """

    patch: Tensor
    context: Tensor
    negative: Tensor | None


@dataclass(frozen=True)
class Batch:
    """Input of a loss: representations of the views of one training step.

    Attributes:
        patches: H of each view, S x D'.
        contexts: the contexts of each view, S x D'; None where the context of a node is the node
            itself (scope 0 without a context encoder).
        rng: random generator of the step.
        negatives: H, or the contexts, of each corrupted view; empty without corruption.
        edges: the edges of the graph, for losses that reconstruct them.
        nodes: where the contexts are sampled nodes, the node of each row of the patches.
        global_context: whether all rows of a context are the same row (scope "graph").
    """

    patches: Sequence[Tensor]
    contexts: Sequence[Tensor] | None
    rng: np.random.Generator
    negatives: Sequence[Tensor] = ()
    edges: Edges | None = None
    nodes: Sequence[Tensor] | None = None
    global_context: bool = False

    def pairs(self) -> list[Pair]:
        """Return each view's patches with the contexts of the next view."""
        contexts = self.patches if self.contexts is None else self.contexts
        rolled = [*contexts[1:], contexts[0]]
        return [Pair(*parts) for parts in zip_longest(self.patches, rolled, self.negatives)]

    def map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        """Return the batch with a function applied to patches and contexts, once to each.

        The order is that of the pairs, in which gradients of shared parameters are summed.
        """
        if self.contexts is None:
            return replace(self, patches=[function(rows) for rows in self.patches])
        pairs = [(function(pair.patch), function(pair.context)) for pair in self.pairs()]
        patches, rolled = zip(*pairs, strict=True)
        return replace(self, patches=patches, contexts=[rolled[-1], *rolled[:-1]])


class Loss(nn.Module, ABC):
    """Base class for losses: the mean over views of the loss between patches and contexts.

    Attributes:
        contextual_negatives: whether negatives are contexts of corrupted views, instead of their
            patches.
    """

    contextual_negatives: bool = False

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss of a batch, a scalar."""
        projected = batch.map(self.project)
        losses = [self.pair_loss(pair, batch) for pair in projected.pairs()]
        return losses[0] if len(losses) == 1 else torch.stack(losses).mean()

    def project(self, rows: Tensor) -> Tensor:
        """Projection head; identity by default."""
        return rows

    @abstractmethod
    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of one pair, projected; the batch has what all pairs share."""


def sample_negatives(
    count: int | Literal["all"], patch: Tensor, rng: np.random.Generator
) -> Tensor | None:
    """Sample the rows that all nodes share as negatives; None for all rows, or if there are few."""
    if count == "all" or count >= patch.shape[0]:
        return None
    rows = rng.choice(patch.shape[0], count, replace=False, shuffle=False)
    return torch.from_numpy(rows).to(patch.device)
