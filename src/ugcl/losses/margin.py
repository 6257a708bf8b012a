"""SubG-Con's loss: a margin between a node and another node, scored with the node's subgraph.

    L = 1/S sum_v max(0, m - sigmoid(h_v . s_v) + sigmoid(h_w . s_v)),    w = pi(v)

summed over the two roles of v and w, with h the patch view, s the contextual view and pi a random
permutation of the nodes. Jiao et al., "Sub-graph Contrast for Scalable Self-Supervised Graph
Representation Learning", 2020, Equation 8.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ugcl.losses.loss import Batch, Loss, Pair


class MarginLoss(Loss):
    """Margin ranking loss of a node and another node with respect to the node's context.

    Args:
        margin: m.
    """

    def __init__(self, margin: float) -> None:
        super().__init__()
        self.margin = margin

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss; each context is compared with the nodes permuted to and from it."""
        patch, context = pair.patch, pair.context
        order = torch.from_numpy(batch.rng.permutation(patch.shape[0])).to(patch.device)
        own = _score(patch, context)
        there, back = _score(patch[order], context), _score(patch, context[order])
        losses = (self.margin - own + there).relu() + (self.margin - own[order] + back).relu()
        return losses.mean()


def _score(patch: Tensor, context: Tensor) -> Tensor:
    return torch.sigmoid(torch.linalg.vecdot(patch, context))
