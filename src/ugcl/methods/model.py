"""What training, evaluation and the estimators rely on of every method's model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ugcl._utils.errors import UGCLError
from ugcl.graph import Graph


@dataclass(frozen=True)
class Shape:
    """What a model's arrays are sized by.

    Attributes:
        nodes: N, the nodes of the graph that is trained on.
        features: D, columns of X.
        classes: classes of the labels; 0 where there are none.
    """

    nodes: int
    features: int
    classes: int

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """That of a graph."""
        return cls(graph.num_nodes, graph.num_features, graph.num_classes)


class Model(nn.Module, ABC):
    """Parameters, the loss that trains them, and the embeddings that come out."""

    def prepare(self, graph: Graph) -> None:
        """Take from the graph that is trained on what stays fixed, such as weights of columns."""

    def loss_fn(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """The loss of an epoch: a function of the epoch's number and the weights alone.

        A model without parameters to descend on does its epoch in it.
        """
        raise UGCLError(
            f"{type(self).__name__} has nothing to train: take its embeddings as they are"
        )

    def parameter_groups(self) -> Iterable[Any]:
        """What is trained by gradients: parameters, or groups of them as PyTorch has them."""
        return [value for value in self.parameters() if value.requires_grad]

    def after_step(self, epoch: int) -> None:
        """What a method does after the optimiser's step of an epoch: nothing, for most."""

    def validate(self) -> float | None:
        """The loss on validation nodes after an epoch; None for a method that has no labels.

        Where there is one, early stopping goes by it.
        """
        return None

    @abstractmethod
    def embed(self, graph: Graph, device: torch.device | str) -> Any:
        """Embeddings of all nodes, float32, in the graph's order: an array or a SciPy CSR."""


class Predictor(Model):
    """A model that knows classes, too."""

    @abstractmethod
    def predict(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """The probability of each class for each node, N x C, rows in the graph's order."""
