"""DGI's loss: a bilinear discriminator between nodes of the graph and of a corrupted graph.

    L = -1/2S sum_v ( log d(h_v, s_v) + log(1 - d(h'_v, s_v)) ),
    d(h, s) = sigmoid(h^T W s),    s_v = sigmoid(c_v)

with h the patch view, c the contextual view, h' the corrupted view. Velickovic et al., "Deep Graph
Infomax", 2019, Equations 1 to 5, where all c_v are the mean of H.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from ugcl._utils.buffers import new_empty
from ugcl.losses.loss import Batch, Loss, Pair


class BilinearJSD(Loss):
    """Jensen-Shannon estimator of mutual information with a bilinear discriminator.

    W is initialised uniformly within `sqrt(6 / (D'^2 + D'))`; the bias, which the public code adds
    to `h^T W s`, with zero.

    Args:
        width: columns of H.
        generator: random generator of W.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.zeros(1))
        bound = math.sqrt(6 / (width**2 + width))
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the loss of one view; a global summary is transformed once for all nodes."""
        assert pair.negative is not None
        views = pair.patch, pair.negative
        if batch.global_context:
            summary: Tensor = _Summary.apply(pair.context)  # type: ignore[no-untyped-call]
            transformed = (torch.sigmoid(summary) @ self.weight.T).squeeze(0)
            real, fake = (_scores(rows, transformed) + self.bias for rows in views)
        else:
            transformed = torch.sigmoid(pair.context) @ self.weight.T
            real, fake = ((rows * transformed).sum(dim=1) + self.bias for rows in views)
        return (softplus(-real).mean() + softplus(fake).mean()) / 2


def _scores(rows: Tensor, weights: Tensor) -> Tensor:
    scores: Tensor = _Scores.apply(rows, weights)  # type: ignore[no-untyped-call]
    return scores


class _Summary(torch.autograd.Function):
    """The one row of a global context, 1 x D'.

    All rows have the same share of its gradient: that of the first row alone would be an S x D'
    matrix of zeros below it.
    """

    @staticmethod
    def forward(ctx: Any, context: Tensor) -> Tensor:
        ctx.rows = context.shape[0]
        return context[:1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        rows: int = ctx.rows
        return (grads[0] / rows).expand(rows, -1)


class _Scores(torch.autograd.Function):
    """`H w`, the scores of all rows, without the S x D' products."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weights: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weights)
        return rows @ weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        rows, weights = ctx.saved_tensors
        rows_grad = torch.outer(grads[0], weights, out=new_empty(rows, rows.shape))
        return rows_grad, grads[0] @ rows
