"""Random rows, and batches of given pairs, for tests of losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from ugcl.losses import Batch, Loss
from ugcl.losses.loss import Edges

Pair = tuple[torch.Tensor, torch.Tensor]


def random_rows(count: int, size: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    """Standard normal rows of `count` views in float64, with gradients."""
    generator = torch.Generator().manual_seed(seed)
    views = torch.randn(count, size, width, generator=generator, dtype=torch.float64)
    return [rows.requires_grad_() for rows in views]


def batch_of(
    *pairs: Pair,
    negatives: Sequence[torch.Tensor] = (),
    edges: Edges | None = None,
    seed: int = 0,
    global_context: bool = False,
) -> Batch:
    """The batch whose pairs of patches and contexts are these."""
    patches, rolled = zip(*pairs, strict=True)
    return Batch(
        patches=patches,
        contexts=[rolled[-1], *rolled[:-1]],
        rng=np.random.default_rng(seed),
        negatives=negatives,
        edges=edges,
        global_context=global_context,
    )


def gradients_are_right(
    loss: Loss, make_batch: Callable[..., Batch], rows: Sequence[torch.Tensor]
) -> bool:
    """Compare the gradients of rows and of parameters with finite differences."""
    names = [name for name, _ in loss.named_parameters()]

    def value(*tensors: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, tensors[len(rows) :], strict=True))
        batch = make_batch(*tensors[: len(rows)])
        return torch.func.functional_call(loss, parameters, (batch,), strict=True)

    return torch.autograd.gradcheck(value, (*rows, *loss.parameters()))
