"""UGCL's training step in dense matrices, formula by formula: the reference for the kernels."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ugcl.methods.ugcl import UGCLSettings
from ugcl.nn import unit_rows


def naive_loss(
    adjacency: Tensor,
    features: Tensor,
    parameters: Mapping[str, Tensor],
    settings: UGCLSettings,
    negatives: Tensor | None = None,
) -> Tensor:
    """Return UGCL's loss from all S x S similarities, within the patch view and across the views.

    Args:
        adjacency: the normalised adjacency of the sampled subgraph, S x S.
        features: X, S x D.
        parameters: weight, bias and slope of `encoder` and `context_encoder`, by name.
        settings: the settings, of which scope, context and temperature are used.
        negatives: rows that all nodes share as negatives; None for all rows.
    """

    def encode(encoder: str) -> Tensor:
        linear = adjacency @ (features @ parameters[f"{encoder}.weight"])
        return torch.nn.functional.prelu(
            linear + parameters[f"{encoder}.bias"], parameters[f"{encoder}.slope"]
        )

    patch, context = encode("encoder"), encode("context_encoder")
    assert isinstance(settings.scope, int)
    for _ in range(settings.scope):
        propagated = adjacency @ context
        context = (context + propagated) / 2 if settings.context == "lazy" else propagated
    patch, context = unit_rows(patch), unit_rows(context)
    within = (patch @ patch.T / settings.temperature).exp()
    across = (patch @ context.T / settings.temperature).exp()
    is_negative = 1 - torch.eye(patch.shape[0], dtype=patch.dtype)
    if negatives is not None:
        within, is_negative = within[:, negatives], is_negative[:, negatives]
    scale = (patch.shape[0] - 1) / is_negative.sum(dim=1)
    denominator = scale * (within * is_negative).sum(dim=1)
    loss: Tensor = -(across.diag() / denominator).log().mean()
    return loss
