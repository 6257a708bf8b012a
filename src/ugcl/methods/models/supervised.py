"""A supervised network as a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ugcl._utils.random import seeded_torch
from ugcl.graph import Graph
from ugcl.methods.method import Shape
from ugcl.methods.models.model import Predictor, ScaledModel
from ugcl.methods.models.networks import Inputs, Network
from ugcl.methods.settings import resolved_scaling
from ugcl.methods.supervised import SupervisedSettings
from ugcl.sparse import SparseMatrix
from ugcl.typing import Device, Embeddings


class SupervisedModel(ScaledModel, Predictor):
    """A network that is trained on the training nodes and selected on the validation nodes.

    The weights with the highest validation accuracy are kept, among equals those with the lowest
    validation loss. They embed and predict.

    Args:
        network: creates the network from PyTorch's global random state.
        shape: shape of the graph.
        settings: the settings.
        seed: the training seed.
    """

    def __init__(
        self,
        network: Callable[[], Network],
        shape: Shape,
        settings: SupervisedSettings,
        seed: int,
    ) -> None:
        super().__init__(shape.features, resolved_scaling(settings.feature_scaling))
        self.weight_decay, self.seed = settings.weight_decay, seed
        with seeded_torch("initial weights", seed):
            self.network = network()
        self.best_network = deepcopy(self.network).requires_grad_(False)
        self.best: Tensor
        self.register_buffer("best", torch.tensor([-1.0, torch.inf], dtype=torch.float64))
        self._validation: tuple[Inputs, Tensor, Tensor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the graph, which is held for validation."""
        return {**super().__getstate__(), "_validation": None}  # type: ignore[no-untyped-call]

    def parameter_groups(self) -> Iterable[Any]:
        """Return the parameters with weight decay, and those without."""
        decayed = self.network.decayed()
        others = [p for p in self.network.parameters() if all(p is not each for each in decayed)]
        groups = [{"params": decayed, "weight_decay": self.weight_decay}]
        return [*groups, {"params": others}] if others else groups

    def loss_fn(self, graph: Graph, device: Device) -> Callable[[int], Tensor]:
        """Return the cross entropy on the training nodes."""
        assert graph.labels is not None
        inputs = self._inputs(graph, device)
        labels = torch.from_numpy(graph.labels.copy()).to(device)
        train, validation = (
            torch.from_numpy(graph.splits[part].copy()).to(device) for part in ("train", "val")
        )
        self._validation = inputs, validation, labels[validation]

        def loss_of(epoch: int) -> Tensor:
            self.network.train()
            with seeded_torch("dropout", self.seed, epoch):
                _, logits = self.network(*inputs)
            return cross_entropy(logits[train], labels[train])

        return loss_of

    @torch.no_grad()
    def validation_loss(self) -> float:
        """Return the cross entropy on the validation nodes, and keep the best weights so far."""
        assert self._validation is not None
        inputs, nodes, labels = self._validation
        self.network.eval()
        logits = self.network(*inputs)[1][nodes]
        loss = float(cross_entropy(logits, labels))
        accuracy = float((logits.argmax(dim=1) == labels).double().mean())
        best_accuracy, best_loss = self.best.tolist()
        if (accuracy, -loss) > (best_accuracy, -best_loss):
            self.best_network.load_state_dict(self.network.state_dict())
            self.best.copy_(torch.tensor([accuracy, loss], dtype=self.best.dtype))
        return loss

    @torch.no_grad()
    def embed(self, graph: Graph, device: Device) -> Embeddings:
        """Return the penultimate layer."""
        hidden, _ = self.best_network.eval()(*self._inputs(graph, device))
        return hidden.to_scipy() if isinstance(hidden, SparseMatrix) else hidden.cpu().numpy()

    @torch.no_grad()
    def predict(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the probability of each class for each node, N x C."""
        _, logits = self.best_network.eval()(*self._inputs(graph, device))
        return logits.softmax(dim=1).cpu().numpy()  # type: ignore[no-any-return]

    def _inputs(self, graph: Graph, device: Device) -> Inputs:
        return self.network.inputs(graph.adjacency, self.scaled(graph), device)
