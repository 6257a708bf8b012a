"""The Python face: estimators with `fit` and `embed` that follow scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ugcl._utils.errors import UGCLError
from ugcl.engine import LoopState, resolve_device, train
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, Model, Predictor, Settings, Shape, method_named
from ugcl.methods.options import check_integer
from ugcl.selection import Choice, resolve_scope


class Embedder(BaseEstimator):  # type: ignore[misc]
    """Node representations by any method: `Embedder("grace", scope=3).fit(graph).embed(graph)`.

    A setting that is None takes the value of the preset for the graph at hand.

    Args:
        method: the method's name, one of `ugcl.methods.METHODS`.
        settings: the preset, `fast` or `paper`.
        scope: training scope: n, "component", "graph" or "auto".
        readout_scope: scope of the embeddings, the same.
        epochs: training steps.
        options: any other settings of the method, by name.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".

    Attributes:
        settings_: the settings in force, after `fit`.
        scope_choice_: how n was chosen, where it was "auto"; else None.
        model_: the trained model.
        loss_: the losses, one for each epoch.
        n_features_in_: the number of features.
    """

    settings_: Settings
    scope_choice_: Choice | None
    model_: Model
    loss_: list[float]
    n_features_in_: int

    def __init__(
        self,
        method: str = "ugcl",
        settings: str = DEFAULT_PRESET,
        *,
        scope: int | str | None = None,
        readout_scope: int | str | None = None,
        epochs: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.settings = settings
        self.scope = scope
        self.readout_scope = readout_scope
        self.epochs = epochs
        self.options = options
        self.seed = seed
        self.device = device

    def _asked(self) -> tuple[str, dict[str, Any]]:
        """The method and the settings that were given."""
        if not isinstance(self.options or {}, Mapping):
            raise UGCLError(f"options must be settings by name, not {self.options!r}")
        named = ("scope", "readout_scope", "epochs")
        asked = ((name, getattr(self, name, None)) for name in named)
        given = {name: value for name, value in asked if value is not None}
        if twice := sorted(given.keys() & (self.options or {}).keys()):
            raise UGCLError(f"{twice[0]} is given twice, once in options: give it once")
        return self.method, given | dict(self.options or {})

    def fit(
        self,
        graph: Graph,
        y: None = None,
        *,
        on_epoch: Callable[[LoopState], None] = lambda state: None,
    ) -> Self:
        """Train on a graph; its labels are looked at only by methods that learn from them.

        Args:
            graph: the graph.
            y: ignored, there for scikit-learn's sake.
            on_epoch: called with the state of the loop after every epoch.
        """
        del y
        if not isinstance(graph, Graph):
            raise UGCLError(f"fit takes a Graph, not {type(graph).__name__}: see Graph.from_edges")
        seed = check_integer("seed", self.seed, 0)
        device = resolve_device(self.device)
        name, given = self._asked()
        method = method_named(name)
        method.check(graph)
        asked = method.resolve(self.settings, graph, given)
        self.settings_, self.scope_choice_ = resolve_scope(asked, graph)
        self.model_ = method.build(Shape.of(graph), self.settings_, seed)
        self.n_features_in_ = graph.num_features
        self.loss_ = []

        def remember(state: LoopState) -> None:
            assert state.loss is not None
            self.loss_.append(state.loss)
            on_epoch(state)

        train(self.model_, graph, self.settings_, device=device, on_epoch=remember)
        return self

    def embed(self, graph: Graph) -> Any:
        """Embeddings of a graph's nodes, which need not be the graph it was trained on.

        An array, float32; of `raw` and some others, where features are sparse, a SciPy CSR matrix.
        """
        return self._fitted_for(graph).embed(graph, resolve_device(self.device))

    def _fitted_for(self, graph: Graph) -> Model:
        """The trained model, if this graph fits it."""
        if not hasattr(self, "model_"):
            name = type(self).__name__
            raise NotFittedError(f"this {name} has not been trained: call fit(graph) first")
        if graph.num_features != self.n_features_in_:
            raise UGCLError(
                f"the graph has {graph.num_features:,} features but training saw "
                f"{self.n_features_in_:,}: give a graph with the same features"
            )
        return self.model_


class Classifier(Embedder):
    """Classes of nodes by a method that learns from labels: `Classifier("gcn").fit(graph)`.

    It learns from the graph's training nodes and stops by its validation nodes.

    Args:
        method: the method's name, `mlp`, `gcn`, `gat` or `sgc`.
        settings: the preset, `fast` or `paper`.
        epochs: training steps at most.
        options: any other settings of the method, by name.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".

    Attributes:
        classes_: the classes, 0 to C - 1.
        settings_: the settings in force, after `fit`.
        model_: the trained model.
        loss_: the losses on training nodes, one for each epoch.
        n_features_in_: the number of features.
    """

    classes_: npt.NDArray[np.int64]

    def __init__(
        self,
        method: str = "gcn",
        settings: str = DEFAULT_PRESET,
        *,
        epochs: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.method = method
        self.settings = settings
        self.epochs = epochs
        self.options = options
        self.seed = seed
        self.device = device

    def fit(
        self,
        graph: Graph,
        y: None = None,
        *,
        on_epoch: Callable[[LoopState], None] = lambda state: None,
    ) -> Self:
        """Train on a graph's training nodes.

        Args:
            graph: the graph, with labels and a split.
            y: ignored, there for scikit-learn's sake.
            on_epoch: called with the state of the loop after every epoch.
        """
        if not method_named(self.method).supervised:
            raise UGCLError(
                f"{self.method} learns without labels and predicts none: use Embedder for it"
            )
        super().fit(graph, y, on_epoch=on_epoch)
        self.classes_ = np.arange(graph.num_classes)
        return self

    def predict(self, graph: Graph) -> npt.NDArray[np.int64]:
        """The class of each node."""
        return np.asarray(self.predict_proba(graph).argmax(axis=1))

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """The probability of each class for each node, N x C."""
        model = self._fitted_for(graph)
        assert isinstance(model, Predictor)
        return model.predict(graph, resolve_device(self.device))


class UGCL(Embedder):
    """Node representations by UGCL: `UGCL(scope=9).fit(graph).embed(graph)`.

    A setting that is None takes the value of the preset for the graph at hand; what each setting
    means stands in `ugcl.methods.ugcl.UGCLSettings`.

    Args:
        settings: the preset, `fast`, `paper` or `authors`.
        scope: training scope n, "component", "graph" or "auto": n chosen without labels.
        readout_scope: scope of the embeddings, the same; by default the training scope.
        hidden: width of the encoder.
        sample: nodes of the subgraph of an epoch, or "all".
        sampling: `random`, `window` or `ball`.
        normalisation: `graph` or `subgraph`.
        self_loops: weight of each node's edge to itself.
        feature_scaling: `none`, `row`, `l2` or `tfidf`.
        context: `power` or `lazy`.
        temperature: temperature of the contrast.
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
        settings: str = DEFAULT_PRESET,
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
        self.settings = settings
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

    def _asked(self) -> tuple[str, dict[str, Any]]:
        given = self.get_params()
        for name in ("settings", "seed", "device"):
            del given[name]
        return "ugcl", {name: value for name, value in given.items() if value is not None}
