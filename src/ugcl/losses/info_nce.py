"""GRACE's loss: InfoNCE (NT-Xent) with negatives in both views.

    L = -1/S sum_v log( e^{cos(u_v, c_v)/t} / r_v ),
    r_v = sum_k e^{cos(u_v, c_k)/t} + sum_{k != v} e^{cos(u_v, u_k)/t}

with u the patch view and c the contextual view, both after a projector. Zhu et al., "Deep Graph
Contrastive Representation Learning", 2020, Equation 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ugcl.losses.loss import Batch, Loss, Pair, sample_negatives
from ugcl.nn.head import ProjectionHead
from ugcl.nn.kernels import plain
from ugcl.nn.rows import unit_rows

STRIP = 512
"""Rows of the similarity matrices that are computed at a time."""


class InfoNCE(Loss):
    """InfoNCE after a projector of two linear layers with an ELU.

    Args:
        width: columns of H.
        projector: hidden columns of the projector; the projection is as wide as H.
        temperature: t.
        negatives: number of random nodes that all nodes share as negatives, or "all".
        generator: random generator of the projector.
    """

    def __init__(
        self,
        width: int,
        *,
        projector: int,
        temperature: float,
        negatives: int | Literal["all"],
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.temperature, self.negatives = temperature, negatives
        self.projector = ProjectionHead(width, projector, width, nn.ELU(), generator)

    def project(self, rows: Tensor) -> Tensor:
        """Return the normalised rows of the projection."""
        return unit_rows(self.projector(rows))

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of one direction."""
        negatives = sample_negatives(self.negatives, pair.patch, batch.rng)
        return info_nce(pair.patch, pair.context, self.temperature, negatives)


def info_nce(
    patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None = None
) -> Tensor:
    """Return InfoNCE of unit rows; the gradient is computed in the same pass.

    Cost with all negatives: two products of S x D by D x S for the similarities, four for the
    gradient. Memory: O(S D + S `STRIP`), never S x S.

    Args:
        patch: u, S x D.
        context: c, S x D.
        temperature: t.
        negatives: None for all other nodes of both views; or K distinct rows, with which the sum
            over other nodes is an unbiased estimate at the cost K/S.
    """
    if plain():
        return plain_info_nce(patch, context, temperature, negatives)
    loss: Tensor = _InfoNCE.apply(patch, context, temperature, negatives)  # type: ignore[no-untyped-call]
    return loss


def plain_info_nce(
    patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
) -> Tensor:
    """Return InfoNCE by the plain formula, which stores all similarities."""
    nodes = torch.arange(patch.shape[0], device=patch.device)
    columns = nodes if negatives is None else negatives
    is_self = nodes[:, None] == columns
    positive = (patch * context).sum(dim=1) / temperature
    others = (
        (patch @ rows[columns].T / temperature).exp().masked_fill(is_self, 0).sum(dim=1)
        for rows in (patch, context)
    )
    total = positive.exp() + _scale(is_self.sum(dim=1), columns.numel()) * sum(others)
    return (total.log() - positive).mean()


def _scale(is_negative: Tensor, count: int) -> Tensor:
    """Return `(S - 1) / K'` for each node, where K' of the K negatives are other nodes."""
    return (is_negative.numel() - 1) / (count - is_negative)


class _InfoNCE(torch.autograd.Function):
    """InfoNCE and its gradients.

    With E = exp(similarity/t) / r, scaled where negatives are sampled,

    dL/du_v = (sum_k E^u_vk u_k + sum_k E^u_kv u_k + sum_k E^c_vk c_k - c_v) / (S t),
    dL/dc_k = (sum_v E^c_vk u_v - u_k) / (S t).
    """

    @staticmethod
    def forward(
        ctx: Any, patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
    ) -> Tensor:
        size = patch.shape[0]
        nodes = torch.arange(size, device=patch.device)
        columns = nodes if negatives is None else negatives
        is_negative = torch.zeros(size, dtype=torch.long, device=patch.device)
        is_negative[columns] = 1
        scale = _scale(is_negative, columns.numel())
        place = torch.full_like(is_negative, -1)
        place[columns] = torch.arange(columns.numel(), device=patch.device)
        others, contexts = (
            (patch, context) if negatives is None else (patch[columns], context[columns])
        )
        positive = torch.linalg.vecdot(patch, context) / temperature
        patch_grad, context_grad = torch.empty_like(patch), torch.zeros_like(contexts)
        others_grad = torch.zeros_like(others)
        exp_positive = positive.exp()
        total = torch.empty_like(positive)
        for r in strips(size):
            within, across = (
                torch.mm(patch[r], rows.T).div_(temperature).exp_() for rows in (others, contexts)
            )
            known = place[r] >= 0
            own = torch.arange(r.stop - r.start, device=patch.device)[known], place[r][known]
            within[own] = across[own] = 0
            total[r] = exp_positive[r] + scale[r] * (within.sum(dim=1) + across.sum(dim=1))
            weight = (scale[r] / total[r])[:, None]
            within *= weight
            across *= weight
            torch.mm(within, others, out=patch_grad[r])
            patch_grad[r].addmm_(across, contexts)
            others_grad.addmm_(within.T, patch[r])
            context_grad.addmm_(across.T, patch[r])
        positive_weight = (exp_positive / total - 1)[:, None]
        patch_grad.addcmul_(context, positive_weight)
        if negatives is None:
            patch_grad += others_grad
        else:
            patch_grad.index_add_(0, columns, others_grad)
            context_grad = torch.zeros_like(context).index_add_(0, columns, context_grad)
        context_grad.addcmul_(patch, positive_weight)
        ctx.save_for_backward(patch_grad, context_grad)
        ctx.unit = 1 / (size * temperature)
        loss: Tensor = (total.log() - positive).mean()
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        patch_grad, context_grad = ctx.saved_tensors
        unit = grads[0] * ctx.unit
        return patch_grad * unit, context_grad * unit, None, None


def strips(size: int, minimum: int = 1) -> Iterator[slice]:
    """Yield the slices of `STRIP` rows each, or of `minimum` rows if that is more."""
    step = max(STRIP, minimum)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))
