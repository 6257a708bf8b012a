"""A network that learns from labels, as a model like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ugcl.graph import Graph
from ugcl.methods.model import Predictor, Shape
from ugcl.methods.networks import Inputs, Network
from ugcl.methods.scaled import ScaledModel
from ugcl.sparse import SparseMatrix
from ugcl.views import FeatureScaling


class Classifier(ScaledModel, Predictor):
    """A network, trained on the training nodes; what it knows best by the validation nodes is kept.

    The weights that are kept are those of the highest accuracy on validation nodes, of several such
    those of the lowest loss there. They embed and predict.

    Args:
        network: makes the network, from PyTorch's own source of randomness.
        shape: of the graph.
        scaling: how X is scaled.
        weight_decay: of the parameters that the network lets decay.
        seed: the training seed.
    """

    def __init__(
        self,
        network: Callable[[], Network],
        shape: Shape,
        *,
        scaling: FeatureScaling,
        weight_decay: float,
        seed: int,
    ) -> None:
        super().__init__(shape.features, scaling)
        self.weight_decay, self.seed = weight_decay, seed
        with _seeded(seed):
            self.network = network()
        self.kept = deepcopy(self.network).requires_grad_(False)
        self.best: Tensor
        self.register_buffer("best", torch.tensor([-1.0, torch.inf], dtype=torch.float64))
        self._validation: tuple[Inputs, Tensor, Tensor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the graph, which is held to validate on."""
        return {**super().__getstate__(), "_validation": None}  # type: ignore[no-untyped-call]

    def parameter_groups(self) -> Iterable[Any]:
        """The parameters that decay, and the others."""
        decayed = self.network.decayed()
        held = {id(value) for value in decayed}
        others = [value for value in self.network.parameters() if id(value) not in held]
        groups = [{"params": decayed, "weight_decay": self.weight_decay}]
        return [*groups, {"params": others}] if others else groups

    def loss_fn(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """The cross-entropy on the training nodes."""
        assert graph.labels is not None
        inputs = self._inputs(graph, device)
        labels = torch.from_numpy(graph.labels.copy()).to(device)
        train, held = (
            torch.from_numpy(graph.splits[part].copy()).to(device) for part in ("train", "val")
        )
        self._validation = inputs, held, labels[held]

        def loss_of(epoch: int) -> Tensor:
            self.network.train()
            with _seeded(self.seed, epoch):
                _, scores = self.network(*inputs)
            return cross_entropy(scores[train], labels[train])

        return loss_of

    @torch.no_grad()
    def validate(self) -> float | None:
        """The cross-entropy on the validation nodes; the best weights so far are kept."""
        assert self._validation is not None
        inputs, held, labels = self._validation
        self.network.eval()
        scores = self.network(*inputs)[1][held]
        loss = float(cross_entropy(scores, labels))
        accuracy = float((scores.argmax(dim=1) == labels).double().mean())
        best_accuracy, best_loss = self.best.tolist()
        if (accuracy, -loss) > (best_accuracy, -best_loss):
            self.kept.load_state_dict(self.network.state_dict())
            self.best.copy_(torch.tensor([accuracy, loss], dtype=self.best.dtype))
        return loss

    @torch.no_grad()
    def embed(self, graph: Graph, device: torch.device | str) -> Any:
        """The penultimate layer."""
        hidden, _ = self.kept.eval()(*self._inputs(graph, device))
        return hidden.to_scipy() if isinstance(hidden, SparseMatrix) else hidden.cpu().numpy()

    @torch.no_grad()
    def predict(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """The probability of each class."""
        _, scores = self.kept.eval()(*self._inputs(graph, device))
        return scores.softmax(dim=1).cpu().numpy()  # type: ignore[no-any-return]

    def _inputs(self, graph: Graph, device: torch.device | str) -> Inputs:
        return self.network.inputs(graph.adjacency, self.raw(graph), device)


@contextmanager
def _seeded(*seeds: int) -> Iterator[None]:
    """PyTorch's own random numbers, as PyTorch Geometric's layers use them, from these seeds.

    Afterwards they go on as if nothing had been.
    """
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1)[0]))
        yield
