"""What the framework relies on of every objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

Edges = tuple[Tensor, Tensor]
"""The two ends of each undirected edge, once for both directions, the first ends ascending."""


class Loss(nn.Module, ABC):
    """How unlike the nodes and their contexts are: a loss, with the parameters that it needs.

    Attributes:
        of_contexts: whether corrupted contexts are compared, instead of corrupted patches.
    """

    of_contexts: bool = False

    def forward(
        self,
        pairs: Sequence[tuple[Tensor, Tensor]],
        corrupted: Sequence[Tensor],
        rng: np.random.Generator,
        edges: Edges | None = None,
    ) -> Tensor:
        """The mean of the losses of pairs of a patch view and its contextual view, a scalar.

        Args:
            pairs: H of a view and the contexts of its nodes, both S x D', row v of one belonging to
                row v of the other; rows of contexts may share memory.
            corrupted: for each pair H of its corrupted view, or the contexts in it; none where the
                method has none.
            rng: the source of randomness of this step.
            edges: the edges of the graph, where the method has them compared.
        """
        del edges
        known: dict[int, Tensor] = {}  # a view may be the patch of one pair and the context of one

        def projected(rows: Tensor) -> Tensor:
            if id(rows) not in known:
                known[id(rows)] = self.project(rows)
            return known[id(rows)]

        losses = [
            self.contrast(projected(patch), projected(context), other, rng)
            for (patch, context), other in zip_longest(pairs, corrupted)
        ]
        return losses[0] if len(losses) == 1 else torch.stack(losses).mean()

    def project(self, rows: Tensor) -> Tensor:
        """What of patches and contexts is compared: by default the rows themselves."""
        return rows

    @abstractmethod
    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss of one pair, projected."""


def drawn_negatives(
    count: int | Literal["all"], patch: Tensor, rng: np.random.Generator
) -> Tensor | None:
    """Rows that stand for all others as negatives, in this step; None for all."""
    if count == "all":
        return None
    drawn = rng.choice(patch.shape[0], count, replace=False, shuffle=False)
    return torch.from_numpy(drawn).to(patch.device)
