"""What training, evaluation and the estimators rely on of every trained method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ugcl.graph import Graph


class Model(nn.Module, ABC):
    """Parameters, the loss that trains them, and the embeddings that come out."""

    @abstractmethod
    def pretext(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """The loss of an epoch: a function of the epoch's number and the weights alone."""

    def after_step(self, epoch: int) -> None:
        """What a method does after the optimiser's step of an epoch: nothing, for most."""

    @abstractmethod
    def embed(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """Embeddings of all nodes, float32, in the graph's order."""
