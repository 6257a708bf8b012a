"""SubG-Con's objective: a node fits the summary of its own subgraph better than another node does.

    L = 1/S sum_v max(0, m - sigmoid(h_v . s_v) + sigmoid(h_w . s_v)),    w = pi(v)

summed over the two roles of v and w, with h the patch view, s the contextual view and pi a random
order of the nodes. Jiao et al., "Sub-graph Contrast for Scalable Self-Supervised Graph
Representation Learning", 2020, Equation 8.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ugcl.losses.loss import Loss


class MarginLoss(Loss):
    """The margin between a node's score with its own context and another node's with it.

    Args:
        margin: m.
    """

    def __init__(self, margin: float) -> None:
        super().__init__()
        self.margin = margin

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss, in which each context meets the nodes before and after its own in the order."""
        del corrupted
        order = torch.from_numpy(rng.permutation(patch.shape[0])).to(patch.device)
        own = _score(patch, context)
        there, back = _score(patch[order], context), _score(patch, context[order])
        losses = (self.margin - own + there).relu() + (self.margin - own[order] + back).relu()
        return losses.mean()


def _score(patch: Tensor, context: Tensor) -> Tensor:
    return torch.sigmoid(torch.linalg.vecdot(patch, context))
