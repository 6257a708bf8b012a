"""GRACE's objective: the normalised, temperature-scaled cross entropy with negatives in both views.

    L = -1/S sum_v log( e^{cos(u_v, c_v)/t} / r_v ),
    r_v = sum_k e^{cos(u_v, c_k)/t} + sum_{k != v} e^{cos(u_v, u_k)/t}

with u the patch view and c the contextual view, both after a projector. Zhu et al., "Deep Graph
Contrastive Representation Learning", 2020, Equation 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ugcl._utils.kernels import plain
from ugcl.losses.cosine import unit_rows
from ugcl.losses.loss import Loss, drawn_negatives
from ugcl.nn.head import ProjectionHead

STRIP = 512
"""Rows of the similarity matrices that are held at a time."""


class InfoNCE(Loss):
    """GRACE's objective with its projector, `ELU` between two linear layers.

    Args:
        width: columns of H.
        projector: columns between the layers; the projection is as wide as H.
        temperature: t.
        negatives: how many random nodes stand for all the others, or "all".
        generator: the source of randomness of the projector.
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
        """Rows of length 1, after the projector."""
        return unit_rows(self.projector(rows))

    def contrast(
        self,
        patch: Tensor,
        context: Tensor,
        corrupted: Tensor | None,
        rng: np.random.Generator,
    ) -> Tensor:
        """The loss of one direction."""
        del corrupted
        negatives = drawn_negatives(self.negatives, patch, rng)
        return info_nce(patch, context, self.temperature, negatives)


def info_nce(
    patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None = None
) -> Tensor:
    """The loss of rows of length 1, and its gradient in the same pass.

    Cost with all negatives: two products of S x D by D x S for the similarities, four for the
    gradient. Memory: O(S D + S `STRIP`), never S x S.

    Args:
        patch: u, S x D.
        context: c, S x D.
        temperature: t.
        negatives: None for all other nodes of both views; or K distinct rows that stand for them,
            which makes the sum over others an unbiased estimate at the cost K/S.
    """
    if plain():
        return plain_info_nce(patch, context, temperature, negatives)
    loss: Tensor = _InfoNCE.apply(patch, context, temperature, negatives)  # type: ignore[no-untyped-call]
    return loss


def plain_info_nce(
    patch: Tensor, context: Tensor, temperature: float, negatives: Tensor | None
) -> Tensor:
    """The formula as it stands, with all similarities held at once."""
    nodes = torch.arange(patch.shape[0], device=patch.device)
    columns = nodes if negatives is None else negatives
    itself = nodes[:, None] == columns
    positive = (patch * context).sum(dim=1) / temperature
    others = (
        (patch @ rows[columns].T / temperature).exp().masked_fill(itself, 0).sum(dim=1)
        for rows in (patch, context)
    )
    total = positive.exp() + _scale(itself.sum(dim=1), columns.numel()) * sum(others)
    return (total.log() - positive).mean()


def _scale(itself: Tensor, count: int) -> Tensor:
    """`(S - 1) / K'` for each node, K' of the K negatives being other nodes."""
    return (itself.numel() - 1) / (count - itself)


class _InfoNCE(torch.autograd.Function):
    """The loss and its gradients.

    With E = exp(similarity/t) / r, scaled where negatives stand for others,

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
        itself = torch.zeros(size, dtype=torch.long, device=patch.device)
        itself[columns] = 1
        scale = _scale(itself, columns.numel())
        place = torch.full_like(itself, -1)
        place[columns] = torch.arange(columns.numel(), device=patch.device)
        others, contexts = (
            (patch, context) if negatives is None else (patch[columns], context[columns])
        )
        positive = torch.linalg.vecdot(patch, context) / temperature
        of_patch, of_context = torch.empty_like(patch), torch.zeros_like(contexts)
        of_others = torch.zeros_like(others)
        share = positive.exp()
        total = torch.empty_like(positive)
        for r in _strips(size):
            within, across = (
                torch.mm(patch[r], rows.T).div_(temperature).exp_() for rows in (others, contexts)
            )
            known = place[r] >= 0
            own = torch.arange(r.stop - r.start, device=patch.device)[known], place[r][known]
            within[own] = across[own] = 0
            total[r] = share[r] + scale[r] * (within.sum(dim=1) + across.sum(dim=1))
            weight = (scale[r] / total[r])[:, None]
            within *= weight
            across *= weight
            torch.mm(within, others, out=of_patch[r])
            of_patch[r].addmm_(across, contexts)
            of_others.addmm_(within.T, patch[r])
            of_context.addmm_(across.T, patch[r])
        pull = (share / total - 1)[:, None]
        of_patch.addcmul_(context, pull)
        if negatives is None:
            of_patch += of_others
        else:
            of_patch.index_add_(0, columns, of_others)
            of_context = torch.zeros_like(context).index_add_(0, columns, of_context)
        of_context.addcmul_(patch, pull)
        ctx.save_for_backward(of_patch, of_context)
        ctx.unit = 1 / (size * temperature)
        loss: Tensor = (total.log() - positive).mean()
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_patch, of_context = ctx.saved_tensors
        unit = grads[0] * ctx.unit
        return of_patch * unit, of_context * unit, None, None


def _strips(size: int) -> Iterator[slice]:
    for start in range(0, size, STRIP):
        yield slice(start, min(start + STRIP, size))
