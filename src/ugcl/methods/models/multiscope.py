"""The model of the multi-scope method: held-out nodes stop training, blocks are read out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.random import numpy_generator
from ugcl._utils.workspace import Workspace
from ugcl.graph import Graph
from ugcl.losses import Batch
from ugcl.methods.models.propagated import projected_rows, propagated_columns
from ugcl.methods.models.ssl import SSLModel
from ugcl.methods.models.structure import edges_key, structural_block
from ugcl.methods.multiscope import MultiScopeSettings, build
from ugcl.nn import unit_rows
from ugcl.scope import Power, normalised_adjacency, stored_adjacency
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

    @property
    def layout(self) -> list[tuple[str, int]]:
        """Return name and columns of each block: "z", "A z", ..., "X", "A^2 X", "structure"."""
        settings = self.settings
        hidden, raw = self.directions.shape[1], self.raw_directions.shape[1]
        names = ["z", *(f"{_power(k)} z" for k in settings.powers)]
        if not isinstance(self.readout_scope, Power):
            names.append(f"{settings.readout_scope} z")
        blocks = [(name, hidden) for name in names]
        if settings.raw_columns:
            blocks += [(name, raw) for name in ("X", *(_power(k) + " X" for k in self._raw_powers))]
        if settings.structure_columns:
            blocks.append(("structure", settings.structure_columns))
        return blocks

    @property
    def _raw_powers(self) -> tuple[int, ...]:
        return self.settings.raw_powers if self.settings.raw_columns else ()

    def num_columns(self, graph: Graph) -> int:
        """Return the columns of all blocks."""
        return sum(columns for _, columns in self.layout)

    def blocks(self, graph: Graph, device: Device) -> Iterator[tuple[str, Tensor]]:
        """Yield the blocks of the embeddings by name."""
        embeddings = torch.from_numpy(self.embed(graph, device))
        names, widths = zip(*self.layout, strict=True)
        yield from zip(names, torch.split(embeddings, list(widths), dim=1), strict=True)

    @torch.no_grad()
    def column_blocks(self, graph: Graph, work: Workspace) -> Iterator[tuple[int, Tensor]]:
        """Yield columns of the blocks; z and X need no edges."""
        settings, size = self.settings, graph.num_nodes
        powers, raw_powers = settings.powers, self._raw_powers
        hidden, raw = self.directions.shape[1], self.raw_directions.shape[1]
        work.block_width(size, max(hidden, raw))
        work.plan(hidden * (1 + max(powers, default=0)) + raw * (1 + max(raw_powers, default=0)))
        (z,) = work.arrays({"z": ((size, hidden), np.dtype(np.float32))}, self._codes(graph, work))
        work.advance(hidden, "encoding")
        yield 0, z
        adjacency = None
        limited = not isinstance(self.readout_scope, Power)
        if powers or raw_powers or limited:
            adjacency = stored_adjacency(graph.adjacency, settings.self_loops, work)
        if adjacency is not None:
            limit = self.readout_scope.on(adjacency) if limited else None
            for index, columns, rows in propagated_columns(
                adjacency, z, powers, work, "z power", limit
            ):
                yield hidden * (1 + index) + columns.start, rows
        column = hidden * (1 + len(powers) + limited)
        if settings.raw_columns:
            directions = self.raw_directions.cpu().numpy()
            features = projected_rows(self.rows(graph), directions, work, "X")
            work.advance(raw, "features")
            yield column, features
            if adjacency is not None:
                for index, columns, rows in propagated_columns(
                    adjacency, features, raw_powers, work, "X power"
                ):
                    yield column + raw * (1 + index) + columns.start, rows
            column += raw * (1 + len(raw_powers))
        if settings.structure_columns and work.first:
            width, key = settings.structure_columns, int(self.trained_on)
            yield column, structural_block(graph.adjacency, width, key, work)

    def finish_rows(self, rows: Tensor) -> Tensor:
        """Return rows whose blocks have norm 1 and their weights.

        z is learned from features and neighbourhoods, and has the weights of both as factors. The
        norm of a row of the features themselves may say something: they have a mean squared norm
        of 1.
        """
        own, around, structural = self.weights.tolist()
        layout = self.layout
        finished = []
        for (name, _), block in zip(
            layout, torch.split(rows, [width for _, width in layout], dim=1), strict=True
        ):
            if name == "X":
                finished.append(own * block)
                continue
            factor = own * around if name == "z" else around
            factor = structural if name == "structure" else factor
            finished.append(factor * unit_rows(block.contiguous()))
        return torch.cat(finished, dim=1)

    def _codes(self, graph: Graph, work: Workspace) -> Iterator[tuple[npt.NDArray[np.float32]]]:
        """Yield z of `ROWS` nodes at a time."""
        for part in self._hidden(self.input_rows(graph), work.device):
            yield (((part - self.centre) @ self.directions).cpu().numpy(),)

    def _hidden(self, features: Features | ScaledRows, device: Device) -> Iterator[Tensor]:
        """Encode all nodes, and yield H of `ROWS` at a time."""
        training = self.training
        self.eval()
        for start in range(0, features.shape[0], ROWS):
            yield self.encoder(rows_view(features[start : start + ROWS], device))
        self.train(training)


def _power(power: int) -> str:
    return "A" if power == 1 else f"A^{power}"


def _mean_length(rows: npt.NDArray[Any]) -> float:
    """Return the square root of the mean squared length of rows."""
    with np.errstate(over="ignore"):
        length = float(np.sqrt(np.square(rows).sum(axis=1).mean()))
    if np.isfinite(length) or rows.dtype == np.float64:
        return length
    return _mean_length(rows.astype(np.float64))


def _tensor(array: npt.NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
