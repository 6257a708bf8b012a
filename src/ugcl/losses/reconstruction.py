"""Loss of the graph autoencoders: reconstruction of the edges.

    L = mean_edges sp(-z_v . c_k) + mean_non-edges sp(z_v . c_k) + KL / S,   sp(x) = log(1 + e^x)

with z the patch view and c the contextual view (z itself at scope 0), over all edges and about as
many random non-edges; no other of the S x S scores is computed. KL is the divergence from the
standard normal distribution of the variational autoencoder, whose rows are means and log standard
deviations from which z is sampled. Kipf and Welling, "Variational Graph Auto-Encoders", 2016; the
autoencoder and its divergence are PyTorch Geometric's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ugcl.losses.loss import Batch, Loss, Pair
from ugcl.losses.pairs import scores

MAX_LOG_STD = 10.0
"""Log standard deviations are clamped here, as in PyTorch Geometric."""


class ReconstructionLoss(Loss):
    """Binary cross entropy of inner products as scores of edges.

    Args:
        autoencoder: PyTorch Geometric's `GAE` or `VGAE` with a `PairDecoder`.
        variational: whether rows are means and log standard deviations, concatenated.
    """

    def __init__(self, autoencoder: Any, *, variational: bool) -> None:
        super().__init__()
        self.autoencoder: nn.Module = autoencoder
        self.variational = variational

    def forward(self, batch: Batch) -> Tensor:
        """Return the divergence and the edge term."""
        divergence = super().forward(batch)
        edge_terms = [self._edge_term(pair, batch) for pair in batch.pairs()]
        return divergence + torch.stack(edge_terms).mean()

    def pair_loss(self, pair: Pair, batch: Batch) -> Tensor:
        """Return the divergence KL / S; zero without distributions."""
        if not self.variational:
            return pair.patch.new_zeros(())
        parts = _mean_and_log_std(pair.patch)
        divergence: Tensor = self.autoencoder.kl_loss(*parts)  # type: ignore[operator]
        return divergence / pair.patch.shape[0]

    def _edge_term(self, pair: Pair, batch: Batch) -> Tensor:
        assert batch.edges is not None
        patch, context, symmetric = pair.patch, pair.context, batch.contexts is None
        if self.variational:
            shape = patch.shape[0], patch.shape[1] // 2
            noise = torch.from_numpy(batch.rng.standard_normal(shape, dtype=np.float32)).to(patch)
            patch = _reparametrise(patch, noise)
            context = patch if symmetric else _reparametrise(context, noise)
        positive = torch.stack(batch.edges)
        negative = sample_non_edges(positive, patch.shape[0], batch.rng)
        if not symmetric:
            positive, negative = (
                torch.cat([pairs, pairs.flip(0)], dim=1) for pairs in (positive, negative)
            )
        edge_scores, other_scores = (
            self._decode((patch, context), pairs) for pairs in (positive, negative)
        )
        loss = softplus(-edge_scores).mean()
        return loss + softplus(other_scores).mean() if other_scores.numel() else loss

    def _decode(self, rows: tuple[Tensor, Tensor], pairs: Tensor) -> Tensor:
        decode: Any = self.autoencoder.decode
        ordered = pairs[:, torch.argsort(pairs[0], stable=True)]
        pair_scores: Tensor = decode(rows, ordered, sigmoid=False)
        return pair_scores


class PairDecoder(nn.Module):
    """Inner-product decoder for PyTorch Geometric's autoencoders, for listed pairs only.

    The products are entries of a sparse matrix, so no rows are gathered and gradients have the same
    bits with any number of threads.
    """

    def forward(self, z: tuple[Tensor, Tensor], edge_index: Tensor, sigmoid: bool = True) -> Tensor:
        """Return `z_v . c_k` of each pair, sorted by v; with `sigmoid` edge probabilities."""
        products = scores(*z, edge_index[0], edge_index[1])
        return torch.sigmoid(products) if sigmoid else products


def sample_non_edges(edges: Tensor, size: int, rng: np.random.Generator) -> Tensor:
    """Sample as many random pairs as there are edges, and drop those that are edges or loops.

    Args:
        edges: 2 x E endpoints, the first below the second, in ascending order.
        size: S, the number of nodes.
        rng: the random generator.
    """
    pairs = torch.from_numpy(np.sort(rng.integers(size, size=(2, edges.shape[1])), axis=0))
    pairs = pairs.to(edges.device)
    edge_keys, pair_keys = (ends[0] * size + ends[1] for ends in (edges, pairs))
    place = torch.searchsorted(edge_keys, pair_keys).clamp_(max=edge_keys.numel() - 1)
    return pairs[:, (edge_keys[place] != pair_keys) & (pairs[0] != pairs[1])]


def _mean_and_log_std(rows: Tensor) -> tuple[Tensor, Tensor]:
    mean, log_std = rows.chunk(2, dim=1)
    return mean, log_std.clamp(max=MAX_LOG_STD)


def _reparametrise(rows: Tensor, noise: Tensor) -> Tensor:
    mean, log_std = _mean_and_log_std(rows)
    return mean + noise * log_std.exp()
