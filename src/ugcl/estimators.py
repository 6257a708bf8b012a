"""Estimators with `fit` and `embed` that follow scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ugcl._utils.errors import UGCLError
from ugcl.engine import Callback, Fitted, fit
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, Settings, get_method
from ugcl.methods.models.model import Model
from ugcl.selection import Choice
from ugcl.typing import Embeddings


class Embedder(BaseEstimator):  # type: ignore[misc]
    """Node embeddings by any method: `Embedder("grace", scope=3).fit(graph).embed(graph)`.

    A setting that is None has the value of the preset for the graph.

    Args:
        method: the method's name, one of `ugcl.methods.METHODS`.
        preset: the preset, `fast` or `paper`.
        scope: training scope: n, "component", "graph" or "auto".
        readout_scope: scope of the embeddings, the same.
        epochs: training steps; 0 leaves the encoder untrained.
        params: any other settings of the method, by name.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".

    Attributes:
        fitted_: the result of `ugcl.engine.fit`.
        settings_: the resolved settings.
        scope_choice_: how n was chosen, where it was "auto"; else None.
        model_: the trained model.
        loss_: the losses, one for each epoch.
        n_features_in_: the number of features.
    """

    fitted_: Fitted
    n_features_in_: int

    def __init__(
        self,
        method: str = "ugcl",
        preset: str = DEFAULT_PRESET,
        *,
        scope: int | str | None = None,
        readout_scope: int | str | None = None,
        epochs: int | None = None,
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.preset = preset
        self.scope = scope
        self.readout_scope = readout_scope
        self.epochs = epochs
        self.params = params
        self.seed = seed
        self.device = device

    def _method_and_params(self) -> tuple[str, dict[str, Any]]:
        """Return the method's name and the settings that differ from the preset."""
        if not isinstance(self.params or {}, Mapping):
            raise UGCLError(f"params must be settings by name, not {self.params!r}")
        others = dict(self.params or {})
        arguments = {
            name: getattr(self, name, None) for name in ("scope", "readout_scope", "epochs")
        }
        set_arguments = {name: value for name, value in arguments.items() if value is not None}
        if twice := sorted(set_arguments.keys() & others.keys()):
            raise UGCLError(f"{twice[0]} is set twice, once in params: set it once")
        return self.method, set_arguments | others

    def fit(self, graph: Graph, y: None = None, *, callbacks: Sequence[Callback] = ()) -> Self:
        """Train on a graph; only supervised methods look at its labels.

        Args:
            graph: the graph.
            y: ignored, present for scikit-learn.
            callbacks: called during training.
        """
        method, params = self._method_and_params()
        get_method(method).check_training(params)
        get_method(method).settings.check_names(params)  # arguments of fit are not settings
        self.fitted_ = fit(
            method,
            graph,
            preset=self.preset,
            seed=self.seed,
            device=self.device,
            callbacks=callbacks,
            **params,
        )
        self.n_features_in_ = graph.num_features
        return self

    def embed(self, graph: Graph) -> Embeddings:
        """Embed a graph: the training graph or another one with the same features.

        Returns:
            A float32 array; for `raw` and a few others on sparse features a SciPy CSR matrix.
        """
        return self._check_fitted().embed(graph)

    def _check_fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call fit(graph) first")
        return self.fitted_

    @property
    def settings_(self) -> Settings:
        """The resolved settings."""
        return self._check_fitted().settings

    @property
    def scope_choice_(self) -> Choice | None:
        """How n was chosen, where it was "auto"; else None."""
        return self._check_fitted().scope_choice

    @property
    def model_(self) -> Model:
        """The trained model."""
        return self._check_fitted().model

    @property
    def loss_(self) -> list[float]:
        """The losses, one for each epoch."""
        return self._check_fitted().history.losses


class Classifier(Embedder):
    """Node classification by a supervised method: `Classifier("gcn").fit(graph)`.

    It learns from the graph's training nodes and stops by its validation nodes.

    Args:
        method: the method's name, `mlp`, `gcn`, `gat` or `sgc`.
        preset: the preset, `fast` or `paper`.
        epochs: maximum number of training steps.
        params: any other settings of the method, by name.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".

    Attributes:
        classes_: the classes, 0 to C - 1.
    """

    classes_: npt.NDArray[np.int64]

    def __init__(
        self,
        method: str = "gcn",
        preset: str = DEFAULT_PRESET,
        *,
        epochs: int | None = None,
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.preset = preset
        self.epochs = epochs
        self.params = params
        self.seed = seed
        self.device = device

    def fit(self, graph: Graph, y: None = None, *, callbacks: Sequence[Callback] = ()) -> Self:
        """Train on the training nodes of a graph with labels and a split.

        Args:
            graph: the graph.
            y: ignored, present for scikit-learn.
            callbacks: called during training.
        """
        if not get_method(self.method).supervised:
            raise UGCLError(
                f"{self.method} learns without labels and predicts none: use Embedder for it"
            )
        super().fit(graph, y, callbacks=callbacks)
        self.classes_ = np.arange(graph.num_classes)
        return self

    def predict(self, graph: Graph) -> npt.NDArray[np.int64]:
        """Return the class of each node."""
        return np.asarray(self.predict_proba(graph).argmax(axis=1))

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """Return the probability of each class for each node, N x C."""
        return self._check_fitted().predict_proba(graph)


class UGCL(Embedder):
    """Node embeddings by UGCL: `UGCL(scope=9).fit(graph).embed(graph)`.

    A setting that is None has the value of the preset for the graph; `ugcl.methods.ugcl` describes
    the settings.

    Args:
        preset: the preset, `fast`, `paper` or `authors`.
        scope: training scope n, "component", "graph" or "auto": n chosen without labels.
        readout_scope: scope of the embeddings, the same; by default the training scope.
        hidden: width of the encoder.
        sample: nodes of the subgraph of an epoch, or "all".
        sampling: `random`, `window` or `ball`.
        normalisation: `graph` or `subgraph`.
        self_loops: weight of the self-loops.
        feature_scaling: `none`, `row`, `l2` or `tfidf`.
        context: `power` or `lazy`.
        temperature: temperature of the loss.
        negatives: negatives shared by all nodes, or "all".
        readout: `sum`, `mean`, `concat`, `hidden`, `context` or `context-l2`.
        epochs: training steps.
        lr: learning rate.
        patience: stop after this many epochs without a lower loss; 0 for never.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".
    """

    def __init__(
        self,
        preset: str = DEFAULT_PRESET,
        *,
        scope: int | str | None = None,
        readout_scope: int | str | None = None,
        hidden: int | None = None,
        sample: int | str | None = None,
        sampling: str | None = None,
        normalisation: str | None = None,
        self_loops: float | None = None,
        feature_scaling: str | None = None,
        context: str | None = None,
        temperature: float | None = None,
        negatives: int | str | None = None,
        readout: str | None = None,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.preset = preset
        self.scope = scope
        self.readout_scope = readout_scope
        self.hidden = hidden
        self.sample = sample
        self.sampling = sampling
        self.normalisation = normalisation
        self.self_loops = self_loops
        self.feature_scaling = feature_scaling
        self.context = context
        self.temperature = temperature
        self.negatives = negatives
        self.readout = readout
        self.epochs = epochs
        self.lr = lr
        self.patience = patience
        self.seed = seed
        self.device = device

    def _method_and_params(self) -> tuple[str, dict[str, Any]]:
        params = self.get_params()
        for name in ("preset", "seed", "device"):
            del params[name]
        return "ugcl", {name: value for name, value in params.items() if value is not None}
