"""The model of the multi-scope method: held-out nodes stop training, blocks are read out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.random import numpy_generator
from ugcl.graph import Graph
from ugcl.losses import Batch
from ugcl.methods.models.ssl import SSLModel
from ugcl.methods.models.structure import edges_key, structural_block
from ugcl.methods.multiscope import MultiScopeSettings, build
from ugcl.nn import unit_rows
from ugcl.scope import Power, normalised_adjacency
from ugcl.sparse import SparseMatrix, multiply
from ugcl.typing import Device, Features
from ugcl.views import (
    LARGE_GRAPH,
    Sample,
    ScaledRows,
    WalkContexts,
    leading_directions,
    rows_view,
    sampled_rows,
    split_half_reliability,
)

HELD_OUT = 0.1
"""Fraction of the nodes that training does not see."""

MAX_HELD_OUT = 1000
MIN_NODES = 20
"""Graphs with fewer nodes hold out none."""

MAX_WALKS = 8
"""Walks from a held-out node until one ends at another node; else it is not held out."""

MIN_EPOCHS = 60
"""Epochs before which training does not stop: at first the loss falls slowly."""

INTERVAL = 10
"""Epochs between two looks at the held-out nodes."""

ROWS = 8192
"""Nodes that are encoded at a time."""


class MultiScopeModel(SSLModel):
    """Encoder, held-out losses, and the blocks of the embedding.

    Args:
        num_features: columns of X.
        settings: the settings.
        seed: the training seed.
    """

    settings: MultiScopeSettings  # type: ignore[assignment]
    views: WalkContexts

    def __init__(self, num_features: int, settings: MultiScopeSettings, seed: int) -> None:
        super().__init__(build, num_features, settings, seed)
        self.centre: Tensor
        self.directions: Tensor
        self.raw_directions: Tensor
        self.weights: Tensor
        self.trained_on: Tensor
        self.held_out_losses: Tensor
        width = min(settings.block_columns, settings.hidden)
        raw = min(settings.raw_columns, num_features)
        self.register_buffer("centre", torch.zeros(settings.hidden))
        self.register_buffer("directions", torch.zeros(settings.hidden, width))
        self.register_buffer("raw_directions", torch.zeros(num_features, raw))
        self.register_buffer("weights", torch.ones(3))
        self.register_buffer("trained_on", torch.zeros(1, dtype=torch.int64))
        checks = settings.epochs // INTERVAL + 1
        self.register_buffer("held_out_losses", torch.full((checks,), torch.nan))
        self._held_out: Sample | None = None
        self._epoch = 0

    def rows(self, graph: Graph) -> ScaledRows:
        """Return the scaled features; standardised rows have a mean squared length of 1."""
        rows = super().rows(graph)
        if self.scaling == "standard":
            rows.factor = 1 / np.sqrt(max(graph.num_features, 1))
        return rows

    def inputs(self, graph: Graph) -> Features:
        """Return what the encoder sees of all nodes."""
        return self.input_rows(graph).all()

    def input_rows(self, graph: Graph) -> ScaledRows:
        """Return what the encoder sees: scaled features, but counts without IDF weights.

        The encoder learns weights of columns itself; blocks of features have those of TF-IDF. The
        features that a GCN sees are smoothed first, all of them.
        """
        counts = self.scaling == "tfidf"
        rows = ScaledRows(graph.features, "l2") if counts else self.rows(graph)
        if self.settings.encoder == "gcn":
            adjacency = normalised_adjacency(graph.adjacency, self.settings.self_loops)
            return ScaledRows(adjacency @ rows.all())
        return rows

    def loss_fn(self, graph: Graph, device: Device) -> Callable[[int], Tensor]:
        """Return the function from an epoch's number to its loss; hold out nodes first."""
        sampled = self.samples(self.training_views(graph, device), graph)

        def loss_of(epoch: int) -> Tensor:
            if torch.isnan(self.held_out_losses[0]):
                self.held_out_losses[0] = self._held_out_loss()
            return self._pair_loss(*sampled(epoch))

        return loss_of

    def training_views(self, graph: Graph, device: Device) -> WalkContexts:
        """Return the sampler of the nodes that are not held out."""
        views = self.views.bind(graph.adjacency, self.input_rows(graph), device)
        self._hold_out(views)
        return views

    def _pair_loss(self, sample: Sample, rng: np.random.Generator) -> Tensor:
        patches = [self.encoder(view) for view in sample.views]
        loss: Tensor = self.loss(Batch(patches=patches, contexts=None, rng=rng, nodes=sample.nodes))
        return loss

    def _hold_out(self, views: WalkContexts) -> None:
        """Choose the held-out nodes and their contexts, once for all epochs.

        A walk that returns to its start agrees with it whatever the weights: it is walked again.
        """
        rng, size = numpy_generator("held-out nodes", self.seed), views.walker.size
        count = min(round(HELD_OUT * size), MAX_HELD_OUT) if size >= MIN_NODES else 0
        nodes = rng.choice(size, count, replace=False)
        nodes = nodes[views.walker.degrees(nodes) > 0]
        ends = views.walker.ends(nodes, views.scope, rng)
        for _ in range(MAX_WALKS - 1 if views.scope else 0):
            returned = ends == nodes
            ends[returned] = views.walker.ends(nodes[returned], views.scope, rng)
        elsewhere = (ends != nodes) | (views.scope == 0)
        nodes, ends = nodes[elsewhere], ends[elsewhere]
        if nodes.size < 2:
            return
        self._held_out = views.pairs(nodes, ends, None)
        views.without(nodes)

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        if self._held_out is None:
            return torch.inf
        return float(self._pair_loss(self._held_out, numpy_generator("held-out nodes", self.seed)))

    def on_step_end(self, epoch: int) -> None:
        """Look at the held-out nodes from time to time."""
        super().on_step_end(epoch)
        self._epoch = epoch + 1
        if self._epoch % INTERVAL == 0 and self._held_out is not None:
            self.held_out_losses[self._epoch // INTERVAL] = self._held_out_loss()

    def validation_loss(self) -> float | None:
        """Return the loss of held-out nodes; None where none are held out.

        With `patience` that of this epoch, else that of the last look at them.
        """
        if self._held_out is None:
            return None
        if self.settings.patience:
            return self._held_out_loss()
        return float(self.held_out_losses[self._epoch // INTERVAL])

    def converged(self, epoch: int, tolerance: float | None = None) -> bool:
        """Return whether the second half of training did little for the held-out nodes.

        Training ends at the first epoch t at which the loss of held-out nodes has fallen since t/2
        by less than `tolerance` of its fall since the start.
        """
        tolerance = self.settings.tolerance if tolerance is None else tolerance
        if not tolerance or epoch % INTERVAL or epoch < MIN_EPOCHS:
            return False
        now, losses = epoch // INTERVAL, self.held_out_losses.cpu().numpy()
        middle = losses[now // 2] if now % 2 == 0 else losses[now // 2 : now // 2 + 2].mean()
        return bool(middle - losses[now] < tolerance * (losses[0] - losses[now]))

    @torch.no_grad()
    def on_fit_end(self, graph: Graph, device: Device) -> None:
        """Find the leading directions of H and X, and the reliability of the blocks."""
        settings = self.settings
        hidden = torch.cat(list(self._hidden(sampled_rows(self.input_rows(graph)), device)))
        self.centre.copy_(hidden.mean(dim=0))
        centred = hidden.sub_(self.centre).cpu().numpy()
        self.directions.copy_(_tensor(leading_directions(centred, self.directions.shape[1])))
        rows = self.rows(graph)
        raw = sampled_rows(rows) if graph.num_nodes > LARGE_GRAPH else rows.all()
        if settings.raw_columns:
            columns = self.raw_directions.shape[1]
            directions = leading_directions(raw, columns)
            length = _mean_length(raw @ directions)
            self.raw_directions.copy_(_tensor(directions / max(length, 1e-12)))
        if settings.block_weights == "reliability":
            with_structure = settings.structure_columns > 0
            reliability = split_half_reliability(
                graph.adjacency, rows, self.seed, structure=with_structure
            )
            self.weights.copy_(torch.tensor(reliability.weights(graph.num_nodes)))
        self.trained_on.fill_(edges_key(graph.adjacency))

    def embed(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the embeddings of all nodes: weighted blocks side by side."""
        blocks = list(self.blocks(graph, device))
        embeddings = torch.empty(graph.num_nodes, sum(block.shape[1] for _, block in blocks))
        column = 0
        while blocks:  # each is freed once it is copied
            block = blocks.pop(0)[1]
            embeddings[:, column : column + block.shape[1]] = block
            column += block.shape[1]
        return embeddings.numpy()

    @torch.no_grad()
    def blocks(self, graph: Graph, device: Device) -> Iterator[tuple[str, Tensor]]:
        """Yield the blocks of the embeddings by name: "z", "A z", ..., "X", "A X", "structure".

        z is learned from features and neighbourhoods, and has the weights of both as factors.
        Blocks have rows of norm 1, but that of the features themselves, where the norm of a row may
        say something, has a mean squared norm of 1.
        """
        settings = self.settings
        own, around, structural = self.weights.tolist()
        adjacency = SparseMatrix.from_scipy(
            normalised_adjacency(graph.adjacency, settings.self_loops), device=device
        )
        parts = self._hidden(self.inputs(graph), device)
        hidden = torch.cat([(part - self.centre) @ self.directions for part in parts])
        yield "z", (own * around * unit_rows(hidden)).cpu()
        for power, rows in _powers(adjacency, hidden, settings.powers):
            yield f"{power} z", (around * unit_rows(rows)).cpu()
        if not isinstance(self.readout_scope, Power):
            rows = self.readout_scope.on(adjacency)(hidden)
            yield f"{settings.readout_scope} z", (around * unit_rows(rows)).cpu()
        if settings.raw_columns:
            hidden = _tensor(self.scaled(graph) @ self.raw_directions.cpu().numpy()).to(device)
            yield "X", (own * hidden).cpu()
            for power, rows in _powers(adjacency, hidden, settings.raw_powers):
                yield f"{power} X", (around * unit_rows(rows)).cpu()
        if columns := settings.structure_columns:
            block = structural_block(graph.adjacency, columns, int(self.trained_on))
            yield "structure", structural * unit_rows(_tensor(block))

    def _hidden(self, features: Features, device: Device) -> Iterator[Tensor]:
        """Encode all nodes, and yield H of `ROWS` at a time."""
        training = self.training
        self.eval()
        for start in range(0, features.shape[0], ROWS):
            yield self.encoder(rows_view(features[start : start + ROWS], device))
        self.train(training)


def _powers(
    adjacency: SparseMatrix, rows: Tensor, powers: Sequence[int]
) -> Iterator[tuple[str, Tensor]]:
    """Yield the name and the product `A^k H` for each of the ascending powers k."""
    previous = 0
    for power in powers:
        for _ in range(power - previous):
            rows = multiply(adjacency.matrix, rows)
        previous = power
        yield "A" if power == 1 else f"A^{power}", rows


def _mean_length(rows: npt.NDArray[Any]) -> float:
    """Return the square root of the mean squared length of rows."""
    with np.errstate(over="ignore"):
        length = float(np.sqrt(np.square(rows).sum(axis=1).mean()))
    if np.isfinite(length) or rows.dtype == np.float64:
        return length
    return _mean_length(rows.astype(np.float64))


def _tensor(array: npt.NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
