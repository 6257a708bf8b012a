"""The unifying framework: a model made of views, encoders, scope, loss and readout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.optim import Optimizer

from ugcl._utils.random import numpy_generator, torch_generator
from ugcl._utils.rows import is_mapped
from ugcl.graph import Graph
from ugcl.losses import Batch
from ugcl.methods.models.model import ScaledModel
from ugcl.methods.parts import Parts
from ugcl.methods.settings import SSLSettings, TrainingSettings, resolved, resolved_scaling
from ugcl.nn import Adam, AdamW, Encoder, unit_rows
from ugcl.scope import Power, WholeGraph, scope_of
from ugcl.typing import Device, Readout
from ugcl.views import LARGE_GRAPH, Ahead, Sample, View, ViewSampler

S = TypeVar("S", bound=SSLSettings)


OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "adamw": AdamW}


class SSLModel(ScaledModel):
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

    @torch.no_grad()
    def embed(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the embeddings of all nodes, N x D' float32, computed in blocks of columns."""
        readout, width = self.settings.readout, self.encoder.width
        views = self.views.inference_views(graph.adjacency, self.scaled(graph), device)
        if readout == "blocks":
            return self._embed_blocks(views)
        concat = readout == "concat"
        embeddings = torch.empty(graph.num_nodes, 2 * width if concat else width)
        scope = Power(0) if readout == "hidden" else self.readout_scope
        training = self.training
        self.eval()
        blocks = (self._encoder_of(index).blocks(view, scope) for index, view in enumerate(views))
        for columns, patch, context in _add_blocks(*blocks):
            if concat:
                embeddings[:, :width][:, columns] = patch
                embeddings[:, width:][:, columns] = context
            else:
                embeddings[:, columns] = _read_out(patch, context, readout)
        self.train(training)
        if readout == "context-l2":
            embeddings = unit_rows(embeddings)
        return embeddings.numpy()

    def _embed_blocks(self, views: tuple[View, ...]) -> npt.NDArray[np.float32]:
        """Return `[H | A H | A^2 H | context]`, each with rows of norm 1, without duplicates."""
        last = self.readout_scope
        smaller = min(3, last.n) if isinstance(last, Power) else 3
        scopes = [*(Power(n) for n in range(smaller)), last]
        training = self.training
        self.eval()
        parts = [
            [self._encoder_of(index).context(view, scope) for index, view in enumerate(views)]
            for scope in scopes
        ]
        self.train(training)
        blocks = [unit_rows(torch.stack(part).sum(dim=0)).cpu() for part in parts]
        return torch.cat(blocks, dim=1).numpy()


def _anchors(views: tuple[View, ...], rows: list[Tensor]) -> list[Tensor]:
    return [view.select_anchors(each) for view, each in zip(views, rows, strict=True)]


Blocks = Iterator[tuple[slice, Tensor, Tensor]]


def _add_blocks(first: Blocks, second: Blocks | None = None) -> Blocks:
    """Yield the blocks of one encoder, or the sums of those of two."""
    if second is None:
        yield from first
        return
    for (columns, patch, context), (_, patch_2, context_2) in zip(first, second, strict=True):
        yield columns, patch + patch_2, context + context_2


def _read_out(patch: Tensor, context: Tensor, readout: Readout) -> Tensor:
    """Combine a block of H and of its contexts, in place."""
    if readout == "sum":
        return patch.add_(context)
    if readout == "mean":
        return patch.add_(context).div_(2)
    return patch if readout == "hidden" else context
