"""Base classes for models: what the engine, evaluation and estimators rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ugcl._utils.buffers import new_empty
from ugcl._utils.errors import UGCLError
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.graph import Graph
from ugcl.methods.settings import TrainingSettings
from ugcl.nn import Adam
from ugcl.typing import Device, Embeddings, Features, FeatureScaling
from ugcl.views import ScaledRows, fit_scaling


class Model(nn.Module, ABC):
    """Base class for models: parameters, a loss, and embeddings.

    Attributes:
        rank: number of the process, of those that train together; each has samples of its own.
    """

    rank = 0

    def fit_buffers(self, graph: Graph) -> None:
        """Compute buffers that depend on the training graph, for example IDF weights."""

    def loss_fn(self, graph: Graph, device: Device) -> Callable[[int], Tensor]:
        """Return the function from an epoch's number to its loss.

        The loss depends on epoch, rank and weights alone, so training can be resumed. A model
        without gradients does the work of the epoch in this function.
        """
        raise UGCLError(f"{type(self).__name__} is not trained: use its embeddings as they are")

    def parameter_groups(self) -> Iterable[Any]:
        """Return the parameters to optimize, or groups of them for PyTorch's optimizers."""
        return [value for value in self.parameters() if value.requires_grad]

    def trained_tensors(self) -> Iterable[Tensor]:
        """Return what training changes; it has diverged if their norm grows without bounds."""
        return (value.detach() for value in self.parameters())

    def new_optimizer(self, settings: TrainingSettings) -> Optimizer | None:
        """Return the optimizer; None for a model without gradients."""
        groups = list(self.parameter_groups())
        return Adam(groups, lr=settings.lr, fused=True) if groups else None

    def on_step_end(self, epoch: int) -> None:
        """Update what the optimizer does not, for example a momentum encoder."""

    def validation_loss(self) -> float | None:
        """Return the loss on validation nodes, by which training stops early; None without."""
        return None

    def converged(self, epoch: int) -> bool:
        """Return whether training should end after this many epochs, by the model's own rule.

        It depends on the epoch and the buffers alone, so a resumed training ends at the same epoch.
        """
        return False

    def on_fit_end(self, graph: Graph, device: Device) -> None:
        """Compute buffers that depend on the trained weights and the training graph."""

    @abstractmethod
    def embed(self, graph: Graph, device: Device) -> Embeddings:
        """Return the embeddings of all nodes, N x D' float32, in the graph's order."""


class Predictor(Model):
    """Base class for models that predict classes."""

    @abstractmethod
    def predict(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the probability of each class for each node, N x C."""


class BlockModel(Model, ABC):
    """Base class for models whose embeddings are computed in blocks of columns.

    The blocks of a graph that is larger than memory are stored in files, and its embeddings are
    written from them row by row.
    """

    @abstractmethod
    def num_columns(self, graph: Graph) -> int:
        """Return D', the columns of the embeddings."""

    @abstractmethod
    def column_blocks(self, graph: Graph, work: Workspace) -> Iterator[tuple[int, Tensor]]:
        """Yield the first column of each block and its values, N x width, before `finish_rows`.

        A block may be overwritten when the next one is requested, unless it is kept in `work`.
        """

    def finish_rows(self, rows: Tensor) -> Tensor:
        """Return rows of the embeddings as they are returned, for example of norm 1."""
        return rows

    @torch.no_grad()
    def embed(self, graph: Graph, device: Device) -> Embeddings:
        """Return the embeddings of all nodes, N x D' float32, in memory."""
        with Workspace(device=device) as work:
            embeddings = new_empty(torch.empty(0), (graph.num_nodes, self.num_columns(graph)))
            for first, block in self.column_blocks(graph, work):
                embeddings[:, first : first + block.shape[1]] = block
        for rows in row_blocks(graph.num_nodes):
            embeddings[rows] = self.finish_rows(embeddings[rows])
        return embeddings.numpy()


class ScaledModel(Model, ABC):
    """Base class for models that scale X, with the column statistics of the training graph.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
    """

    def __init__(self, num_features: int, scaling: FeatureScaling) -> None:
        super().__init__()
        self.scaling = scaling
        self.idf: Tensor | None
        self.standard: Tensor | None
        unfitted = torch.full((num_features,), torch.nan)
        self.register_buffer("idf", unfitted if scaling == "tfidf" else None)
        unfitted = unfitted.double().expand(2, -1).clone()
        self.register_buffer("standard", unfitted if scaling == "standard" else None)

    def fit_buffers(self, graph: Graph) -> None:
        """Compute the column statistics of the training graph."""
        buffer, statistics = self._statistics(), fit_scaling(graph.features, self.scaling)
        if buffer is not None and statistics is not None:
            buffer.copy_(torch.from_numpy(statistics))

    def scaled(self, graph: Graph) -> Features:
        """Return the scaled features of a graph."""
        return self.rows(graph).all()

    def rows(self, graph: Graph) -> ScaledRows:
        """Return the features of a graph, to be scaled when they are read."""
        buffer = self._statistics()
        if buffer is None:
            return ScaledRows(graph.features, self.scaling)
        fitted = not bool(buffer.isnan().any())
        statistics = buffer.cpu().numpy() if fitted else fit_scaling(graph.features, self.scaling)
        return ScaledRows(graph.features, self.scaling, statistics)

    def _statistics(self) -> Tensor | None:
        """Return the buffer of the column statistics; NaN before they are fitted."""
        return self.idf if self.idf is not None else self.standard
