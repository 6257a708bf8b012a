"""The result of training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl.engine.callbacks import Ended, History
from ugcl.engine.divergence import check_embeddings
from ugcl.graph import Graph
from ugcl.methods import Method, Settings, Shape
from ugcl.methods.models.model import Model, Predictor
from ugcl.selection import Choice
from ugcl.typing import Embeddings


@dataclass(frozen=True)
class Fitted:
    """The result of `fit`.

    Attributes:
        method: the method.
        model: the trained model, on `device`.
        settings: the resolved settings.
        scope_choice: how n was chosen where the scope was "auto"; else None.
        history: the losses.
        epochs: epochs trained, those before a resumption included.
        loss: loss of the last epoch; None without one.
        seconds: time spent in epochs, and in what the model learns from the graph after them.
        ended: after all epochs, by early stopping ("patience"), or "stopped" by a callback.
        device: where the model is.
        shape: shape of the training graph.
        seed: the training seed.
    """

    method: Method
    model: Model
    settings: Settings
    scope_choice: Choice | None
    history: History
    epochs: int
    loss: float | None
    seconds: float
    ended: Ended
    device: str
    shape: Shape
    seed: int

    def embed(self, graph: Graph) -> Embeddings:
        """Return the embeddings of a graph's nodes: the training graph or another one."""
        self._check_features(graph)
        embeddings = self.model.embed(graph, self.device)
        check_embeddings(embeddings, self.settings, graph)
        return embeddings

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """Return the probability of each class for each node, N x C (supervised methods)."""
        self._check_features(graph)
        if not isinstance(self.model, Predictor):
            raise UGCLError(f"{self.method.name} predicts no classes: use a supervised method")
        return self.model.predict(graph, self.device)

    def _check_features(self, graph: Graph) -> None:
        if graph.num_features != self.shape.features and self.method.inductive:
            raise UGCLError(
                f"the graph has {graph.num_features:,} features but training saw "
                f"{self.shape.features:,}: pass a graph with the same features"
            )
