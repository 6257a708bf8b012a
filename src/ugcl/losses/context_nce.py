"""InfoNCE between nodes and sampled contexts, with all other nodes of the batch as negatives.

    L = -1/S sum_i log( e^{cos(z_i, c_i)/t} / sum_j e^{cos(z_i, y_j)/t} ),    y = [z; c]

where the sum leaves out every row of node i itself and of the node of c_i, but c_i. Hubs are the
contexts of many nodes, and would otherwise be negatives of their own neighbours.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ugcl.losses.info_nce import strips
from ugcl.losses.loss import Batch, Loss, Pair
from ugcl.nn.kernels import plain
from ugcl.nn.rows import unit_rows


class ContextNCE(Loss):
    """InfoNCE of the first view's nodes with those of the second.

    Args:
        temperature: t.
    """

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss of a batch, a scalar."""
        assert batch.nodes is not None
        patch, context = (unit_rows(rows) for rows in batch.patches)
        nodes, context_nodes = batch.nodes
        return context_nce(patch, context, nodes, context_nodes, self.temperature)

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of a batch of one pair."""
        return self.forward(batch)


class NormJSD(ContextNCE):
    """The normalised Jensen-Shannon loss of SIGNA, of the same pairs.

        L = -1/S sum_i [ log((1 + s_ii)/2) + mean_j log((1 - s_ij)/2) ],    s the cosines.

    SIGNA is a method of AAAI 2025 with an MLP encoder and neighbours as positives.
    """

    def __init__(self) -> None:
        super().__init__(1.0)

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss of a batch, a scalar."""
        assert batch.nodes is not None
        patch, context = (unit_rows(rows) for rows in batch.patches)
        size, (nodes, others) = patch.shape[0], batch.nodes
        cosines = patch @ torch.cat([patch, context]).T
        excluded = same_node(nodes, others, slice(0, size))
        own = torch.arange(size, device=patch.device)
        excluded[own, size + own] = True
        positive = torch.log1p(cosines[own, size + own].clamp(min=-1 + EPS)) - math.log(2)
        negative = torch.log1p(-cosines.clamp(max=1 - EPS)) - math.log(2)
        negative = negative.masked_fill(excluded, 0).sum(dim=1)
        counts = (~excluded).sum(dim=1).clamp(min=1)
        return -positive.mean() - (negative / counts).mean()


EPS = 1e-6
"""Cosines are kept this far from -1 and 1, where the logarithm is infinite."""


def context_nce(
    patch: Tensor, context: Tensor, nodes: Tensor, context_nodes: Tensor, temperature: float
) -> Tensor:
    """Return the loss of unit rows; the gradient is computed in the same pass.

    Cost: one product of S x D by D x 2S, and for the gradient one and a half for S <= D, less than
    two for larger S; none where no gradient is needed. Memory: O(S D + S `STRIP`).

    Args:
        patch: z, S x D.
        context: c, S x D.
        nodes: the node of each row of z.
        context_nodes: the node of each row of c.
        temperature: t.
    """
    if plain():
        return plain_context_nce(patch, context, nodes, context_nodes, temperature)
    arguments = patch, context, nodes, context_nodes, temperature
    loss: Tensor = _ContextNCE.apply(*arguments)  # type: ignore[no-untyped-call]
    return loss


def plain_context_nce(
    patch: Tensor, context: Tensor, nodes: Tensor, context_nodes: Tensor, temperature: float
) -> Tensor:
    """Return the loss by the plain formula, which stores all similarities."""
    size = patch.shape[0]
    similarity = patch @ torch.cat([patch, context]).T / temperature
    excluded = same_node(nodes, context_nodes, slice(0, size))
    targets = size + torch.arange(size, device=patch.device)
    return nn.functional.cross_entropy(similarity.masked_fill(excluded, -torch.inf), targets)


def same_node(nodes: Tensor, context_nodes: Tensor, rows: slice) -> Tensor:
    """Return a mask of the rows, of all 2S, that the sum leaves out for each of these rows."""
    everything = torch.cat([nodes, context_nodes])
    same = nodes[rows, None] == everything
    same |= context_nodes[rows, None] == everything
    own = torch.arange(rows.start, rows.stop, device=nodes.device)
    same[own - rows.start, nodes.numel() + own] = False
    return same


class _ContextNCE(torch.autograd.Function):
    """The loss and its gradients.

    With P the softmax of each row's similarities, less 1 at the context,

    dL/dz_i = sum_j P_ij y_j / (S t) + (as one of the y),    dL/dy_j = sum_i P_ij z_i / (S t).

    Strips have at least D rows: a strip of similarities then has as many entries as z and c.
    """

    @staticmethod
    def forward(
        ctx: Any,
        patch: Tensor,
        context: Tensor,
        nodes: Tensor,
        context_nodes: Tensor,
        temperature: float,
    ) -> Tensor:
        size, width = patch.shape
        needs_grad = any(ctx.needs_input_grad)
        everything, losses = torch.cat([patch, context]), torch.empty_like(patch[:, 0])
        grad = torch.zeros_like(everything) if needs_grad else None
        for rows in strips(size, minimum=width):
            similarity = torch.mm(patch[rows], everything.T).div_(temperature)
            similarity.masked_fill_(same_node(nodes, context_nodes, rows), -torch.inf)
            own = torch.arange(rows.stop - rows.start, device=patch.device)
            target = own, size + rows.start + own
            largest, positive = similarity.amax(dim=1), similarity[target]
            total = similarity.sub_(largest[:, None]).exp_().sum(dim=1)
            losses[rows] = total.log() + largest - positive
            if grad is not None:
                unit = 1 / (size * temperature)
                similarity *= (unit / total)[:, None]
                similarity[target] -= unit
                _add_gradient(grad, similarity, everything, rows)
        if grad is not None:
            ctx.save_for_backward(grad[:size], grad[size:])
        loss: Tensor = losses.mean()
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        patch_grad, context_grad = ctx.saved_tensors
        if grads[0].device.type == "cpu" and grads[0] == 1:
            return patch_grad, context_grad, None, None, None
        return grads[0] * patch_grad, grads[0] * context_grad, None, None, None


def _add_gradient(grad: Tensor, weights: Tensor, everything: Tensor, rows: slice) -> None:
    """Add `W Y` to the gradient of these rows of z, and `W^T Z` to that of all y.

    The columns of W that belong to the rows themselves are in both sums, so `W + W^T` replaces W
    there, which saves their second product. W is changed.
    """
    own = weights[:, rows]
    own += own.T.clone()
    grad[rows].addmm_(weights, everything)
    for others in (slice(0, rows.start), slice(rows.stop, None)):
        grad[others].addmm_(weights[:, others].T, everything[rows])
