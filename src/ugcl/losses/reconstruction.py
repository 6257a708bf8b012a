"""Autoencoders of graphs: representations tell which nodes are joined.

    L = mean_joined sp(-z_v . c_k) + mean_apart sp(z_v . c_k) + KL / S,    sp(x) = log(1 + e^x)

with z the patch view, c the contextual view (z itself at scope 0), over all pairs that are joined
and as many random pairs that are not; nothing of the S x S scores is computed but these. KL, the
divergence from the standard normal distribution, is the variational autoencoder's, where rows are
means and logarithms of deviations, and z is drawn from them. Kipf and Welling, "Variational Graph
Auto-Encoders", 2016; the autoencoder and its divergence are PyTorch Geometric's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ugcl.losses.loss import Edges, Loss
from ugcl.losses.pairs import scores

MAX_LOG_STD = 10.0
"""Logarithms of deviations are cut here, as PyTorch Geometric cuts them."""


class ReconstructionLoss(Loss):
    """How badly inner products tell joined nodes from others.

    Args:
        autoencoder: PyTorch Geometric's `GAE`, or its `VGAE` for rows that are distributions, with
            a `PairDecoder`.
        variational: whether rows are means and logarithms of deviations, side by side.
    """

    def __init__(self, autoencoder: Any, *, variational: bool) -> None:
        super().__init__()
        self.autoencoder: nn.Module = autoencoder
        self.variational = variational

    def forward(
        self,
        pairs: Sequence[tuple[Tensor, Tensor]],
        corrupted: Sequence[Tensor],
        rng: np.random.Generator,
        edges: Edges | None = None,
    ) -> Tensor:
        """The divergence and the edge term of all pairs."""
        assert edges is not None
        divergence = super().forward(pairs, corrupted, rng)
        return (
            divergence + torch.stack([self._edge_term(*pair, edges, rng) for pair in pairs]).mean()
        )

    def contrast(
        self, patch: Tensor, context: Tensor, corrupted: Tensor | None, rng: np.random.Generator
    ) -> Tensor:
        """The divergence of the nodes' distributions; zero where nodes have none."""
        del context, corrupted, rng
        if not self.variational:
            return patch.new_zeros(())
        divergence: Tensor = self.autoencoder.kl_loss(*_parts(patch))  # type: ignore[operator]
        return divergence / patch.shape[0]

    def _edge_term(
        self, patch: Tensor, context: Tensor, edges: Edges, rng: np.random.Generator
    ) -> Tensor:
        same = context is patch
        if self.variational:
            shape = patch.shape[0], patch.shape[1] // 2
            noise = torch.from_numpy(rng.standard_normal(shape, dtype=np.float32)).to(patch)
            patch = _drawn(patch, noise)
            context = patch if same else _drawn(context, noise)
        joined = torch.stack(edges)
        apart = random_apart(joined, patch.shape[0], rng)
        if not same:
            joined, apart = (torch.cat([ends, ends.flip(0)], dim=1) for ends in (joined, apart))
        together, others = (self._decoded((patch, context), ends) for ends in (joined, apart))
        loss = softplus(-together).mean()
        return loss + softplus(others).mean() if others.numel() else loss

    def _decoded(self, rows: tuple[Tensor, Tensor], ends: Tensor) -> Tensor:
        decode: Any = self.autoencoder.decode
        scores: Tensor = decode(rows, ends[:, torch.argsort(ends[0], stable=True)], sigmoid=False)
        return scores


class PairDecoder(nn.Module):
    """A decoder for PyTorch Geometric's autoencoders: the inner products of some pairs alone.

    They are entries of a sparse matrix, so that no row is gathered and gradients are the same bits
    with any number of threads.
    """

    def forward(self, z: tuple[Tensor, Tensor], edge_index: Tensor, sigmoid: bool = True) -> Tensor:
        """`z_v . c_k` of each pair, the first ends ascending; or the probability of an edge."""
        found = scores(*z, edge_index[0], edge_index[1])
        return torch.sigmoid(found) if sigmoid else found


def random_apart(joined: Tensor, size: int, rng: np.random.Generator) -> Tensor:
    """Random pairs of nodes, about as many as there are edges, without those that are joined.

    Args:
        joined: 2 x E ends of edges, the first below the second, ordered by both.
        size: S, the number of nodes.
        rng: the source of randomness.
    """
    drawn = torch.from_numpy(np.sort(rng.integers(size, size=(2, joined.shape[1])), axis=0))
    drawn = drawn.to(joined.device)
    known, wanted = (ends[0] * size + ends[1] for ends in (joined, drawn))
    place = torch.searchsorted(known, wanted).clamp_(max=known.numel() - 1)
    return drawn[:, (known[place] != wanted) & (drawn[0] != drawn[1])]


def _parts(rows: Tensor) -> tuple[Tensor, Tensor]:
    mean, deviation = rows.chunk(2, dim=1)
    return mean, deviation.clamp(max=MAX_LOG_STD)


def _drawn(rows: Tensor, noise: Tensor) -> Tensor:
    mean, deviation = _parts(rows)
    return mean + noise * deviation.exp()
