"""The step as one would write it down: dense matrices, every line a line of the paper.

It is what the kernels are measured against, and what tests hold them to.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ugcl.losses import unit_rows
from ugcl.methods.ugcl import UGCLSettings


def naive_loss(
    adjacency: Tensor,
    features: Tensor,
    parameters: Mapping[str, Tensor],
    settings: UGCLSettings,
    negatives: Tensor | None = None,
) -> Tensor:
    """UGCL's loss on a sample: all S x S similarities, within the patch view and across the views.

    Args:
        adjacency: the normalised adjacency of the sample, S x S.
        features: X, S x D.
        parameters: weights, biases and slopes of the two encoders, by name.
        settings: scope, context and temperature are read.
        negatives: the rows that stand for all others; None for all.
    """

    def encode(which: str) -> Tensor:
        linear = adjacency @ (features @ parameters[f"{which}.weight"])
        return torch.nn.functional.prelu(
            linear + parameters[f"{which}.bias"], parameters[f"{which}.slope"]
        )

    patch, context = encode("primary"), encode("auxiliary")
    assert isinstance(settings.scope, int)
    for _ in range(settings.scope):
        moved = adjacency @ context
        context = (context + moved) / 2 if settings.context == "lazy" else moved
    patch, context = unit_rows(patch), unit_rows(context)
    within = (patch @ patch.T / settings.temperature).exp()
    across = (patch @ context.T / settings.temperature).exp()
    others = 1 - torch.eye(patch.shape[0], dtype=patch.dtype)
    if negatives is not None:
        within, others = within[:, negatives], others[:, negatives]
    scale = (patch.shape[0] - 1) / others.sum(dim=1)
    denominator = scale * (within * others).sum(dim=1)
    loss: Tensor = -(across.diag() / denominator).log().mean()
    return loss
