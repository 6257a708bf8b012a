"""The unifying framework: a model made of views, encoders, scope, loss and readout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.optim import Optimizer

from ugcl._utils.random import numpy_generator, torch_generator
from ugcl._utils.rows import is_mapped
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.graph import Graph
from ugcl.losses import Batch
from ugcl.methods.models.model import BlockModel, ScaledModel
from ugcl.methods.parts import Parts
from ugcl.methods.settings import SSLSettings, TrainingSettings, resolved, resolved_scaling
from ugcl.nn import Adam, AdamW, Encoder, unit_rows
from ugcl.nn.columns import HiddenColumns
from ugcl.scope import Power, Scope, WholeGraph, scope_of
from ugcl.sparse import multiply
from ugcl.typing import Device, Readout
from ugcl.views import LARGE_GRAPH, Ahead, Sample, View, ViewSampler

S = TypeVar("S", bound=SSLSettings)


OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "adamw": AdamW}


class SSLModel(BlockModel, ScaledModel):
    """A method's parts with the training step and the readout that all methods share.

    Args:
        build: from the number of features, the settings and a random generator to the parts.
        num_features: columns of X.
        settings: the settings.
        seed: the training seed.
    """

    def __init__(
        self,
        build: Callable[[int, S, torch.Generator], Parts],
        num_features: int,
        settings: S,
        seed: int,
    ) -> None:
        super().__init__(num_features, resolved_scaling(settings.feature_scaling))
        self.settings, self.seed = settings, seed
        self.scope = scope_of(resolved(settings.scope))
        self.readout_scope = scope_of(resolved(settings.readout_scope))
        parts = build(num_features, settings, torch_generator("initial weights", seed))
        self.views, self.momentum = parts.views, parts.momentum
        self.optimizer_class = OPTIMIZERS[parts.optimizer]
        self.encoder, self.second_encoder = parts.encoder, parts.second_encoder
        self.context_encoder, self.loss = parts.context_encoder, parts.loss
        if self.context_encoder is not None:
            self.context_encoder.requires_grad_(self.momentum is None)

    def step_loss(self, sample: Sample, rng: np.random.Generator) -> Tensor:
        """Return the loss of a sample."""
        views, corrupted = sample.views, sample.corrupted
        hidden = self._encode(views)
        contexts: list[Tensor] | None = None
        if self.context_encoder is not None:
            contexts = [self.context_encoder.context(view, self.scope) for view in views]
        elif self.scope != Power(0):
            contexts = self._contexts(views, hidden)
        negatives = self._encode(corrupted)
        if self.loss.contextual_negatives:
            negatives = self._contexts(corrupted, negatives)
        batch = Batch(
            patches=_anchors(views, hidden),
            contexts=None if contexts is None else _anchors(views, contexts),
            negatives=negatives,
            edges=sample.edges,
            rng=rng,
            global_context=self.scope == WholeGraph() and views[0].graph_ids is None,
        )
        loss: Tensor = self.loss(batch)
        return loss

    def _encode(self, views: tuple[View, ...]) -> list[Tensor]:
        return [self._encoder_of(index)(view) for index, view in enumerate(views)]

    def _encoder_of(self, index: int) -> Encoder:
        """Return the encoder of the view with this index."""
        return self.encoder if index == 0 or self.second_encoder is None else self.second_encoder

    def _contexts(self, views: tuple[View, ...], hidden: list[Tensor]) -> list[Tensor]:
        return [view.contexts(self.scope)(rows) for view, rows in zip(views, hidden, strict=True)]

    def loss_fn(self, graph: Graph, device: Device) -> Callable[[int], Tensor]:
        """Return the function from an epoch's number to its loss."""
        views = self.views.bind(graph.adjacency, self.rows(graph), device)

        sampled = self.samples(views, graph)
        return lambda epoch: self.step_loss(*sampled(epoch))

    def samples(
        self, views: ViewSampler, graph: Graph
    ) -> Callable[[int], tuple[Sample, np.random.Generator]]:
        """Return the function from an epoch to its views and its random generator.

        Those of a large mapped graph are sampled one epoch ahead, while they are read from disk.
        """

        def sample(epoch: int) -> tuple[Sample, np.random.Generator]:
            rng = self.rng(epoch)
            return views.sample(rng), rng

        large = graph.num_nodes > LARGE_GRAPH and is_mapped(graph.adjacency.indices)
        return Ahead(sample) if large else sample

    def rng(self, epoch: int) -> np.random.Generator:
        """Return the random generator of an epoch; every rank has its own."""
        ranks = (self.rank,) if self.rank else ()
        return numpy_generator("views", self.seed, epoch, *ranks)

    def new_optimizer(self, settings: TrainingSettings) -> Optimizer:
        """Return the optimizer of all trained parameters."""
        arguments = {"lr": settings.lr, "fused": True}
        if "weight_decay" in settings.values():
            arguments["weight_decay"] = settings.values()["weight_decay"]
        return self.optimizer_class(self.parameter_groups(), **arguments)  # type: ignore[arg-type]

    @torch.no_grad()
    def on_step_end(self, epoch: int) -> None:
        """Update a context encoder that is a moving average."""
        if self.context_encoder is None or self.momentum is None:
            return
        weight = 1 - self.momentum(epoch)
        pairs = zip(self.context_encoder.parameters(), self.encoder.parameters(), strict=True)
        for average, value in pairs:
            average.lerp_(value, weight)

    def num_columns(self, graph: Graph) -> int:
        """Return the columns of the embeddings: one or several scopes side by side."""
        return len(self._scopes) * self.encoder.width

    @property
    def _scopes(self) -> list[Scope]:
        """The scopes that are read out side by side; patches may be added to their contexts."""
        last = self.readout_scope
        if self.settings.readout == "hidden":
            return [Power(0)]
        if self.settings.readout == "concat":
            return [Power(0), last]
        if self.settings.readout == "blocks":
            smaller = min(3, last.n) if isinstance(last, Power) else 3
            return [*(Power(n) for n in range(smaller)), last]
        return [last]

    def column_blocks(self, graph: Graph, work: Workspace) -> Iterator[tuple[int, Tensor]]:
        """Yield the columns of the readout, computed in blocks of columns of H."""
        width, scopes = self.encoder.width, self._scopes
        work.block_width(graph.num_nodes, width)  # refuses too little memory
        training = self.training
        self.eval()
        try:
            sparse = sp.issparse(graph.features)
            features = self.scaled(graph) if sparse else self.rows(graph)
            steps = max((scope.n for scope in scopes if isinstance(scope, Power)), default=1)
            work.plan(graph.num_features * (not sparse) + width * max(steps, 1))
            views = self.views.inference_views(graph.adjacency, features, work.device, work)
            parts = [
                (view, self._encoder_of(index).columns(view, work, f"hidden {index}"))
                for index, view in enumerate(views)
            ]
            buffers = 2 + (not all(hidden.cheap for _, hidden in parts))
            for columns in work.own_blocks(graph.num_nodes, width, buffers):
                names = [f"{index} {columns.start}-{columns.stop}" for index in range(len(scopes))]
                if all(map(work.has, names)):
                    found: Iterator[Tensor] = map(work.stored, names)
                    work.advance((columns.stop - columns.start) * max(steps, 1), "embedding")
                else:
                    read = self._read(parts, columns, work)
                    found = (
                        work.result(name, rows) for name, rows in zip(names, read, strict=True)
                    )
                for index, rows in enumerate(found):
                    yield index * width + columns.start, rows
        finally:
            self.train(training)

    def _read(
        self, parts: Sequence[tuple[View, HiddenColumns]], columns: slice, work: Workspace
    ) -> Iterator[Tensor]:
        """Yield columns of each scope, the sums of those of two views."""
        readout = self.settings.readout
        adds, scopes = readout in ("sum", "mean"), self._scopes
        if len(parts) == 1:
            yield from self._read_view(*parts[0], columns, scopes, work, adds=adds)
            return
        scopes = [Power(0), *scopes] if adds else scopes
        sums = [rows.clone() for rows in self._read_view(*parts[0], columns, scopes, work)]
        others = self._read_view(*parts[1], columns, scopes, work)
        for index, rows in enumerate(others):
            sums[index] += rows
        yield from [_added(sums[0], sums[1], readout)] if adds else sums

    def _read_view(
        self,
        view: View,
        hidden: HiddenColumns,
        columns: slice,
        scopes: Sequence[Scope],
        work: Workspace,
        *,
        adds: bool = False,
    ) -> Iterator[Tensor]:
        """Yield columns of each scope of one view; each is overwritten when the next is computed.

        Args:
            view: the view.
            hidden: its H.
            columns: which.
            scopes: ascending powers, then any others.
            work: where buffers are.
            adds: add the contexts to the patches, as the readout says.
        """
        readout = self.settings.readout
        shape = view.propagation.shape[0], columns.stop - columns.start
        source, other, *patch = work.buffers(2 + (not hidden.cheap), shape, like=self._like)
        hidden.fill(columns, source, other)
        if patch:
            patch[0].copy_(source)
        done = 0
        for scope in scopes:
            if not isinstance(scope, Power):
                if done:
                    hidden.fill(columns, source, other)
                context = view.contexts(scope)(source)
                yield _added(source, context, readout) if adds else context
                work.advance(shape[1], "embedding")
                continue
            for _ in range(scope.n - done):
                multiply(view.propagation.matrix, source, out=other)
                source, other = other, source
                work.advance(shape[1], "embedding")
            done = scope.n
            for rows in row_blocks(shape[0]) if adds else ():
                own = patch[0][rows] if patch else hidden.rows(columns, rows)
                _added(source[rows], own, readout)
            yield source

    @property
    def _like(self) -> Tensor:
        """An empty tensor of the dtype and on the device of the weights."""
        return next(self.encoder.parameters()).detach().flatten()[:0]

    def finish_rows(self, rows: Tensor) -> Tensor:
        """Return rows with scopes of norm 1, where the readout has them."""
        if self.settings.readout not in ("blocks", "context-l2"):
            return rows
        blocks = torch.split(rows, self.encoder.width, dim=1)
        return torch.cat([unit_rows(block.contiguous()) for block in blocks], dim=1)


def _anchors(views: tuple[View, ...], rows: list[Tensor]) -> list[Tensor]:
    return [view.select_anchors(each) for view, each in zip(views, rows, strict=True)]


def _added(first: Tensor, second: Tensor, readout: Readout) -> Tensor:
    """Return the sum or the mean of patches and contexts, in the first of them."""
    first.add_(second)
    return first.div_(2) if readout == "mean" else first
